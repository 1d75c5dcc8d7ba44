"""Simulated data as people have it: uneven noise, levels, hidden variables, errors of measurement."""

import numpy as np
import pytest
import torch
from scipy import stats
from typer.testing import CliRunner

from precede.cli import app
from precede.errors import OptionError
from precede.simulation import simulate
from precede.simulation.draws import NumpyDraws
from precede.simulation.mechanisms import heteroscedastic, multiplicative, post_nonlinear, steps
from precede.simulation.noise import NOISE_SHAPES, SHAPES
from precede.simulation.observation import discretized, with_error

RANGE = (0.5, 2.0)


def draws(seed):
    return NumpyDraws(np.random.default_rng(seed))


def made_by(mechanism, parents, noise, seed):
    """The variable of a mechanism from parents (n_samples, n_parents) and noise (n_samples,)."""
    values = torch.from_numpy(parents.T.copy())[None]
    weights = torch.ones(values.shape[:2]).double()
    return mechanism(values, weights, torch.from_numpy(noise)[None], RANGE, draws(seed))[0].numpy()


def parents_and_noise(n=4000, p=2):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, p)), rng.normal(size=n)


def test_heteroscedastic_noise_grows_with_a_combination_of_the_parents():
    parents, noise = parents_and_noise(p=1)
    x = made_by(heteroscedastic, parents, noise, 1)
    quiet = made_by(heteroscedastic, parents, 0 * noise, 1)
    assert np.corrcoef(quiet, parents[:, 0])[0, 1] ** 2 == pytest.approx(1)
    scale = (x - quiet) / noise
    assert scale.min() >= np.exp(-1)
    assert scale.max() <= np.exp(1)
    assert abs(stats.spearmanr(scale, parents[:, 0]).statistic) == pytest.approx(1)


def test_post_nonlinear_is_monotone_in_a_linear_model_with_noise():
    parents, noise = parents_and_noise()
    for seed in range(6):
        x = made_by(post_nonlinear, parents, noise, seed)
        again = draws(seed)
        z = (parents - parents.mean(0)) / parents.std(0)
        inner = z @ again.either_sign((2,), *RANGE).numpy() + noise
        assert stats.spearmanr(inner, x).statistic == pytest.approx(1)
        assert np.corrcoef(inner, x)[0, 1] < 0.999


def test_multiplicative_noise_is_a_factor():
    parents, noise = parents_and_noise()
    x = made_by(multiplicative, parents, noise, 1)
    without = made_by(multiplicative, parents, 0 * noise, 1)
    assert (x > 0).all()
    assert np.allclose(x / without, np.exp(noise / 2))


def test_steps_have_three_levels_a_parent():
    parents, noise = parents_and_noise()
    values = made_by(steps, parents, 0 * noise, 1)
    assert len(np.unique(values.round(9))) == 9
    assert np.allclose(made_by(steps, parents, noise, 1) - noise, values)


@pytest.mark.parametrize("shape", NOISE_SHAPES)
def test_shapes_have_mean_zero_and_variance_one(shape):
    noise = SHAPES[shape]((1, 100_000, 2), draws(0))[0].numpy()
    assert np.allclose(noise.mean(axis=0), 0, atol=0.05)
    assert np.allclose(noise.std(axis=0), 1, rtol=0.03)
    low, high = {
        "laplace": (2.3, 3.7),
        "uniform": (-1.3, -1.1),
        "exponential": (5, 7),
        "gumbel": (2, 3),
        "student": (2, 60),
        "bimodal": (-2, 0.3),
        "heavy": (2, 60),
    }[shape]
    assert low < stats.kurtosis(noise[:, 0]) < high
    assert stats.kstest(noise[:5000, 0], "norm").pvalue < 0.01


def test_noise_shapes_are_read_and_gaussian_models_refuse_them():
    made = simulate("er", 5, 1, "lingam", 4000, noise="uniform", random_state=0)
    noise = made.data.to_numpy() @ (np.eye(5) - made.graph.strengths)
    assert stats.kurtosis(noise, axis=0) == pytest.approx([-1.2] * 5, abs=0.1)
    with pytest.raises(OptionError, match="use sem='lingam'"):
        simulate(noise="laplace")


@pytest.mark.parametrize("sem", ["linear-gaussian", "gp", "multiplicative"])
def test_every_column_has_its_levels_and_children_see_them(sem):
    made = simulate("er", 6, 1, sem, 300, discretize=3, random_state=2)
    assert (made.data.nunique() == 3).all()
    assert set(np.unique(made.graph.strengths)) <= {0, 1}
    plain = simulate("er", 6, 1, sem, 300, random_state=2)
    assert made.graph.edges.tolist() == plain.graph.edges.tolist()


def test_levels_keep_the_order_of_the_values():
    column = np.random.default_rng(0).normal(size=500)
    levels = discretized(torch.from_numpy(column)[None], 5, draws(1))[0].numpy()
    assert (np.diff(levels[np.argsort(column)]) >= 0).all()
    assert np.bincount(levels.astype(int)).min() > 500 / 5 / 3.1


def test_measurement_error_is_a_share_of_each_column():
    plain, blurred = (simulate("er", 5, 1, n_samples=20_000, measurement_error=e, random_state=0) for e in (0.0, 0.5))
    error = (blurred.data - plain.data).std() / plain.data.std()
    assert error.to_numpy() == pytest.approx([0.5] * 5, abs=0.02)
    data = torch.from_numpy(np.random.default_rng(0).normal(size=(1, 2, 50)))
    assert (with_error(data, 0.1, draws(1)) != data).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discretize": 1}, "discretize=1"),
        ({"discretize": 0}, "discretize"),
        ({"hidden": -1}, "hidden=-1"),
        ({"hidden": 1.5}, "hidden=1.5"),
        ({"measurement_error": -0.1}, "measurement_error"),
        ({"noise": "cauchy"}, "noise='cauchy'"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        simulate(**options)


def test_the_command_takes_the_same_options(tmp_path):
    words = [
        "--variables",
        "5",
        "--samples",
        "50",
        "--sem",
        "steps",
        "--discretize",
        "4",
        "--hidden",
        "1",
        "--seed",
        "3",
    ]
    done = CliRunner().invoke(app, ["simulate", "--out", str(tmp_path), *words])
    assert done.exit_code == 0, done.output
    made = simulate("er", 5, 2, "steps", 50, discretize=4, hidden=1, random_state=3)
    assert np.loadtxt(tmp_path / "data.csv", delimiter=",", skiprows=1) == pytest.approx(made.data.to_numpy())
