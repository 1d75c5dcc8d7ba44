"""Which of two is the cause: the policy's views of a pair and the density beside them, on kinds it was not trained on.

    OMP_NUM_THREADS=1 python benchmarks/pairs.py [--pairs 400] [--seed 3]

Half of the pairs are joined by an edge of a family held out of training (:mod:`precede.pretraining.held_out`), alone or
within a larger graph; half are functions drawn from a Gaussian process with additive, scaled, joint or multiplicative
noise, some confounded, some rounded. Printed: share of pairs whose cause comes first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from precede.arrays import FloatArray
from precede.policy.judgement import judge_as_is, mean_of_pair, pair_views
from precede.policy.pretrained import load_pretrained
from precede.pretraining.held_out import HELD_OUT, held_out_data
from precede.scores.informed import WEIGHT, PolicyEvidence
from precede.scores.location_scale import ConditionalDensity

KINDS = ("additive", "scaled", "monotone", "joint", "multiplicative", "confounded")


def smooth(inputs: FloatArray, rng: np.random.Generator, width: float) -> FloatArray:
    """A function drawn from a Gaussian process, by random cosines."""
    n = 64
    weights, places = rng.normal(size=(n, inputs.shape[1])) / width, rng.uniform(0, 2 * np.pi, n)
    result: FloatArray = np.cos(inputs @ weights.T + places) @ rng.normal(size=n) * np.sqrt(2 / n)
    return result


def uneven(n: int, rng: np.random.Generator) -> FloatArray:
    """Values whose density has bumps and tails."""
    base = np.sort(rng.normal(size=n))
    steps = np.exp(0.8 * smooth(base[:, None], rng, 1.5)) * np.diff(base, prepend=base[0] - 0.1)
    values = np.cumsum(steps)
    return rng.permutation((values - values.mean()) / values.std())


def drawn_pair(kind: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Cause and effect, (n, 2)."""
    cause = uneven(n, rng) if rng.random() < 0.7 else rng.normal(size=n)
    noise = uneven(n, rng) if rng.random() < 0.5 else rng.normal(size=n)
    size = np.exp(rng.uniform(np.log(0.1), np.log(1.5)))
    effect = smooth(cause[:, None], rng, np.exp(rng.uniform(-0.3, 0.9)))
    effect = effect / effect.std()
    match kind:
        case "additive":
            effect = effect + size * noise
        case "scaled":
            effect = effect + size * noise * np.exp(rng.uniform(0.3, 1) * smooth(cause[:, None], rng, 1.5))
        case "monotone":
            effect = cause + size * noise * np.exp(rng.uniform(-0.8, 0.8) * cause)
        case "joint":
            effect = smooth(np.column_stack([cause, 2 * size * noise]), rng, np.exp(rng.uniform(0, 0.9)))
        case "multiplicative":
            effect = np.exp(0.5 * effect) * np.exp(0.5 * size * noise)
        case _:
            hidden = rng.normal(size=(n, 1))
            cause = cause + 0.7 * smooth(hidden, rng, 1.0)
            effect = smooth(cause[:, None], rng, 1.2) + 0.5 * smooth(hidden, rng, 1.0) + size * noise
    values = np.column_stack([cause, effect])
    for k in range(2):
        if rng.random() < 0.35:  # whole numbers, as ages and years are
            width = np.ptp(values[:, k]) / np.exp(rng.uniform(np.log(5), np.log(100)))
            values[:, k] = np.round(values[:, k] / width) * width
    return values


def pairs(n_pairs: int, seed: int) -> Iterator[FloatArray]:
    """The cause is the first column."""
    rng = np.random.default_rng(seed)
    families = list(HELD_OUT)
    made = k = 0
    while made < n_pairs:
        n = int(rng.choice([200, 500, 1000]))
        alone = k % 4 == 1
        if k % 2:
            family = families[k // 2 % len(families)]
            values, edges = held_out_data(family, 100_000 * seed + k, 2 if alone else 6, n, 0.5 if alone else 1.0)
            joined = np.argwhere(edges)
            pair = values[:, joined[rng.integers(len(joined))]] if len(joined) else None
        else:
            pair = drawn_pair(KINDS[k // 2 % len(KINDS)], n, rng)
        k += 1
        if pair is not None:
            made += 1
            yield (pair - pair.mean(axis=0)) / pair.std(axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    policy = load_pretrained("default")
    right: dict[str, list[bool]] = {}
    for values in pairs(options.pairs, options.seed):
        views = [judge_as_is(view, policy) for view in pair_views(values)]
        for name, said in zip(("as it is", "clipped", "ranks", "mean"), (*views, mean_of_pair(views)), strict=True):
            right.setdefault(name, []).append(bool(said.precedence[0, 1] > 0.5))
        alone, first, second = ConditionalDensity(values).of_sets([(), (0,), (1,)])
        gain = alone[0] + first[1] - alone[1] - second[0]
        odds = PolicyEvidence(mean_of_pair(views).edges).log_odds()
        right.setdefault("density", []).append(bool(gain > 0))
        right.setdefault("mean and density", []).append(bool(gain + WEIGHT * (odds[0, 1] - odds[1, 0]) > 0))
    for name, told in right.items():
        print(f"{name:18} {np.mean(told):.3f}")


if __name__ == "__main__":
    main()
