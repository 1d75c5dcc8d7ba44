"""Sparse linear score: grow and shrink against least squares and brute force."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CORL
from precede.data.load import load_table
from precede.errors import KnowledgeError, OptionError
from precede.graph.dags import cpdag
from precede.knowledge import Constraints, Knowledge
from precede.runtime.deadline import Deadline
from precede.scores import parents
from precede.scores.build import build_score
from precede.scores.protocol import OrderScore
from precede.scores.sparse_linear import SparseLinearScore
from precede.search import run
from precede.search.local.climber import Sweeps, _walk
from precede.search.polish import MOST_RESTARTS, polish
from precede.simulation import simulate


def linear_data(d, degree=1.5, m=400, seed=0, **options):
    return simulate(n_variables=d, degree=degree, n_samples=m, random_state=seed, **options)


def least_squares_bic(values, v, members, price):
    m = len(values)
    centered = values - values.mean(axis=0)
    design = centered[:, list(members)]
    residual = centered[:, v] - design @ np.linalg.lstsq(design, centered[:, v], rcond=None)[0]
    return -m / 2 * (math.log(2 * math.pi * residual.var()) + 1) - price * len(members)


def test_terms_are_the_bic_of_the_graph():
    data = linear_data(7)
    values = data.data.to_numpy()
    score = SparseLinearScore(values, penalty=1.5, gamma=0.5)
    assert isinstance(score, OrderScore)
    order = np.random.default_rng(0).permutation(7)
    terms = score.terms(torch.from_numpy(order)[None])[0]
    edges = score.graph(order)
    price = 1.5 * math.log(400) / 2 + 0.5 * math.log(7)
    for term, v in zip(terms, order, strict=True):
        assert float(term) == pytest.approx(least_squares_bic(values, v, np.flatnonzero(edges[:, v]), price), abs=1e-6)


def test_the_best_sets_are_found_on_the_true_order():
    data = linear_data(6)
    values = data.data.to_numpy()
    score = SparseLinearScore(values)
    order = data.graph.positions
    terms = score.terms(torch.from_numpy(order)[None])[0].numpy()
    price = math.log(400)
    for t, v in enumerate(order):
        sets = [s for size in range(t + 1) for s in combinations(order[:t], size)]
        assert terms[t] == pytest.approx(max(least_squares_bic(values, v, s, price) for s in sets), abs=1e-6)


def grown_and_shrunk(values, v, before, price, most, required=(), forbidden=()):
    """Add the parent that gains most while one does; where none does, drop the one that costs least; to the end."""
    parents = set(required)

    def best_of(sets):
        now = least_squares_bic(values, v, sorted(parents), price)
        gains = {one: least_squares_bic(values, v, sorted(other), price) - now for one, other in sets.items()}
        best = max(gains, key=gains.get, default=None)
        return None if best is None or gains[best] <= 0 else best

    while True:
        open_to = set(before) - parents - set(forbidden) if len(parents) < most else set()
        more = best_of({u: parents | {u} for u in open_to})
        less = best_of({u: parents - {u} for u in parents - set(required)}) if more is None else None
        if more is None and less is None:
            return sorted(parents)
        parents = parents | {more} if less is None else parents - {less}


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 9), st.integers(0, 1000), st.sampled_from([None, 1, 2]))
def test_parents_are_grown_and_shrunk(d, seed, max_parents):
    values = linear_data(d, degree=min(2, (d - 1) / 2), m=150, seed=seed, standardize=True).data.to_numpy()
    score = SparseLinearScore(values, penalty=1.0, max_parents=max_parents)
    order = np.random.default_rng(seed).permutation(d)
    edges = score.graph(order)
    for t, v in enumerate(order):
        expected = grown_and_shrunk(values, v, order[:t].tolist(), math.log(150) / 2, max_parents or d)
        assert np.flatnonzero(edges[:, v]).tolist() == expected


def test_nothing_pays_in_the_end() -> None:
    """Where parents were dropped others may pay: no variable that comes before would, and every parent does."""
    values = linear_data(20, degree=3, m=500, standardize=True).data.to_numpy()
    score = SparseLinearScore(values)
    price = math.log(500)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(20)
        edges = score.graph(order)
        for t, v in enumerate(order):
            parents = set(np.flatnonzero(edges[:, v]).tolist())
            here = least_squares_bic(values, v, sorted(parents), price)
            for u in order[:t].tolist():
                assert least_squares_bic(values, v, sorted(parents ^ {u}), price) < here + 1e-6


def test_parents_obey_knowledge_too():
    values = linear_data(7).data.to_numpy()
    constraints = Knowledge(required=[(0, 3)], forbidden=[(1, 2), (2, 1), (5, 4)]).over(range(7))
    score = SparseLinearScore(values, constraints=constraints)
    order = constraints.nearest_order(np.random.default_rng(1).permutation(7))
    edges = score.graph(order)
    assert edges[0, 3]
    assert not constraints.violated_by(edges)
    for t, v in enumerate(order):
        known = {"required": [0] if v == 3 else [], "forbidden": np.flatnonzero(~constraints.allowed[:, v]).tolist()}
        expected = grown_and_shrunk(values, v, order[:t].tolist(), math.log(400), 7, **known)
        assert np.flatnonzero(edges[:, v]).tolist() == expected
    with pytest.raises(KnowledgeError, match="column 3 before a parent that is required"):
        score.graph(np.array([3, 0, 1, 2, 4, 5, 6]))


def test_scale_does_not_matter_and_only_the_cpdag_is_identified():
    data = linear_data(8, m=2000)
    values = data.data.to_numpy()
    score = SparseLinearScore(values)
    scaled = SparseLinearScore(values * np.geomspace(0.01, 100, 8))
    order = np.random.default_rng(0).permutation(8)
    assert (score.graph(order) == scaled.graph(order)).all()
    assert score.identifies == "cpdag"
    assert "Some directions cannot be determined" in score.notes[0]
    pair = SparseLinearScore(values[:, data.graph.positions[:2]])
    forward, backward = pair.terms(torch.tensor([[0, 1], [1, 0]])).sum(1)
    assert float(forward) == pytest.approx(float(backward), abs=1e-6)


def test_polish_finds_the_cpdag_of_standardized_data():
    data = linear_data(10, degree=1, m=2000, seed=3, standardize=True)
    score = SparseLinearScore(data.data.to_numpy())
    found = polish(score, np.arange(10), n_restarts=2, rng=np.random.default_rng(0))
    assert (cpdag(score.graph(found.order)) == cpdag(data.graph.edges)).all()


def test_linear_options_are_read():
    values = linear_data(8, degree=3).data.to_numpy()
    order = np.arange(8)
    sizes = [
        SparseLinearScore(values, penalty=penalty, gamma=gamma).graph(order).sum()
        for penalty, gamma in ((0.1, 0.0), (20.0, 0.0), (0.1, 30.0))
    ]
    assert sizes[0] > sizes[1]
    assert sizes[0] > sizes[2]
    assert SparseLinearScore(values, max_parents=1).graph(order).sum(axis=0).max() == 1
    for wrong in ({"penalty": -1.0}, {"gamma": -0.1}, {"penalty": 0.0}, {"max_parents": 0}):
        with pytest.raises(OptionError, match="cannot be used"):
            SparseLinearScore(values, **wrong)


def test_bounds_and_singular_data():
    values = linear_data(6).data.to_numpy()
    score = SparseLinearScore(values)
    assert torch.allclose(score.bounds(), OrderScore.bounds(score))
    doubled = SparseLinearScore(np.column_stack([values, values[:, 0]]))
    assert torch.isfinite(doubled.terms(torch.arange(7)[None])).all()
    assert torch.isfinite(SparseLinearScore(values[:4]).terms(torch.arange(6)[None])).all()


def test_states_that_are_forgotten_are_made_again(monkeypatch):
    values = linear_data(9, degree=3, m=200).data.to_numpy()
    orders = torch.stack([torch.randperm(9, generator=torch.Generator().manual_seed(k)) for k in range(40)])
    expected = SparseLinearScore(values).terms(orders)
    monkeypatch.setattr(parents, "FIRST_CAPACITY", 16)
    assert torch.equal(SparseLinearScore(values).terms(orders), expected)
    monkeypatch.setattr(parents, "MOST_BYTES", 0)
    score = SparseLinearScore(values)
    assert torch.equal(score.terms(orders), expected)
    assert torch.equal(score.terms(orders[:1]), expected[:1])


def test_restarts_walk_along_ties_and_get_out_of_local_optima():
    data = linear_data(15, degree=2, m=1000, seed=0, standardize=True)
    score = SparseLinearScore(data.data.to_numpy())
    climb = Sweeps(score, Constraints.none(15), Deadline(None), seed=0)
    assert climb.climb_from(np.arange(15))
    order, reached, ties = climb.here()
    walked = _walk(order, ties, np.random.default_rng(0))
    assert (walked != order).any()
    assert float(score.terms(torch.from_numpy(walked)[None]).sum()) == pytest.approx(reached, abs=1e-6)
    gains = []
    for seed in range(4):
        start = np.random.default_rng(seed).permutation(15)
        alone = polish(score, start).score
        gains.append(polish(score, start, n_restarts=5, rng=np.random.default_rng(0)).score - alone)
    assert min(gains) >= -1e-9  # rounding, by the machine
    assert max(gains) > 1


def test_scores_of_a_cpdag_are_restarted_by_default(monkeypatch):
    given = []

    def watched(*arguments, n_restarts=0, **options):
        given.append(n_restarts)
        return polish(*arguments, n_restarts=n_restarts, **options)

    monkeypatch.setattr(run, "polish", watched)
    data = linear_data(5).data
    for score, n_restarts in (("sparse-linear", None), ("quadratic", None), ("sparse-linear", 2)):
        options = {"n_iterations": 1, "diagnose": False, "random_state": 0, "verbose": False}
        CORL(score, n_restarts=n_restarts, pretrained=None, polish=True, **options).fit(data)
    assert given == [MOST_RESTARTS, 0, 2]  # five variables: as many as there may be
    with pytest.raises(OptionError, match="n_restarts=-1 cannot be used"):
        CORL("linear", n_restarts=-1, verbose=False).fit(data)


def test_among_many_columns_a_parent_costs_what_pruning_asks():
    rows = np.random.default_rng(0).normal(size=(400, 151))
    price = {}
    for d in (150, 151):
        for name in ("linear-any", "sparse-linear"):
            table = load_table(rows[:, :d])
            price[name, d] = build_score(name, table, Constraints.none(d), device=torch.device("cpu")).price
    assert price["linear-any", 150] == np.log(400) / 2
    assert price["linear-any", 151] == np.log(400) / 2 + np.log(151)
    assert price["sparse-linear", 151] == price["sparse-linear", 150] == np.log(400)
