"""The GP score against plain NumPy, and every option of it."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import DataError, OptionError
from precede.scores.gp import KERNELS, GPScore, MedianKernel
from precede.scores.protocol import OrderScore

RNG = np.random.default_rng(3)


def nonlinear(n_samples=60, n_variables=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_samples, n_variables))
    for j in range(1, n_variables):
        values[:, j] += 2 * np.sin(values[:, :j].sum(axis=1))
    return values * np.arange(1, n_variables + 1) + 5


def plain_residual_variance(values, target, predecessors, noise=1.0, bandwidth=1.0, standardize=True):
    """The regression written out, one sample pair at a time in spirit."""
    y = values[:, target] - values[:, target].mean()
    if not len(predecessors):
        return np.mean(y**2)
    x = values - values.mean(axis=0)
    if standardize:
        x = x / x.std(axis=0)
    x = x[:, predecessors]
    squared = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    pairs = np.sort(squared[np.tril_indices(len(x), -1)])
    median = pairs[(len(pairs) - 1) // 2]
    kernel = np.exp(-squared / (2 * bandwidth**2 * median))
    fitted = kernel @ np.linalg.solve(kernel + noise * np.eye(len(x)), y)
    return np.mean((y - fitted) ** 2)


@pytest.mark.parametrize("n_samples", [60, 61, 63])  # even and odd numbers of pairs
@pytest.mark.parametrize(
    "options",
    [{}, {"kernel_noise": 0.2}, {"bandwidth": 0.5}, {"standardize": False}],
)
def test_residual_variances_are_those_of_plain_numpy(n_samples, options):
    values = nonlinear(n_samples)
    score = GPScore(values, kernel=MedianKernel(**options))
    renamed = {"noise" if key == "kernel_noise" else key: value for key, value in options.items()}
    members = np.random.default_rng(1).random((6, 5)) < 0.5
    members[0] = False
    found = score.residual_variances(members)
    for s, j in np.argwhere(~members):
        expected = plain_residual_variance(values, j, np.flatnonzero(members[s]), **renamed)
        assert found[s, j] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_terms_and_total_are_the_bic(noise):
    values = nonlinear()
    m, d = values.shape
    score = GPScore(values, noise=noise)
    assert isinstance(score, OrderScore)
    orders = torch.tensor([[0, 1, 2, 3, 4], [3, 1, 4, 0, 2]])
    terms = score.terms(orders)
    assert terms.dtype == torch.float64
    for row, order in zip(terms, orders.numpy(), strict=True):
        v = np.array([plain_residual_variance(values, j, order[:t]) for t, j in enumerate(order)])
        if noise == "unequal":
            expected_terms = -m / 2 * np.log(v)
            total = expected_terms.sum() - (d * (d - 1) / 2 + d) / 2 * np.log(m)
        else:
            expected_terms = -m / 2 * v / values.var(axis=0).min()
            total = -m * d / 2 * np.log(v.mean()) - (d * (d - 1) / 2 + 1) / 2 * np.log(m)
        np.testing.assert_allclose(row, expected_terms, rtol=1e-8)
        assert float(score.total(row.sum())) == pytest.approx(total, rel=1e-8)


@settings(deadline=None, max_examples=10)
@given(st.permutations(range(5)), st.permutations(range(3)))
def test_term_depends_on_the_set_only_and_columns_permute(columns, prefix):
    values = nonlinear(40)
    score = GPScore(values)
    one, other = score.terms(torch.tensor([[0, 1, 2, 3, 4], [*prefix, 3, 4]]))
    np.testing.assert_array_equal(one[3:], other[3:])
    order = torch.tensor([[0, 1, 2, 3, 4]])
    np.testing.assert_allclose(GPScore(values[:, columns]).terms(order)[0], score.terms(torch.tensor([columns]))[0])


def test_standardized_distances_do_not_depend_on_units():
    values = nonlinear()
    scales = np.array([1e-6, 1.0, 1e3, 5.0, 0.1])
    orders = torch.tensor([[0, 1, 2, 3, 4], [4, 2, 0, 1, 3]])
    raw = GPScore(values).terms(orders).sum(1)
    scaled = GPScore(values * scales).terms(orders).sum(1)
    assert float(raw[0] - raw[1]) == pytest.approx(float(scaled[0] - scaled[1]), rel=1e-6)


def test_bounds_are_the_terms_given_all_others():
    values = nonlinear()
    score = GPScore(values)
    expected = [plain_residual_variance(values, j, np.delete(np.arange(5), j)) for j in range(5)]
    np.testing.assert_allclose(score.bounds(), -len(values) / 2 * np.log(expected))


def test_cache_counts_and_max_sets():
    values = nonlinear()
    score = GPScore(values)
    orders = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 4, 3]])
    first = score.terms(orders)
    assert score.cache.n_evaluations == 6
    assert torch.equal(score.terms(orders), first)
    assert score.cache.n_evaluations == 6
    forgetful = GPScore(values, max_sets=6)
    forgetful.terms(orders)
    forgetful.terms(orders.flip(1))
    assert len(forgetful.cache) <= 7


def test_median_samples_takes_evenly_spaced_rows():
    values = nonlinear(50, 3)
    members = np.array([[True, True, False]])
    few = GPScore(values, kernel=MedianKernel(median_samples=25)).residual_variances(members)[0, 2]
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    squared = ((z[:, None, :2] - z[None, :, :2]) ** 2).sum(axis=2)
    pairs = np.sort(squared[::2, ::2][np.tril_indices(25, -1)])
    kernel = np.exp(-squared / 2 / pairs[(len(pairs) - 1) // 2])
    y = values[:, 2] - values[:, 2].mean()
    residual = np.linalg.solve(kernel + np.eye(50), y)
    assert few == pytest.approx(np.mean(residual**2), rel=1e-8)


def test_single_precision_is_close_and_is_used():
    values = nonlinear()
    orders = torch.tensor([[0, 1, 2, 3, 4]])
    single, double = (GPScore(values, precision=p).terms(orders) for p in ("float32", "float64"))
    assert single.dtype == torch.float64
    assert not torch.equal(single, double)
    np.testing.assert_allclose(single, double, rtol=1e-4)


def test_memory_limit_chunks_without_changing_values_and_refuses():
    values = nonlinear()
    orders = torch.from_numpy(np.array([RNG.permutation(5) for _ in range(8)]))
    small = GPScore(values, memory_limit=500_000)
    assert 1 <= small.sets_at_once < GPScore(values).sets_at_once
    np.testing.assert_allclose(small.terms(orders), GPScore(values).terms(orders), rtol=1e-12)
    with pytest.raises(DataError, match=r"needs 0\.\d MB for 60 samples.*take at most about \d+ rows.*memory_limit"):
        GPScore(values, memory_limit=50_000)
    with pytest.raises(DataError, match="GB for 100000 samples"):
        GPScore(np.zeros((100_000, 2)) + RNG.normal(size=(1, 2)), memory_limit=1e9)


def test_advised_number_of_rows_fits():
    values = nonlinear(400, 5)
    with pytest.raises(DataError) as error:
        GPScore(values, memory_limit=1_000_000)
    rows = int(str(error.value).split("about ")[1].split()[0])
    assert rows > 50
    GPScore(values[:rows], memory_limit=1_000_000)


def test_near_duplicates_and_ties_do_not_break_the_kernels():
    values = nonlinear()
    near = np.column_stack([values, values[:, 0] * (1 + 1e-12), RNG.integers(0, 2, size=60)])
    orders = torch.from_numpy(np.array([RNG.permutation(7) for _ in range(5)]))
    for kernel_noise in (1.0, 1e-12):
        assert torch.isfinite(GPScore(near, kernel=MedianKernel(kernel_noise=kernel_noise)).terms(orders)).all()
    rare = np.zeros((60, 2))
    rare[:5, 0], rare[:, 1] = 1, RNG.normal(size=60)  # the median distance of the first column is 0
    assert torch.isfinite(GPScore(rare).terms(torch.tensor([[0, 1]]))).all()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("noise", "both"),
        ("precision", "half"),
        ("memory_limit", 0),
        ("max_sets", 0),
    ],
)
def test_bad_options_are_named(option, value):
    with pytest.raises(OptionError, match=option):
        GPScore(nonlinear(), **{option: value})


@pytest.mark.parametrize(("option", "value"), [("kernel_noise", 0), ("bandwidth", -1), ("median_samples", 0.5)])
def test_bad_kernels_are_named(option, value):
    with pytest.raises(OptionError, match=option):
        MedianKernel(**{option: value})


def test_input_is_left_alone():
    values = nonlinear()
    copy = values.copy()
    values.setflags(write=False)
    GPScore(values).terms(torch.tensor([[4, 3, 2, 1, 0]]))
    assert np.array_equal(values, copy)


def test_the_fixed_kernel_is_that_of_the_authors_program():
    """exp(-squared distance / 2) on columns as they are, noise 1: by hand, in units that matter."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(30, 3)) * [1.0, 3.0, 0.2]
    given = np.array([[True, True, False]])
    found = GPScore(values, noise="equal", kernel=KERNELS["fixed"]).residual_variances(given)[0, 2]
    apart = ((values[:, None, :2] - values[None, :, :2]) ** 2).sum(2)
    kernel = np.exp(-apart / 2)
    target = values[:, 2] - values[:, 2].mean()
    residual = target - kernel @ np.linalg.solve(kernel + np.eye(30), target)
    assert found == pytest.approx(np.mean(residual**2))
    assert GPScore(values, noise="equal").residual_variances(given)[0, 2] != pytest.approx(found)
