"""The linear score of any noise: its formula, its settings, and which directions shape tells."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CORL
from precede.graph.dags import cpdag
from precede.scores.shape import ResidualShapes, negentropy, told_by_shape
from precede.scores.sparse_linear import LinearAnyScore, NonGaussianScore, SparseLinearScore


def lingam_data(n_samples=300, n_variables=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.laplace(size=(n_samples, n_variables))
    for j in range(1, n_variables):
        values[:, j] += values[:, :j] @ rng.normal(size=j)
    return values * np.arange(1, n_variables + 1) + 2


def direct_worth(values, target, parents):
    """Least squares, then the formula of Hyvärinen (1998), written out; in nats over all rows."""
    centered = values - values.mean(axis=0)
    y, x = centered[:, target], centered[:, parents]
    if len(parents):
        y = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    z = y / y.std()
    odd = 36 / (8 * np.sqrt(3) - 9) * np.mean(z * np.exp(-(z**2) / 2)) ** 2
    even = 24 / (16 * np.sqrt(3) - 27) * (np.mean(np.exp(-(z**2) / 2)) - np.sqrt(0.5)) ** 2
    return len(values) * (odd + even)


@pytest.mark.parametrize(("make", "price"), [(LinearAnyScore, np.log(300)), (NonGaussianScore, 0.0)])
def test_terms_are_the_gaussian_ones_and_the_worth_of_shapes(make, price):
    values = lingam_data()
    plain, score = SparseLinearScore(values), make(values, penalty=2.0)
    assert score.graph(np.arange(5)) is None  # extended BIC prunes
    worths = []
    for order in itertools.islice(itertools.permutations(range(5)), 0, None, 17):
        graph = plain.graph(np.array(order))
        shapes = [max(0.0, direct_worth(values, v, np.flatnonzero(graph[:, v])) - price) for v in order]
        expected = plain.terms(torch.tensor([order]))[0].numpy() + shapes
        np.testing.assert_allclose(score.terms(torch.tensor([order]))[0], expected, rtol=1e-9)
        worths += shapes
    assert max(worths) > 10


@settings(deadline=None, max_examples=10)
@given(st.lists(st.floats(1e-4, 1e4), min_size=5, max_size=5))
def test_scale_shifts_every_order_by_the_same(scales):
    values = lingam_data()
    orders = torch.tensor([[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [2, 3, 4, 1, 0]])
    raw = LinearAnyScore(values).terms(orders).sum(1)
    scaled = LinearAnyScore(values * np.array(scales) * [1, -1, 1, 1, -1]).terms(orders).sum(1)
    np.testing.assert_allclose(raw - scaled, np.full(3, len(values) * np.log(scales).sum()), atol=1e-4)


def test_negentropy_is_least_for_a_gaussian():
    rng = np.random.default_rng(0)
    shapes = [
        negentropy(draw) for draw in (rng.normal(size=20_000), rng.uniform(size=20_000), rng.laplace(size=20_000))
    ]
    assert shapes[0] < 1e-3 < min(shapes[1:])
    assert negentropy(np.full(10, 3.0)) == 0.0


def test_collinear_columns_stay_finite():
    values = lingam_data()
    values = np.column_stack([values, values[:, 0] + values[:, 1]])
    score = LinearAnyScore(values)
    assert torch.isfinite(score.terms(torch.arange(6)[None])).all()
    assert torch.isfinite(score.bounds()).all()


def chain(noise, n_samples=1000, seed=0):
    """x0 -> x1 -> x2 with noise of these shapes, standardized."""
    rng = np.random.default_rng(seed)
    draws = [getattr(rng, name)(size=n_samples) for name in noise]
    columns = [draws[0] / draws[0].std()]
    for draw in draws[1:]:
        columns.append(columns[-1] + draw / draw.std())
    return np.column_stack([column / column.std() for column in columns])


@pytest.mark.parametrize(
    ("noise", "told"),
    [
        (("normal", "normal", "normal"), []),
        (("laplace", "laplace", "laplace"), [(0, 1), (1, 2)]),
        (("exponential", "exponential", "normal"), [(0, 1), (1, 2)]),  # the second follows: no collider
    ],
)
def test_shape_directs_what_the_class_leaves_open(noise, told):
    score = LinearAnyScore(chain(noise))
    edges = np.zeros((3, 3), dtype=bool)
    edges[[0, 1], [1, 2]] = True
    assert [tuple(pair) for pair in np.argwhere(score.told(edges)).tolist()] == told
    assert not SparseLinearScore(chain(noise)).told(edges).any()


@settings(deadline=None, max_examples=15)
@given(st.integers(3, 6), st.integers(0, 1000))
def test_what_is_told_is_in_the_graph_open_in_its_class_and_one_way(d, seed):
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((d, d)) < 0.5, 1)
    values = rng.laplace(size=(200, d)) @ np.linalg.inv(np.eye(d) - edges)
    shapes = ResidualShapes(((values - values.mean(0)) / values.std(0)).T, np.corrcoef(values, rowvar=False))
    told = told_by_shape(edges, shapes)
    assert not (told & ~edges).any()
    assert not (told & (cpdag(edges).T == 0)).any()


@pytest.mark.parametrize(("noise", "source"), [("laplace", "shape"), ("normal", None)])
def test_every_direction_says_what_it_comes_from(noise, source):
    model = CORL("linear-any", random_state=0, verbose=False, diagnose=False).fit(chain([noise] * 3))
    sources = {source for *_, source in model.diagnostics_["direction_sources"]}
    assert sources == ({source} if source else set())
    assert len(model.diagnostics_["told_directions"]) == (2 if source else 0)


def test_the_true_order_of_small_data_wins_over_all_orders():
    rng = np.random.default_rng(5)
    noise = rng.uniform(-1, 1, size=(3000, 4))
    x0 = noise[:, 0]
    x1 = x0 + noise[:, 1]
    x2 = x0 - x1 + noise[:, 2]
    x3 = x2 + noise[:, 3]
    score = NonGaussianScore(np.column_stack([x3, x2, x1, x0]))
    orders = torch.tensor(list(itertools.permutations(range(4))))
    best = score.terms(orders).sum(1)
    first = [order for order, total in zip(orders.tolist(), best, strict=True) if total > best.max() - 1e-6]
    assert [3, 2, 1, 0] in first
    assert all(order.index(3) < order.index(2) < order.index(1) < order.index(0) for order in first)
