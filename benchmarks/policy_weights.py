"""Policies side by side on tables that neither their training nor its validation has seen.

    OMP_NUM_THREADS=1 python benchmarks/policy_weights.py WEIGHTS [WEIGHTS ...] [--sets 12] [--jobs 1]
    python benchmarks/policy_weights.py --mean NEW WEIGHTS [WEIGHTS ...]

A row for each group of tables and each file ("default" is the shipped one): order TPR as the order is given, log loss
of the four answers, expected calibration error (ten bins) of an edge, of a hidden common cause and of none,
and F1 of the edges with a probability of .4 or more. Groups: families held out, tables with none to five hidden
variables, simulated families of training, pairs held out, families far from training, and linear Gaussian data of which
a fifth of the rows were set. --mean saves the mean of the weights instead.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from joblib import Parallel, delayed
from policy_answers import FAR, calibration_error
from policy_calibration import HIDDEN, SHOWN, log_losses, table

from precede.arrays import BoolArray, FloatArray
from precede.policy.inputs import Told
from precede.policy.prediction import judge, load_pretrained, save_policy
from precede.pretraining.validation import HELD_OUT, PAIR_FAMILIES, held_out_pair, with_interventions

FIRST, LIKELY = 5000, 0.4
GROUPS = {
    "families held out": [f"held out: {name}" for name in HELD_OUT],
    "hidden variables": [f"hidden: {name}" for name in HIDDEN],
    "families of training": [f"shown: {name}" for name in SHOWN],
    "pairs": [f"pairs: {name}" for name in PAIR_FAMILIES],
    "far from training": [f"far: {name}" for name in FAR],
    "a fifth of the rows set": ["set: linear Gaussian"],
}
Answer = tuple[float, FloatArray, FloatArray, FloatArray]
"""Order TPR; probabilities and truth of the four answers (pairs, 4), none last; true, said and right edges."""


def drawn(family: str, seed: int) -> tuple[FloatArray, BoolArray, BoolArray, Told | None]:
    kind, name = family.split(": ")
    if kind == "pairs":
        edges = np.array([[False, True], [False, False]])
        return held_out_pair(name, FIRST + seed), edges, np.zeros_like(edges), None
    if kind == "set":
        made = with_interventions(FIRST + seed, 12, 500)
        return made.values, made.edges, np.zeros_like(made.edges), made.told
    return *table(family, seed), None


def answer(weights: str, family: str, seed: int) -> Answer:
    torch.set_num_threads(1)
    values, edges, common, told = drawn(family, seed)
    said = judge(values, load_pretrained(weights), told=told)
    place = np.argsort(said.order)
    i, j = np.triu_indices(len(edges), 1)
    given = np.stack([said.edges[i, j], said.edges[j, i], said.common[i, j]], -1)
    there = np.stack([edges[i, j], edges[j, i], common[i, j]], -1).astype(float)
    both = [np.column_stack([part, 1 - part.sum(1)]) for part in (given, there)]
    likely = said.edges >= LIKELY
    counts = np.array([edges.sum(), likely.sum(), (likely & edges).sum()])
    right = float((place[:, None] < place[None, :])[edges].mean()) if edges.any() else np.nan
    return right, both[0], both[1], counts


def row(group: str, weights: str, answers: list[Answer]) -> str:
    orders, given, there, counts = zip(*answers, strict=True)
    said, truth, (true, likely, right) = np.concatenate(given), np.concatenate(there), np.sum(counts, 0)
    errors = [calibration_error(said[:, :2].ravel(), truth[:, :2].ravel())]
    errors += [calibration_error(said[:, k], truth[:, k]) for k in (2, 3)]
    told = ", ".join(f"{error:.3f}" for error in errors)
    figures = [f"{np.nanmean(orders):.3f}", f"{log_losses(said, truth).mean():.4f}", told]
    return (
        f"| {group} ({len(answers)}) | {weights} | "
        + " | ".join([*figures, f"{2 * right / (true + likely):.3f}"])
        + " |"
    )


def save_mean(path: str, files: list[str]) -> None:
    policies = [load_pretrained(name) for name in files]
    states = [policy.actor.state_dict() for policy in policies]
    policies[0].actor.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in states[0]})
    save_policy(path, policies[0].actor, policies[0].architecture, policies[0].notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", nargs="+")
    parser.add_argument("--mean")
    parser.add_argument("--sets", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.mean:
        save_mean(options.mean, options.weights)
        return
    run = Parallel(options.jobs)
    print("| tables | weights | order | log loss | ECE | F1 |\n|---|---|---|---|---|---|")
    for group, families in GROUPS.items():
        sets = options.sets * (
            4 if group in ("hidden variables", "a fifth of the rows set") else 2 if group == "pairs" else 1
        )
        for weights in options.weights:
            found = run(delayed(answer)(weights, family, k) for family in families for k in range(sets))
            print(row(group, weights, found), flush=True)


if __name__ == "__main__":
    main()
