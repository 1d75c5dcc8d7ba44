"""PAGs from a start and tests of independence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.data.table import Table
from precede.graph.adjustment import d_separated
from precede.graph.ancestral import ARROW, CIRCLE, definite_ancestors, mag, pag
from precede.kinds import ColumnKind
from precede.knowledge import Knowledge
from precede.runtime.deadline import Deadline
from precede.search.pag import CovarianceTest, independence_test, learn_pag


class Oracle:
    """Independences of a DAG some of whose variables are seen."""

    def __init__(self, edges: np.ndarray, seen: np.ndarray) -> None:
        self.edges, self.seen, self.asked = edges, seen, []

    def evidence(self, first, second, given_):
        self.asked += [(first, second, *map(int, row)) for row in given_]
        masks = [np.isin(np.arange(len(self.edges)), self.seen[row.astype(int)]) for row in given_]
        apart = [d_separated(self.edges, self.seen[first], self.seen[second], mask) for mask in masks]
        return np.where(apart, 1e9, -1e9)

    def most(self, first, second):
        return np.inf

    def start(self, order):
        """The sparsest DAG of an order that implies no wrong independence."""
        edges = np.zeros((len(order), len(order)), dtype=bool)
        for k, later in enumerate(order):
            for earlier in order[:k]:
                rest = np.array([[other for other in order[:k] if other != earlier]], dtype=int)
                edges[earlier, later] = self.evidence(earlier, later, rest)[0] < 0
        self.asked = []
        return edges


def case(seed: int) -> tuple[Oracle, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(6, 10))
    places = rng.permutation(d)
    edges = np.triu(rng.random((d, d)) < rng.uniform(1.5, 4) / (d - 1), 1)[np.ix_(places, places)]
    oracle = Oracle(edges, np.arange(2, d))
    return oracle, pag(mag(edges, [0, 1])), rng.permutation(d - 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_true_independences_give_the_true_pag_from_any_start(seed):
    oracle, true, order = case(seed)
    assert np.array_equal(learn_pag(oracle.start(order), oracle, most_given=None), true)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_nobody_is_conditioned_on_what_comes_later_than_both(seed):
    oracle, true, _ = case(seed)
    reach = definite_ancestors(mag(oracle.edges, [0, 1]))
    order = np.argsort(-reach.sum(axis=1), kind="stable")  # causes first
    half = len(order) // 2
    known = Knowledge(tiers=[order[:half].tolist(), order[half:].tolist()]).over(range(len(order)))
    found = learn_pag(oracle.start(order), oracle, known, most_given=None)
    early = set(order[:half].tolist())
    assert not any({a, b} <= early and set(rest) - early for a, b, *rest in oracle.asked)
    across = (true != 0) & known.before
    assert np.array_equal(found != 0, true != 0)
    assert (found[across] == ARROW).all()
    assert (found == CIRCLE).sum() <= (true == CIRCLE).sum()


def hidden_cause(n: int, seed: int = 0) -> np.ndarray:
    """Two causes of c, two of d, and a hidden cause of both: c <-> d."""
    a, b, e, f, h, *noise = np.random.default_rng(seed).normal(size=(7, n))
    return np.column_stack([a, b, a + b + 1.5 * h + noise[0], e + f + 1.5 * h + noise[1], e, f])


FULL = np.zeros((6, 6), dtype=bool)
FULL[[0, 1, 4, 5, 2, 0, 1], [2, 2, 3, 3, 3, 3, 3]] = True  # as a DAG must have it: c -> d, a -> d, b -> d


def test_a_hidden_cause_is_found_and_the_edges_that_stood_for_it_fall():
    table = Table(hidden_cause(2000), tuple("abcdef"), True)
    found = learn_pag(FULL, independence_test(table))
    assert found[2, 3] == found[3, 2] == ARROW
    assert not found[0, 3]
    assert not found[1, 3]


def test_less_evidence_than_asked_for_leaves_the_edges():
    table = Table(hidden_cause(2000), tuple("abcdef"), True)
    assert learn_pag(FULL, independence_test(table), sure=50.0)[0, 3]
    assert learn_pag(FULL, independence_test(table), deadline=Deadline(0.0))[0, 3]
    assert learn_pag(FULL, independence_test(table), Knowledge(required=[(0, 3)]).over(range(6)))[0, 3]


def test_one_independence_is_enough_among_few_columns_and_too_little_among_many():
    a, d, hidden, *noise = np.random.default_rng(0).normal(size=(5, 5000))
    x = np.column_stack([a, a + hidden + 0.7 * noise[0], hidden + d + 0.7 * noise[1], d])
    start = np.zeros((4, 4), dtype=bool)
    start[[0, 1, 0, 3], [1, 2, 2, 2]] = True
    few = learn_pag(start, independence_test(Table(x, tuple("abcd"), True)))
    assert few[1, 2] == few[2, 1] == ARROW
    triangles = np.random.default_rng(1).normal(size=(5000, 30)).cumsum(axis=1)  # columns whose edges may fall too
    wide = np.zeros((34, 34), dtype=bool)
    wide[:4, :4] = start
    wide[4:, 4:] = np.triu(np.ones((30, 30), dtype=bool), 1)
    many = learn_pag(wide, independence_test(Table(np.column_stack([x, triangles]), tuple(range(34)), False)))
    assert many[0, 2]


def test_sets_are_not_larger_than_allowed():
    oracle, _, order = case(1)
    learn_pag(oracle.start(order), oracle, most_given=1)
    assert max(len(asked) - 2 for asked in oracle.asked) == 1


def test_evidence_is_that_of_bic_with_single_columns_and_blocks():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    x[:, 2] += x[:, 0]
    test = CovarianceTest(np.cov(x.T), [slice(k, k + 1) for k in range(3)], 500)
    near, far = test.evidence(0, 1, np.zeros((1, 0), int))[0], test.evidence(0, 2, np.array([[1]]))[0]
    partial = np.linalg.inv(np.corrcoef(x.T))
    r = partial[0, 2] ** 2 / (partial[0, 0] * partial[2, 2])
    assert far == pytest.approx((np.log(500) + (500 - 1 - 2.5) * np.log(1 - r)) / 2, abs=1e-3)
    assert 0 < near <= np.log(500) / 2
    kinds = (ColumnKind("categorical", (0.0, 1.0, 2.0), ("u", "v", "w")),) * 2
    levels = rng.integers(0, 3, size=500)
    same = Table(
        np.column_stack([levels, (levels + rng.integers(0, 2, 500)) % 3]).astype(float), (0, 1), False, kinds=kinds
    )
    apart = Table(np.column_stack([levels, rng.integers(0, 3, 500)]).astype(float), (0, 1), False, kinds=kinds)
    none = np.zeros((1, 0), int)
    assert independence_test(same).evidence(0, 1, none)[0] < 0 < independence_test(apart).evidence(0, 1, none)[0]


def test_curves_are_seen_where_they_are_asked_for():
    x = np.random.default_rng(0).normal(size=(500, 2))
    x[:, 1] = x[:, 0] ** 2 + 0.3 * x[:, 1]
    table, none = Table(x, ("a", "b"), True), np.zeros((1, 0), int)
    assert (
        independence_test(table).evidence(0, 1, none)[0]
        > independence_test(table, curves=True).evidence(0, 1, none)[0]
        < 0
    )
