"""Cause-effect pairs in the manner of published simulations, none of which the policy is trained on.

``sim`` to ``sim-confounded`` follow Mooij et al. (2016, Appendix C): densities and mechanisms are Gaussian processes,
noise enters the mechanism, both columns are measured with error. ``an`` to ``mn`` follow Tagasovska et al. (2020):
additive, location-scale and multiplicative noise, with Gaussian-process or sigmoid mechanisms. ``polynomial`` and
``network`` follow Goudet et al. (2018).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from precede.arrays import FloatArray

Pair = tuple[FloatArray, FloatArray]
Maker = Callable[[int, np.random.Generator], Pair]

N_WAVES = 200
"""Random Fourier features of a Gaussian process."""

FIRST_SEED = 600_000
"""Seeds of these pairs; training, tests and benchmarks use others."""


def _standard(x: FloatArray) -> FloatArray:
    return np.asarray((x - x.mean()) / x.std())


def _gp(inputs: FloatArray, lengths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A draw of a Gaussian process with a squared exponential kernel at inputs (n, p), a length for each of the p."""
    waves = rng.normal(size=(inputs.shape[1], N_WAVES)) / lengths[:, None]
    phases = rng.uniform(0, 2 * np.pi, N_WAVES)
    return np.asarray(np.cos(inputs @ waves + phases) @ rng.normal(size=N_WAVES) * np.sqrt(2 / N_WAVES))


def _random_density(n: int, length: float, rng: np.random.Generator) -> FloatArray:
    """Gaussian values through an increasing map: the integral of the exponential of a Gaussian process."""
    z = np.sort(rng.normal(size=n))
    slopes = np.exp(_gp(z[:, None], np.array([length]), rng))
    return rng.permutation(_standard(np.append(0.0, np.cumsum(slopes[1:] * np.diff(z)))))


def _sim(n: int, rng: np.random.Generator, *, shape: float, length: float, noise: float, confounded: bool) -> Pair:
    """Mooij et al.: lengths and error from Gamma distributions with these means."""
    around = rng.gamma(5.0, 0.2, size=5)
    cause = _random_density(n, shape * around[0], rng)
    own = _random_density(n, shape * around[1], rng)
    inputs, lengths = [cause, own], [length * around[2], length * around[3]]
    if confounded:
        common = _random_density(n, shape * around[1], rng)
        cause = _standard(_gp(np.column_stack([cause, common]), np.array([length, length]) * 2, rng))
        inputs, lengths = [cause, own, common], [*lengths, 3.0 * length]
    effect = _standard(_gp(np.column_stack(inputs), np.array(lengths), rng))
    error = noise * around[4]
    return cause + error * rng.normal(size=n), effect + error * rng.normal(size=n)


def sim(n: int, rng: np.random.Generator) -> Pair:
    """Mooij's SIM."""
    return _sim(n, rng, shape=1.0, length=1.0, noise=0.05, confounded=False)


def sim_confounded(n: int, rng: np.random.Generator) -> Pair:
    """Mooij's SIM-c: a common cause is hidden."""
    return _sim(n, rng, shape=1.0, length=1.0, noise=0.05, confounded=True)


def sim_low_noise(n: int, rng: np.random.Generator) -> Pair:
    """Mooij's SIM-ln."""
    return _sim(n, rng, shape=1.0, length=1.0, noise=0.01, confounded=False)


def sim_gaussian(n: int, rng: np.random.Generator) -> Pair:
    """Mooij's SIM-G: near Gaussian, near linear."""
    return _sim(n, rng, shape=3.0, length=2.5, noise=0.05, confounded=False)


def _mechanism(cause: FloatArray, rng: np.random.Generator, sigmoid: bool) -> FloatArray:
    if not sigmoid:
        return _standard(_gp(cause[:, None], np.array([rng.uniform(0.8, 2.0)]), rng))
    slope, place = rng.uniform(0.5, 2.0) * rng.choice([-1, 1]), rng.uniform(-1, 1)
    at = slope * (cause + place)
    return _standard(at / (1 + np.abs(at)))


def _noisy(n: int, rng: np.random.Generator, kind: str, *, sigmoid: bool = False) -> Pair:
    """Tagasovska et al.: a Gaussian cause; noise added, scaled by the cause, or multiplied."""
    cause, noise = rng.normal(size=(2, n))
    size = rng.uniform(0.2, np.sqrt(0.4))
    if kind == "additive":
        return cause, _mechanism(cause, rng, sigmoid) + size * noise
    if kind == "scaled":
        scale = np.exp(0.7 * _mechanism(cause, rng, sigmoid))
        return cause, _mechanism(cause, rng, sigmoid) + size * scale * noise
    return cause, (_mechanism(cause, rng, sigmoid) + rng.normal()) * rng.uniform(0.0, 1.0, n)


def an(n: int, rng: np.random.Generator) -> Pair:
    """Additive noise, Gaussian-process mechanism."""
    return _noisy(n, rng, "additive")


def an_sigmoid(n: int, rng: np.random.Generator) -> Pair:
    """Additive noise, sigmoid mechanism."""
    return _noisy(n, rng, "additive", sigmoid=True)


def ls(n: int, rng: np.random.Generator) -> Pair:
    """Location-scale noise, Gaussian-process mechanisms."""
    return _noisy(n, rng, "scaled")


def ls_sigmoid(n: int, rng: np.random.Generator) -> Pair:
    """Location-scale noise, sigmoid mechanisms."""
    return _noisy(n, rng, "scaled", sigmoid=True)


def mn(n: int, rng: np.random.Generator) -> Pair:
    """Multiplicative uniform noise."""
    return _noisy(n, rng, "multiplied", sigmoid=bool(rng.random() < 0.5))


def polynomial(n: int, rng: np.random.Generator) -> Pair:
    """Goudet's Multi: a polynomial, noise added or multiplied, before or after it."""
    cause = _random_density(n, rng.uniform(0.5, 3.0), rng)
    noise = rng.normal(size=n) * rng.uniform(0.1, 0.8)
    powers = rng.normal(size=4) * np.array([1.5, 1.0, 0.6, 0.2])

    def bend(x: FloatArray) -> FloatArray:
        return _standard(sum((w * x.clip(-4, 4) ** (k + 1) for k, w in enumerate(powers)), np.zeros(n)))

    made = [bend(cause) + noise, bend(cause + noise), bend(cause) * (1 + noise), bend(cause * (1 + noise))]
    return cause, made[int(rng.integers(4))]


def network(n: int, rng: np.random.Generator) -> Pair:
    """Goudet's Net: a small random network of the cause and of noise."""
    cause = _random_density(n, rng.uniform(0.5, 3.0), rng)
    inputs = np.column_stack([cause, rng.normal(size=n) * rng.uniform(0.2, 1.0)])
    hidden = np.tanh(inputs @ rng.normal(size=(2, 20)) + rng.normal(size=20))
    return cause, hidden @ rng.normal(size=20)


PAIR_FAMILIES: dict[str, Maker] = {
    "sim": sim,
    "sim-confounded": sim_confounded,
    "sim-low-noise": sim_low_noise,
    "sim-gaussian": sim_gaussian,
    "an": an,
    "an-sigmoid": an_sigmoid,
    "ls": ls,
    "ls-sigmoid": ls_sigmoid,
    "mn": mn,
    "polynomial": polynomial,
    "network": network,
}


def held_out_pair(family: str, seed: int, n_samples: int = 500) -> FloatArray:
    """A pair of a family, (n_samples, 2), the cause in the first column; each standardized.

    Every third pair shows few digits, as real tables do.

    Examples
    --------
    >>> held_out_pair("sim", 0, n_samples=40).shape
    (40, 2)
    """
    rng = np.random.default_rng([FIRST_SEED + seed, list(PAIR_FAMILIES).index(family)])
    columns = [_standard(column) for column in PAIR_FAMILIES[family](n_samples, rng)]
    if seed % 3 == 2:
        steps = rng.uniform(0.05, 0.3, 2)
        columns = [_standard((column / step).round()) for column, step in zip(columns, steps, strict=True)]
    return np.column_stack(columns)
