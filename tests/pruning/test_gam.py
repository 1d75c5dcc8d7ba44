"""Splines, REML smoothing and the tests of additive terms, each against an independent computation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.interpolate import CubicSpline

from precede.errors import DataError
from precede.pruning.gam import basis_size, fit_gam, mixture_tail, select_smoothing, spline_basis, wood_p_value


def sample(seed, m=200, p=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, p))
    return x, np.sin(2 * x[:, 0]) + 0.5 * rng.normal(size=m)


@given(seed=st.integers(0, 10**6), m=st.integers(12, 80), size=st.integers(2, 10), levels=st.integers(2, 40))
@settings(deadline=None, max_examples=25)
def test_basis_is_orthonormal_centered_and_ordered_by_roughness(seed, m, size, levels):
    x = np.random.default_rng(seed).integers(levels, size=m).astype(float)
    x[:2] = 0, 1  # not constant
    basis = spline_basis(x, size)
    n_columns = basis.columns.shape[1]
    assert n_columns <= min(size, len(np.unique(x))) - 1
    np.testing.assert_allclose(basis.columns.T @ basis.columns, m * np.eye(n_columns), atol=1e-6 * m)
    np.testing.assert_allclose(basis.columns.sum(axis=0), 0, atol=1e-6 * m)
    np.testing.assert_allclose(basis.columns[:, 0], (x - x.mean()) / x.std(), atol=1e-9)
    assert basis.roughness[0] == 0
    assert (np.diff(basis.roughness) >= 0).all()


def test_basis_spans_the_natural_cubic_splines():
    x = np.sort(np.random.default_rng(0).normal(size=100))
    knots = np.quantile(x, np.linspace(0, 1, 31))
    spline = CubicSpline(knots, np.random.default_rng(1).normal(size=31), bc_type="natural")(x)
    columns = np.column_stack([np.ones(100), spline_basis(x, 31).columns])
    assert columns.shape == (100, 31)
    np.testing.assert_allclose(columns @ np.linalg.lstsq(columns, spline, rcond=None)[0], spline, atol=1e-6)


def test_roughness_is_the_integrated_squared_second_derivative():
    x = np.random.default_rng(0).uniform(size=400)
    basis = spline_basis(x, 6)
    place = np.argsort(x)
    z = basis.columns[place, 0]
    fine = np.linspace(z[0], z[-1], 5001)
    integrals = []
    for column in basis.columns[place].T:
        bend = CubicSpline(z, column).derivative(2)(fine)  # interpolates the column, which is itself a cubic spline
        integrals.append(np.sum(bend**2) * (fine[1] - fine[0]))
    np.testing.assert_allclose(basis.roughness, np.array(integrals) / integrals[1], rtol=0.02, atol=1e-6)


def test_basis_takes_the_smoothest_directions():
    x = np.random.default_rng(0).normal(size=100)
    small, large = spline_basis(x, 5), spline_basis(x, 10)
    np.testing.assert_allclose(small.columns, large.columns[:, :4])
    np.testing.assert_allclose(small.roughness, large.roughness[:4])


@pytest.mark.parametrize(
    ("values", "n_columns"), [([1.0, 1.0, 1.0], 0), ([0.0, 1.0, 1.0], 1), ([0.0, 1.0, 2.0, 2.0], 2)]
)
def test_few_distinct_values_get_few_columns(values, n_columns):
    assert spline_basis(np.repeat(values, 10), 10).columns.shape == (10 * len(values), n_columns)


def test_basis_size_follows_the_rule_of_cam():
    assert basis_size(500, 16) == 10  # 31 samples a term
    assert basis_size(500, 17) == 10  # ceil(500 / 51)
    assert basis_size(500, 30) == 6
    assert basis_size(500, 0) == 10
    assert basis_size(100, 30) == 3
    assert basis_size(50, 30) == 2


def test_reml_maximizes_the_restricted_likelihood_of_the_mixed_model():
    x, y = sample(3, m=120, p=2)
    y = (y - y.mean()) / y.std()
    bases = [spline_basis(column, 7) for column in x.T]
    m, design = len(y), np.hstack([b.columns for b in bases])
    term, roughness = np.repeat([0, 1], 6), np.concatenate([b.roughness for b in bases])
    found = select_smoothing(design.T @ design / m, design.T @ y / m, 1.0, m, term, roughness, np.zeros(2))

    fixed = np.column_stack([np.ones(m), design[:, roughness == 0]])
    complement = np.linalg.svd(fixed)[0][:, fixed.shape[1] :]  # error contrasts
    contrasts = complement.T @ y

    def minus_likelihood(rho):
        rho = np.clip(rho, -14, 16)
        covariance = np.eye(m)
        for j in range(2):
            rough = (term == j) & (roughness > 0)
            columns = design[:, rough] / np.sqrt(m * np.exp(rho[j]) * roughness[rough])
            covariance += columns @ columns.T
        within = complement.T @ covariance @ complement
        quadratic = contrasts @ np.linalg.solve(within, contrasts)
        return len(contrasts) * np.log(quadratic) + np.linalg.slogdet(within)[1]

    best = optimize.minimize(minus_likelihood, [0.0, 5.0], method="Nelder-Mead", options={"xatol": 1e-4})
    assert minus_likelihood(found.log_smoothing) <= best.fun + 1e-3
    assert found.log_smoothing[0] == pytest.approx(best.x[0], abs=0.05)  # the second is flat: no effect


def test_reml_bends_where_the_truth_does():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    fit = fit_gam(x, np.sin(2 * x[:, 0]) + x[:, 1] + 0.3 * rng.normal(size=400))
    assert np.corrcoef(fit.terms[:, 0], np.sin(2 * x[:, 0]))[0, 1] > 0.99
    assert np.corrcoef(fit.terms[:, 1], x[:, 1])[0, 1] > 0.999
    assert np.var(fit.terms.sum(axis=1) - np.sin(2 * x[:, 0]) - x[:, 1]) < 0.01
    assert fit.strengths[1] == pytest.approx(1 / np.std(np.sin(2 * x[:, 0]) + x[:, 1]), rel=0.1)


def test_partial_f_is_the_nested_model_comparison():
    x, y = sample(5, m=90, p=3)
    fit = fit_gam(x, y, penalized=False)
    bases = [spline_basis(column, 10).columns for column in x.T]

    def rss(parts):
        design = np.column_stack([np.ones(len(y)), *parts])
        return np.linalg.lstsq(design, y, rcond=None)[1][0]

    full, free = rss(bases), len(y) - 28
    for j in range(3):
        ratio = (rss(bases[:j] + bases[j + 1 :]) - full) / 9 / (full / free)
        assert fit.p_values[j] == pytest.approx(stats.f.sf(ratio, 9, free), rel=1e-4)
    assert ((y - y.mean() - fit.terms.sum(axis=1)) ** 2).sum() == pytest.approx(full, rel=1e-5)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n_whole", [0, 1, 3])
def test_mixture_tail_against_simulation(part, n_whole):
    rng = np.random.default_rng(0)
    first = (part + 1 + np.sqrt(1 - part**2)) / 2
    size = 200_000
    draws = first * rng.chisquare(1, size) + (part + 1 - first) * rng.chisquare(1, size)
    if n_whole:
        draws = draws + rng.chisquare(n_whole, size)
    draws = draws / (rng.chisquare(40, size) / 40)
    for level in (0.5, 0.05, 0.01):
        threshold = np.quantile(draws, 1 - level)
        exact = mixture_tail(threshold, n_whole, first, part + 1 - first, 40.0)
        assert exact == pytest.approx(level, abs=5 * np.sqrt(level / size))


def test_wood_test_is_continuous_in_the_rank():
    effect, covariance = np.array([1.0, 2.0, 0.5, 0.1]), np.diag([1.0, 0.5, 0.3, 0.1])
    at = [wood_p_value(effect, covariance, rank, 60.0) for rank in (2 - 1e-6, 2.0, 2 + 1e-6)]
    np.testing.assert_allclose(at, at[1], rtol=0.01)
    assert wood_p_value(np.zeros(3), np.eye(3), 1.7, 60.0) == pytest.approx(1.0)


def test_tiny_p_values_stay_positive_and_ordered():
    p = [wood_p_value(np.array([size, 0.2]), np.eye(2), 1.5, 200.0) for size in (5.0, 10.0, 15.0, 20.0)]
    assert p[-1] > 0
    assert (np.diff(p) < 0).all()


@pytest.mark.parametrize("penalized", [True, False])
def test_null_p_values_are_about_uniform(penalized):
    p = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(150, 8))
        p.append(fit_gam(x, x[:, 0] + rng.normal(size=150), penalized=penalized).p_values)
    p = np.array(p)
    assert (p[:, 0] < 0.001).mean() > 0.95
    assert 0.02 < (p[:, 1:] < 0.05).mean() < 0.10
    assert 0.40 < np.median(p[:, 1:]) < 0.60


def test_penalty_gives_power_on_linear_effects():
    hits = np.zeros(2)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 12))
        y = 0.25 * x[:, :3].sum(axis=1) + rng.normal(size=300)
        hits += [(fit_gam(x, y, penalized=on).p_values[:3] < 0.001).sum() for on in (True, False)]
    assert hits[0] > 1.3 * hits[1]


@pytest.mark.parametrize("penalized", [True, False])
def test_units_and_sequence_do_not_matter(penalized):
    x, y = sample(0)
    plain = fit_gam(x, y, penalized=penalized)
    scaled = fit_gam(x * [1e-3, 1e4, -2.0] + 5, 1e3 * y - 7, penalized=penalized)
    np.testing.assert_allclose(scaled.p_values, plain.p_values, rtol=1e-3)
    np.testing.assert_allclose(scaled.strengths, plain.strengths, atol=1e-4)
    np.testing.assert_allclose(scaled.terms, 1e3 * plain.terms, atol=0.1)
    turned = fit_gam(x[::-1, ::-1].copy(), y[::-1].copy(), penalized=penalized)
    np.testing.assert_allclose(turned.p_values[::-1], plain.p_values, rtol=1e-3)
    np.testing.assert_allclose(turned.terms[::-1, ::-1], plain.terms, atol=1e-4)


@pytest.mark.parametrize("penalized", [True, False])
def test_awkward_columns(penalized):
    rng = np.random.default_rng(0)
    m = 300
    binary = rng.integers(2, size=m).astype(float)
    x = np.column_stack([binary, rng.integers(4, size=m), np.ones(m), rng.standard_cauchy(m), np.exp(3 * binary)])
    x[:, 4] += 1e-9 * rng.normal(size=m)  # two clusters with noise far below them
    y = binary * 2 + rng.standard_t(2.2, size=m) * 0.3
    fit = fit_gam(x[:, :4], y, penalized=penalized)
    assert fit.p_values[0] < 1e-6
    assert fit.p_values[2] == 1
    assert (fit.terms[:, 2] == 0).all()
    everything = fit_gam(x, y, penalized=penalized)
    assert np.isfinite(everything.p_values).all()
    assert ((everything.p_values >= 0) & (everything.p_values <= 1)).all()


@pytest.mark.parametrize("penalized", [True, False])
@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-6])
def test_near_duplicates_share_their_effect(penalized, noise):
    x, y = sample(1)
    x[:, 1] = x[:, 0] + noise * x[:, 1]
    fit = fit_gam(x, y, penalized=penalized)
    assert np.isfinite(fit.p_values).all()
    assert np.var(y - fit.terms.sum(axis=1)) < 0.35  # the fit itself does not suffer


def test_sizes_at_the_edge():
    x, y = sample(2, m=40, p=30)
    assert np.isfinite(fit_gam(x, y).p_values).all()
    assert np.isfinite(fit_gam(x[:33], y[:33]).p_values).all()
    assert fit_gam(x[:, :0], y).p_values.shape == (0,)
    assert fit_gam(x[:, :0], y).terms.shape == (40, 0)
    assert fit_gam(x[:, :1], y).p_values.shape == (1,)
    np.testing.assert_array_equal(fit_gam(x[:, :2], np.full(40, 3.0)).p_values, [1, 1])
    noiseless = fit_gam(x[:, :1], 2 * x[:, 0])
    assert noiseless.p_values[0] < 1e-100
    with pytest.raises(DataError, match="30 terms needs at least 33 samples, but there are 32"):
        fit_gam(x[:32], y[:32])


def test_input_is_unchanged():
    x, y = sample(0)
    before = x.copy(), y.copy()
    fit_gam(x, y)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])
