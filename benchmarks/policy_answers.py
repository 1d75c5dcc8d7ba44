"""What the policy's four answers are worth, and what telling it more does: interventions, knowledge, hidden causes.

    OMP_NUM_THREADS=1 python benchmarks/policy_answers.py [WEIGHTS ...] [--sets 16] [--jobs 1]

- *told*: order TPR of the edges that are not given away, with nothing told, with interventions in a fifth of the rows
  (linear Gaussian), with a third of the edges required, and with tiers; and in how many tables more said was worse.
- *answers*: expected calibration error (ten bins) of the probabilities of an edge, and of a hidden common cause, on
  tables of which a fifth of the variables are hidden; and log loss of the three answers that go by the edges alone.
- *open*: on standardized linear Gaussian data with unequal noise, the probability of the likelier direction among the
  two where the Markov equivalence class leaves a true edge open, which says .5 if it is right, and how often it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from joblib import Parallel, delayed

from precede.arrays import BoolArray, FloatArray
from precede.graph.dags import ancestors, cpdag
from precede.knowledge import Constraints
from precede.policy.prediction import PolicyPrediction, judge, load_pretrained
from precede.pretraining.validation import FIRST_SEED, HELD_OUT, held_out_data, with_interventions
from precede.simulation import simulate
from precede.simulation.graphs import random_dag
from precede.simulation.observation import marginal_graph

N_VARIABLES = 12
N_BINS = 10
Values = tuple[FloatArray, BoolArray]


def calibration_error(said: FloatArray, truth: FloatArray) -> float:
    bins = np.minimum((said * N_BINS).astype(int), N_BINS - 1)
    return float(sum(abs((said[bins == k] - truth[bins == k]).sum()) for k in range(N_BINS)) / len(said))


def rest_right(said: PolicyPrediction, edges: BoolArray, given: BoolArray) -> float:
    """Order TPR of the edges that were not given away."""
    place = np.argsort(said.order)
    rest = edges & ~given
    return float((place[:, None] < place[None, :])[rest].mean()) if rest.any() else np.nan


def a_third(edges: BoolArray, rng: np.random.Generator) -> tuple[Constraints, BoolArray]:
    kept = edges & (rng.random(edges.shape) < 1 / 3)
    return replace(Constraints.none(len(edges)), required=kept, before=ancestors(kept)), kept


def three_tiers(edges: BoolArray, rng: np.random.Generator) -> tuple[Constraints, BoolArray]:
    """Tiers by the number of ancestors, which every order of causes obeys."""
    depth = ancestors(edges).sum(0) + rng.random(len(edges)) * 0.5
    tier = np.searchsorted(np.quantile(depth, [1 / 3, 2 / 3]), depth)
    before = tier[:, None] < tier[None, :]
    return replace(Constraints.none(len(edges)), before=before), before


def told_more(
    weights: str, family: str, seed: int, tell: Callable[..., tuple[Constraints, BoolArray]]
) -> tuple[float, float]:
    values, edges = held_out_data(family, 500 + seed, N_VARIABLES, 400)
    known, given = tell(edges, np.random.default_rng(seed))
    policy = load_pretrained(weights)
    plain, told = judge(values, policy), judge(values, policy, constraints=known)
    return rest_right(plain, edges, given), rest_right(told, edges, given)


def set_more(weights: str, seed: int) -> tuple[float, float]:
    made = with_interventions(500 + seed, N_VARIABLES, 500)
    policy, nothing = load_pretrained(weights), np.zeros_like(made.edges)
    assert made.told is not None
    free = made.values[~made.told.was_set[0].any(0).numpy()]  # observation alone
    told = judge(made.values, policy, told=made.told)
    return rest_right(judge(free, policy), made.edges, nothing), rest_right(told, made.edges, nothing)


def hidden_answers(weights: str, seed: int) -> list[FloatArray]:
    """Probability and truth of an edge either way, of a common cause, and the log loss of the edges alone."""
    sem = ("lingam", "mlp", "gp-additive", "heteroscedastic", "post-nonlinear")[seed % 5]
    made = simulate("er", 10, 2, sem, 500, hidden=3, standardize=True, random_state=FIRST_SEED + 500 + seed)
    assert made.with_hidden is not None
    whole = made.with_hidden.edges
    shown = torch.tensor([[list(made.with_hidden.names).index(name) for name in made.data.columns]])
    edges, common = (part[0].numpy() for part in marginal_graph(torch.from_numpy(whole)[None], shown))
    said = judge(made.data.to_numpy(), load_pretrained(weights))
    upper, off = np.triu_indices(len(edges), 1), ~np.eye(len(edges), dtype=bool)
    alone = common & ~edges & ~edges.T
    none = np.clip(1 - said.edges - said.edges.T, 1e-6, 1)
    chosen = np.where(edges, said.edges, np.where(edges.T, said.edges.T, none))[upper]
    both = [said.edges[off], edges[off].astype(float), said.common[upper], alone[upper].astype(float)]
    return [*both, -np.log(np.clip(chosen, 1e-6, 1))]


def edge_log_loss(weights: str, family: str, seed: int) -> float:
    values, edges = held_out_data(family, 500 + seed, N_VARIABLES, 400)
    said = judge(values, load_pretrained(weights))
    none = np.clip(1 - said.edges - said.edges.T, 1e-6, 1)
    chosen = np.where(edges, said.edges, np.where(edges.T, said.edges.T, none))[np.triu_indices(len(edges), 1)]
    return float(-np.log(np.clip(chosen, 1e-6, 1)).mean())


def open_directions(weights: str, seed: int) -> FloatArray:
    """Of the edges that the class leaves open: share of the likelier direction, and whether it is right."""
    made = simulate(
        "er",
        N_VARIABLES,
        1.5,
        "linear-gaussian",
        1000,
        noise="unequal",
        standardize=True,
        random_state=FIRST_SEED + seed,
    )
    edges = made.graph.edges
    pattern = cpdag(edges) != 0
    said = judge(made.data.to_numpy(), load_pretrained(weights))
    i, j = np.nonzero(edges & pattern & pattern.T)  # transposed: left open
    share = said.edges[i, j] / np.clip(said.edges[i, j] + said.edges[j, i], 1e-9, None)
    return np.column_stack([np.maximum(share, 1 - share), share > 0.5])


def sequence(seed: int, step: Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray], thin: int) -> Values:
    """Rows that follow each other: a state that its parents' last state drives; every ``thin``-th row is kept."""
    rng = np.random.default_rng(800_000 + seed)
    edges, _ = random_dag("er", 10, 1.5, rng)
    weights = edges * rng.choice([-1.0, 1.0], edges.shape) * rng.uniform(0.3, 0.9, edges.shape)
    state, rows = np.zeros(10), []
    for _ in range(400 * thin + 100):
        state = step(state, state @ weights, rng)
        rows.append(state)
    return np.array(rows[100::thin]), edges


def monitoring(state: FloatArray, drive: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.asarray(0.9 * state + drive + 0.5 * rng.normal(size=len(state)) + 3 * (rng.random(len(state)) < 0.02))


def slow(state: FloatArray, drive: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.asarray(0.6 * state + 0.5 * drive + rng.normal(size=len(state)))


def regulation(state: FloatArray, drive: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Switched on and off by what its causes add up to, with bursts."""
    on = 1 / (1 + np.exp(-6 * (drive - 0.3)))
    return np.asarray(np.maximum(0.7 * state + on * rng.gamma(0.7, 1.0, len(state)), 0))


def calls(seed: int) -> Values:
    """Latencies: a service takes its own time, and that of the slowest it calls, or of all."""
    rng = np.random.default_rng(810_000 + seed)
    edges, order = random_dag("sf", 10, 1, rng)
    times = np.zeros((400, 10))
    for node in order:
        below = times[:, np.flatnonzero(edges[:, node])]
        waits = 0.0 if below.shape[1] == 0 else below.max(1) if rng.random() < 0.5 else below.sum(1)
        times[:, node] = waits + np.exp(rng.uniform(0.2, 1.2) * rng.normal(size=400))
    return times, edges


def chosen_rows(seed: int) -> Values:
    """Rows that were kept because of what two variables add up to."""
    rng = np.random.default_rng(820_000 + seed)
    values, edges = held_out_data("outliers", 900 + seed, 10, 1600)
    pair = rng.choice(10, 2, replace=False)
    return values[np.argsort(-(values / values.std(0))[:, pair].sum(1))[:400]], edges


def averaged(seed: int) -> Values:
    values, edges = sequence(seed, slow, 1)
    kernel = np.exp(-np.arange(8) / 3.0)
    return np.stack([np.convolve(column, kernel, "valid") for column in values.T], axis=1)[::2], edges


FAR: dict[str, Callable[[int], Values]] = {
    "monitoring": partial(sequence, step=monitoring, thin=1),
    "regulation": partial(sequence, step=regulation, thin=2),
    "averaged": averaged,
    "calls": calls,
    "chosen rows": chosen_rows,
}
"""Families that are far from all that the policy was trained on."""


def far_answers(weights: str, family: str, seed: int) -> list[FloatArray]:
    values, edges = FAR[family](seed)
    said = judge(values, load_pretrained(weights))
    off = ~np.eye(len(edges), dtype=bool)
    return [said.edges[off], edges[off].astype(float)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", nargs="*", default=["default"])
    parser.add_argument("--sets", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    run = Parallel(n_jobs=options.jobs)
    families, sets = list(HELD_OUT), range(options.sets)
    for weights in options.weights:
        print(f"\n{weights}", flush=True)
        ways = {"a third required": a_third, "three tiers": three_tiers}
        pairs = {"a fifth of the rows set": run(delayed(set_more)(weights, k) for k in range(4 * options.sets))}
        for name, tell in ways.items():
            pairs[name] = run(delayed(told_more)(weights, family, k, tell) for family in families for k in sets)
        for name, found in pairs.items():
            before, after = np.array(found).T
            worse = np.mean(after < before - 1e-9)
            print(
                f"told, {name}: {np.nanmean(before):.3f} -> {np.nanmean(after):.3f}, worse in {worse:.2f}", flush=True
            )
        losses = run(delayed(edge_log_loss)(weights, family, k) for family in families for k in sets)
        print(f"edges of families held out: log loss {np.mean(losses):.4f}", flush=True)
        parts = zip(*run(delayed(hidden_answers)(weights, k) for k in range(4 * options.sets)), strict=True)
        edge, is_edge, common, is_common, loss = (np.concatenate(part) for part in parts)
        print(f"hidden causes, edges: ECE {calibration_error(edge, is_edge):.3f}, log loss {loss.mean():.4f}")
        told = common >= 0.05
        print(
            f"hidden causes, common: ECE {calibration_error(common, is_common):.3f}, of those said (.05 or more) "
            f"{calibration_error(common[told], is_common[told]) if told.any() else np.nan:.3f}; mean said "
            f"{common.mean():.3f}, true {is_common.mean():.3f}; where true {common[is_common > 0].mean():.3f}, "
            f"where not {common[is_common == 0].mean():.3f}",
            flush=True,
        )
        for family in FAR:
            said, truth = map(
                np.concatenate, zip(*run(delayed(far_answers)(weights, family, k) for k in sets), strict=True)
            )
            told = said >= 0.05
            error, mean, share = calibration_error(said[told], truth[told]), said[told].mean(), truth[told].mean()
            print(f"far, {family}: of those said, mean {mean:.3f}, true {share:.3f}, ECE {error:.3f}", flush=True)
        share, right = np.concatenate(run(delayed(open_directions)(weights, k) for k in range(2 * options.sets))).T
        print(
            f"open: likelier direction {share.mean():.3f}, right {right.mean():.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
