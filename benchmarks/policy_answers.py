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

import numpy as np
import torch
from joblib import Parallel, delayed

from precede.arrays import BoolArray, FloatArray
from precede.graph.dags import ancestors
from precede.graph.equivalence import cpdag
from precede.knowledge import Constraints
from precede.policy.prediction import PolicyPrediction, judge
from precede.policy.pretrained import load_pretrained
from precede.policy.told import Told
from precede.pretraining.validation import FIRST_SEED, HELD_OUT, held_out_data, with_interventions
from precede.simulation import simulate
from precede.simulation.hidden import marginal_graph

N_VARIABLES = 12
N_BINS = 10


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
    policy, nothing = load_pretrained(weights), np.zeros_like(made.adjacency)
    assert made.was_set is not None
    free = made.values[~made.was_set.any(1)]  # observation alone
    told = judge(made.values, policy, told=Told.about(made.values, was_set=made.was_set))
    return rest_right(judge(free, policy), made.adjacency, nothing), rest_right(told, made.adjacency, nothing)


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
        share, right = np.concatenate(run(delayed(open_directions)(weights, k) for k in range(2 * options.sets))).T
        print(
            f"open: likelier direction {share.mean():.3f}, right {right.mean():.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
