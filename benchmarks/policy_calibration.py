"""Calibration of the policy's four answers on families that it was not trained on, with and without a map of logits.

    OMP_NUM_THREADS=1 python benchmarks/policy_calibration.py [--weights default] [--sets 12] [--jobs 1] [--save FILE]

The map takes the logit of an edge e to a e + b and that of a hidden common cause c to a' c + b', the same for every
table. It is fitted by log loss on the families held out, on simulated families of training, and on tables of which none
to five of the variables are hidden. Printed: log loss, expected calibration error (ten bins) of an edge (of those said
with .05 or more), a common cause and no edge, mean probability of a common cause beside its share; for each family as
it is, and with the map fitted on all others. "far" families fit nothing. --save writes weights whose last layer of the
edge head has the map in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import torch
from joblib import Parallel, delayed
from policy_answers import FAR, N_VARIABLES, calibration_error
from scipy.optimize import minimize

from precede.arrays import BoolArray, FloatArray
from precede.policy.inputs import Views
from precede.policy.moments import MomentsEncoder
from precede.policy.prediction import load_pretrained, save_policy
from precede.pretraining.validation import FIRST_SEED, HELD_OUT, held_out_data
from precede.simulation import simulate
from precede.simulation.observation import marginal_graph

HIDDEN = ("lingam", "mlp", "gp-additive", "heteroscedastic", "post-nonlinear")
SHOWN = ("lingam", "gp", "gp-additive", "mlp", "quadratic")
N_HIDDEN = (0, 1, 3, 5)
IDENTITY = np.array([1.0, 0.0, 1.0, 0.0])
Packed = tuple[FloatArray, FloatArray]
"""Logits (views, pairs, 3) of i -> j, j -> i and a common cause, and what is there, (pairs, 4), nothing last."""


def table(family: str, seed: int) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Values, edges, and pairs that only a hidden variable makes alike."""
    kind, name = family.split(": ")
    if kind == "hidden":
        n_hidden = N_HIDDEN[seed % len(N_HIDDEN)]
        first = FIRST_SEED + 40_000 + 100 * HIDDEN.index(name)
        made = simulate("er", 10, 2, name, 500, hidden=n_hidden, standardize=True, random_state=first + seed)
        if made.with_hidden is not None and n_hidden:
            names = list(made.with_hidden.names)
            shown = torch.tensor([[names.index(column) for column in made.data.columns]])
            whole = torch.from_numpy(made.with_hidden.edges)[None]
            edges, common = (part[0].numpy() for part in marginal_graph(whole, shown))
            return made.data.to_numpy(), edges, common & ~edges & ~edges.T
    elif kind == "shown":
        first = FIRST_SEED + 50_000 + 100 * SHOWN.index(name)
        made = simulate("er", N_VARIABLES, 1.5, name, 400, standardize=True, random_state=first + seed)
    else:
        values, edges = held_out_data(name, 3000 + seed, N_VARIABLES, 400) if kind == "held out" else FAR[name](seed)
        return values, edges, np.zeros_like(edges)
    return made.data.to_numpy(), made.graph.edges, np.zeros_like(made.graph.edges)


@torch.no_grad()
def packed(weights: str, family: str, seed: int) -> Packed:
    torch.set_num_threads(1)
    values, edges, common = table(family, seed)
    policy = load_pretrained(weights)
    encoder = policy.actor.encoder.eval()
    assert isinstance(encoder, MomentsEncoder)
    seen = Views(values, policy.architecture.n_samples, np.random.default_rng(0), torch.device("cpu"))
    logits = torch.cat([logits for _, logits in encoder.at_each(seen.draw(1), seen.told)]).double().numpy()
    i, j = np.triu_indices(len(edges), 1)
    said = np.stack([logits[:, i, j, 0], logits[:, j, i, 0], logits[:, i, j, 1]], -1)
    there = np.stack([edges[i, j], edges[j, i], common[i, j]], -1).astype(float)
    return said, np.concatenate([there, 1 - there.sum(1, keepdims=True)], 1)


def probabilities(logits: FloatArray, map_: FloatArray) -> FloatArray:
    """Of the four answers, (pairs, 4), mean of the views."""
    mapped = np.concatenate([map_[0] * logits[..., :2] + map_[1], map_[2] * logits[..., 2:] + map_[3]], -1)
    odds = np.exp(np.concatenate([mapped, np.zeros_like(mapped[..., :1])], -1).clip(-40, 40))
    return np.asarray((odds / odds.sum(-1, keepdims=True)).mean(0))


def log_losses(said: FloatArray, there: FloatArray) -> FloatArray:
    return np.asarray(-np.log(np.clip((said * there).sum(-1), 1e-6, 1)))


def fitted(families: Sequence[Packed]) -> FloatArray:
    """The map of least log loss, every family counting alike."""

    def loss(map_: FloatArray) -> float:
        return float(np.mean([log_losses(probabilities(x, map_), y).mean() for x, y in families]))

    steps = np.vstack([IDENTITY, IDENTITY + 0.3 * np.eye(4)])
    options = {"maxfev": 120, "xatol": 0.01, "fatol": 1e-5, "initial_simplex": steps}
    return np.asarray(minimize(loss, IDENTITY, method="Nelder-Mead", options=options).x)


def row(name: str, said: FloatArray, there: FloatArray) -> str:
    edge, is_edge = said[:, :2].ravel(), there[:, :2].ravel()
    told = edge >= 0.05
    errors = [calibration_error(edge, is_edge), calibration_error(edge[told], is_edge[told])]
    errors += [calibration_error(said[:, k], there[:, k]) for k in (2, 3)]
    common = f"{said[:, 2].mean():.3f} / {there[:, 2].mean():.3f}"
    figures = [f"{log_losses(said, there).mean():.4f}", *(f"{error:.3f}" for error in errors), common]
    return f"| {name} | " + " | ".join(figures) + " |"


def save(weights: str, path: str, map_: FloatArray) -> None:
    policy = load_pretrained(weights)
    head = policy.actor.encoder.edges
    with torch.no_grad():
        head.layers[-1].weight *= map_[0]
        head.layers[-1].bias.mul_(map_[0]).add_(map_[1])
        head.common.weight *= map_[2]
        head.common.bias.mul_(map_[2]).add_(map_[3] / 2)  # it is added either way round
    notes = policy.notes | {"map": " ".join(f"{value:.3f}" for value in map_)}
    save_policy(path, policy.actor, policy.architecture, notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default="default")
    parser.add_argument("--sets", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save")
    options = parser.parse_args()
    kinds = {"held out": HELD_OUT, "hidden": HIDDEN, "shown": SHOWN, "far": FAR}
    families = [f"{kind}: {name}" for kind, names in kinds.items() for name in names]
    todo = [(family, k) for family in families for k in range(options.sets)]
    made = Parallel(options.jobs)(delayed(packed)(options.weights, *one) for one in todo)
    found = {}
    for start, family in enumerate(families):
        parts = made[start * options.sets : (start + 1) * options.sets]
        found[family] = tuple(
            np.concatenate(part, axis) for part, axis in zip(zip(*parts, strict=True), (1, 0), strict=True)
        )
    fits = [family for family in families if not family.startswith("far")]
    best = fitted([found[family] for family in fits])
    print("map of all but the far ones: " + " ".join(f"{value:.3f}" for value in best))
    print("| | log loss | edge | edge, told | common | none | common said / true |\n|---|---|---|---|---|---|---|")
    for kind in kinds:
        x, y = (np.concatenate([found[f][k] for f in families if f.startswith(kind)], 1 - k) for k in (0, 1))
        print(row(f"*{kind}*", probabilities(x, IDENTITY), y))
        print(row(f"*{kind}*, map of all", probabilities(x, best), y), flush=True)
    for family in families:
        x, y = found[family]
        others = fitted([found[other] for other in fits if other != family]) if family in fits else best
        print(row(family, probabilities(x, IDENTITY), y))
        print(row(f"{family}, map of the others", probabilities(x, others), y), flush=True)
    if options.save:
        save(options.weights, options.save, best)


if __name__ == "__main__":
    main()
