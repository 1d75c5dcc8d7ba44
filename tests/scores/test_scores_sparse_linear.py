"""Sparse linear score: grow-shrink against least squares and brute force, fast moves against slow ones."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CORL
from precede.errors import KnowledgeError, OptionError
from precede.graph.equivalence import cpdag
from precede.knowledge import Constraints, Knowledge
from precede.runtime.deadline import Deadline
from precede.scores import regions
from precede.scores.protocol import OrderScore
from precede.scores.sparse_linear import SparseLinearScore
from precede.search import restarts, run
from precede.search.polish import polish
from precede.search.sweeps import Sweeps, _walk
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


@settings(deadline=None, max_examples=8)
@given(st.integers(2, 9), st.integers(0, 1000), st.sampled_from([None, 1, 2]))
def test_insertion_sums_are_the_sums_of_the_moved_orders(d, seed, max_parents):
    values = linear_data(d, degree=min(2, (d - 1) / 2), m=150, seed=seed).data.to_numpy()
    score = SparseLinearScore(values, max_parents=max_parents)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(d))
    sums = score.insertion_sums(order)
    for i in range(d):
        rest = torch.cat([order[:i], order[i + 1 :]])
        moved = torch.stack([torch.cat([rest[:k], order[i : i + 1], rest[k:]]) for k in range(d)])
        assert torch.allclose(sums[i], score.terms(moved).sum(1), atol=1e-7, rtol=0)


def test_insertion_sums_obey_knowledge_too():
    values = linear_data(7).data.to_numpy()
    constraints = Knowledge(required=[(0, 3)], forbidden=[(1, 2), (2, 1), (5, 4)]).over(range(7))
    score = SparseLinearScore(values, constraints=constraints)
    order = torch.from_numpy(constraints.nearest_order(np.random.default_rng(1).permutation(7)))
    sums = score.insertion_sums(order)
    for i in range(7):
        rest = torch.cat([order[:i], order[i + 1 :]])
        moved = torch.stack([torch.cat([rest[:k], order[i : i + 1], rest[k:]]) for k in range(7)])
        assert torch.allclose(sums[i], score.terms(moved).sum(1), atol=1e-7, rtol=0)
    assert not constraints.violated_by(score.graph(order.numpy()))
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
    assert "only the CPDAG is identified" in score.notes[0]
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


@pytest.mark.parametrize("capacity", [500, 3])
def test_remembered_answers_are_those_worked_out(capacity, monkeypatch):
    monkeypatch.setattr(regions, "CAPACITY", capacity)
    constraints = Knowledge(required=[(0, 3)], forbidden=[(1, 2)]).over(range(9))
    score = SparseLinearScore(linear_data(9, degree=3, m=200).data.to_numpy(), constraints=constraints)
    rng = np.random.default_rng(0)
    for _ in range(3):
        asked = torch.from_numpy(rng.random((9, 40, 9)) < 0.5) & ~torch.eye(9, dtype=torch.bool)[:, None]
        variables = torch.arange(9).repeat_interleave(40)
        expected = score.parents(variables, asked.reshape(-1, 9))
        assert torch.allclose(score.memo.terms(asked), expected.terms.view(9, 40), atol=1e-8, rtol=0)
        last = score.memo.parents(asked[:, -1])
        assert torch.equal(last.chosen, expected.chosen.view(9, 40, 9)[:, -1])
    wanted = torch.zeros(9, 40, dtype=torch.bool)
    assert not score.memo.terms(asked, wanted).any()
    assert score.memo.n_solved < score.memo.n_questions


def test_restarts_walk_along_ties_and_get_out_of_local_optima():
    data = linear_data(15, degree=2, m=1000, seed=0, standardize=True)
    score = SparseLinearScore(data.data.to_numpy())
    climb = Sweeps(score, Constraints.none(15), Deadline(None), seed=0)
    assert climb.climb_from(np.arange(15))
    assert climb._here is not None
    order, reached, ties = climb._here
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
    assert given == [restarts.MOST_RESTARTS, 0, 2]  # five variables: as many as there may be
    with pytest.raises(OptionError, match="n_restarts=-1 cannot be used"):
        CORL("linear", n_restarts=-1, verbose=False).fit(data)
