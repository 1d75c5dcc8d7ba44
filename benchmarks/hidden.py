"""Hidden causes: PAGs against the truth and against causal-learn's FCI.

python benchmarks/hidden.py oracle              true independences give the true PAG
python benchmarks/hidden.py peers --sizes 20    10 % hidden; with FCI where causal-learn is installed
python benchmarks/hidden.py sure                what SURE of search/pag.py costs and finds
python benchmarks/hidden.py nothing             tables in which nothing is hidden: how often <-> is claimed
python benchmarks/hidden.py knowledge           violations of random knowledge, and what tiers are worth
python benchmarks/hidden.py time                seconds at 100 variables
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

import precede as pc
from precede.data.load import load_table
from precede.graph.adjustment import d_separated
from precede.graph.ancestral import ARROW, definite_ancestors, mag, pag
from precede.graph.dags import topological_order
from precede.metrics import MarkMetrics
from precede.search.pag import SURE, independence_test, learn_pag

KINDS = {
    "linear": {"sem": "linear-gaussian", "noise": "unequal", "standardize": True},
    "nongaussian": {"sem": "lingam", "standardize": True},
    "discrete": {"sem": "discrete"},
}


def drawn(kind: str, n_variables: int, seed: int) -> tuple[pd.DataFrame, pc.CausalGraph, list[str]]:
    """A table of 1,000 rows without a tenth of its variables, each with two effects or more."""
    n_hidden = round(n_variables / 10)
    options = {"n_variables": n_variables + n_hidden, "n_samples": 1000, "random_state": seed}
    whole = pc.simulate(**options, **KINDS[kind])  # type: ignore[arg-type]
    several = np.flatnonzero(whole.graph.edges.sum(axis=1) >= 2)
    chosen = np.random.default_rng(seed + 99).permutation(several)[:n_hidden]
    hidden = [str(whole.graph.names[k]) for k in chosen]
    return whole.data.drop(columns=hidden), whole.graph, hidden


def truth(graph: pc.CausalGraph, hidden: list[str]) -> pc.MixedGraph:
    return pc.MixedGraph.from_dag(graph, hidden).pag()


def fitted(data: pd.DataFrame, **options: object) -> pc.CORL:
    return pc.CORL(hidden="allowed", diagnose=False, verbose=False, random_state=0, **options).fit(data)  # type: ignore[arg-type]


def fci(data: pd.DataFrame, alpha: float = 0.05) -> pc.MixedGraph:
    from causallearn.search.ConstraintBased.FCI import fci as search

    words = not all(np.issubdtype(kind, np.floating) for kind in data.dtypes)
    coded = [np.unique(data[name].to_numpy(), return_inverse=True)[1] for name in data] if words else data.to_numpy().T
    test, depth = ("gsq", 4) if words else ("fisherz", -1)
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = search(np.column_stack(list(coded)), test, alpha, depth=depth, show_progress=False, verbose=False)
    return pc.MixedGraph.from_causallearn(found.graph, list(data.columns))


def line(label: str, found: list[MarkMetrics], seconds: float) -> None:
    names = ("adjacency_f1", "arrow_f1", "arrow_precision", "arrow_recall", "tail_precision", "shd")
    shares = "  ".join(f"{name} {np.mean([getattr(each, name) for each in found]):.3f}" for name in names)
    print(f"{label:28s} {shares}  {seconds / len(found):.1f} s", flush=True)


def peers(arguments: argparse.Namespace) -> None:
    methods: dict[str, Callable[[pd.DataFrame], pc.MixedGraph]] = {"corl": lambda data: fitted(data).pag_}
    with contextlib.suppress(ImportError):
        import causallearn  # noqa: F401

        methods["fci"] = fci
    for size in arguments.sizes:
        for kind in KINDS:
            cases = [drawn(kind, size, seed) for seed in range(arguments.seeds)]
            for name, method in methods.items():
                start = time.perf_counter()
                found = [pc.evaluate(method(data), truth(graph, hidden)) for data, graph, hidden in cases]
                line(f"{name} {kind} {size}", found, time.perf_counter() - start)


def sure(arguments: argparse.Namespace) -> None:
    cases = [drawn("linear", 20, seed) for seed in range(arguments.seeds)]
    starts = [
        pc.CORL(score="sparse-linear", diagnose=False, verbose=False, random_state=0).fit(d).graph_ for d, *_ in cases
    ]
    for level in (0.0, 2.0, 4.0, SURE, 8.0, np.inf):
        found, claimed, right = [], 0, 0
        for (data, graph, hidden), begin in zip(cases, starts, strict=True):
            ends = learn_pag(begin.edges, independence_test(load_table(data)), sure=level)
            true = truth(graph, hidden)
            both, real = (np.triu((e == ARROW) & (e.T == ARROW)) for e in (ends, true.ends))
            claimed, right = claimed + int(both.sum()), right + int((both & real).sum())
            found.append(pc.evaluate(pc.MixedGraph(ends, true.names), true))
        line(f"sure {level}: {right} of {claimed} <->", found, 0.0)


def nothing(arguments: argparse.Namespace) -> None:
    tables = [pc.simulate(standardize=True, random_state=seed).data for seed in range(arguments.seeds)]
    claims = [
        sum(mark == "<->" for *_, mark in fitted(data, score="sparse-linear").pag_.edge_list()) for data in tables
    ]
    print(f"{sum(n > 0 for n in claims)} of {len(claims)} tables of 30 columns and 3,000 rows have <->")


class Oracle:
    """Independences of a DAG some of whose variables are seen."""

    def __init__(self, edges: np.ndarray, seen: np.ndarray) -> None:
        self.edges, self.seen = edges, seen

    def evidence(self, first: int, second: int, given: np.ndarray) -> np.ndarray:
        masks = [np.isin(np.arange(len(self.edges)), self.seen[row.astype(int)]) for row in given]
        apart = [d_separated(self.edges, self.seen[first], self.seen[second], mask) for mask in masks]
        return np.where(apart, 1e9, -1e9)

    def most(self, first: int, second: int) -> float:
        return np.inf

    def start(self, order: np.ndarray) -> np.ndarray:
        edges = np.zeros((len(order), len(order)), dtype=bool)
        for k, later in enumerate(order):
            for earlier in order[:k]:
                rest = np.array([[other for other in order[:k] if other != earlier]], dtype=int)
                edges[earlier, later] = self.evidence(earlier, later, rest)[0] < 0
        return edges


def cases(n: int) -> list[tuple[Oracle, np.ndarray, np.random.Generator]]:
    result = []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(6, 13))
        places = rng.permutation(d)
        edges = np.triu(rng.random((d, d)) < rng.uniform(1, 4) / (d - 1), 1)[np.ix_(places, places)]
        hidden = rng.permutation(d)[: max(1, round(0.2 * d))]
        seen = np.setdiff1d(np.arange(d), hidden)
        result.append((Oracle(edges, seen), pag(mag(edges, hidden)), rng))
    return result


def oracle(arguments: argparse.Namespace) -> None:
    right = [
        np.array_equal(learn_pag(judge.start(rng.permutation(len(true))), judge, most_given=None), true)
        for judge, true, rng in cases(arguments.seeds)
    ]
    print(f"{sum(right)} of {len(right)} true PAGs recovered")


def knowledge(arguments: argparse.Namespace) -> None:
    broken, marks = 0, []
    for judge, _, rng in cases(arguments.seeds):
        d = len(judge.seen)
        sample = rng.normal(size=(200, len(judge.edges)))
        for node in topological_order(judge.edges):
            sample[:, node] += sample @ judge.edges[:, node]
        order = rng.permutation(d)
        tiers = [order[: d // 3].tolist(), order[d // 3 : 2 * d // 3].tolist()]
        pairs = [(int(order[i]), int(order[i + 1])) for i in range(0, d - 1, 2)]
        known = pc.Knowledge(tiers=tiers, required=pairs[:1], forbidden=[(b, a) for a, b in pairs[1:]]).over(range(d))
        table = load_table(sample[:, judge.seen])
        begin = known.apply(np.triu(rng.random((d, d)) < 0.4, 1)[np.ix_(np.argsort(order), np.argsort(order))])
        ends = learn_pag(begin, independence_test(table), known, sure=0.0)
        causes = definite_ancestors(ends)
        wrong = (causes & known.before.T).any() or (ends.T[~known.allowed & (ends != 0)] != ARROW).any()
        broken += bool(wrong or (ends[known.required] != ARROW).any())
    print(f"{broken} violations in {arguments.seeds} random cases")
    for seed in range(10):
        data, graph, hidden = drawn("linear", 20, seed)
        names = [name for name in graph.order if name not in hidden]
        tiers = pc.Knowledge(tiers=[names[:7], names[7:14], names[14:]])
        marks.append([pc.evaluate(fitted(data, knowledge=k), truth(graph, hidden)) for k in (None, tiers)])
    for label, found in zip(("without tiers", "with tiers"), zip(*marks, strict=True), strict=True):
        line(label, list(found), 0.0)


def clock(arguments: argparse.Namespace) -> None:
    fitted(drawn("linear", 10, 0)[0])  # compiles
    for kind in KINDS:
        data = drawn(kind, 100, 0)[0]
        start = time.perf_counter()
        fitted(data)
        print(f"{kind}, 100 variables: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    runs = {"oracle": oracle, "peers": peers, "sure": sure, "nothing": nothing, "knowledge": knowledge, "time": clock}
    parser.add_argument("what", choices=runs)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50])
    asked = parser.parse_args()
    runs[asked.what](asked)
