"""The predecessor cache: exact keys, one evaluation per set, honest counts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import OptionError
from precede.runtime.deadline import Deadline, OutOfTime
from precede.runtime.device import memory_budget
from precede.scores.predecessors import PredecessorCache, members_of, predecessor_masks


def fingerprint(members):
    """A value for every (set, variable) that no other pair shares."""
    d = members.shape[1]
    weights = np.random.default_rng(7).normal(size=(d, d))
    return members @ weights + 1000 * np.arange(d)


def at_once(members):
    """All sets in one piece."""
    yield np.arange(len(members)), fingerprint(members)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 80), st.integers(0, 1000))
def test_terms_are_those_of_the_sets(n_variables, seed):
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(n_variables) for _ in range(5)])
    terms = PredecessorCache(n_variables, at_once).terms(orders)
    for order, row in zip(orders, terms, strict=True):
        for t, variable in enumerate(order):
            members = np.zeros((1, n_variables), dtype=bool)
            members[0, order[:t]] = True
            assert row[t] == pytest.approx(fingerprint(members)[0, variable])


@pytest.mark.parametrize("n_variables", [5, 62, 63, 64, 200])
def test_masks_and_members_are_inverse(n_variables):
    order = np.random.default_rng(0).permutation(n_variables)
    members = members_of(predecessor_masks(order[None]), n_variables)
    assert members.sum(axis=1).tolist() == list(range(n_variables))
    assert all(set(np.flatnonzero(row)) == set(order[:t]) for t, row in enumerate(members))


def test_counts_and_identical_values():
    calls = []

    def evaluate(members):
        calls.append(len(members))
        yield from at_once(members)

    cache = PredecessorCache(4, evaluate)
    assert cache.hit_rate == 0.0
    orders = np.array([[0, 1, 2, 3], [0, 1, 3, 2]])
    first = cache.terms(orders)
    # {}, {0}, {0,1}, {0,1,2} and {0,1,3}
    assert (cache.n_lookups, cache.n_evaluations, len(cache), calls) == (8, 5, 5, [5])
    assert np.array_equal(cache.terms(orders), first)
    assert (cache.n_lookups, cache.n_evaluations, calls) == (16, 5, [5])
    assert cache.hit_rate == 1 - 5 / 16


def test_a_set_serves_every_variable_outside_it():
    cache = PredecessorCache(3, at_once)
    cache.terms(np.array([[0, 1, 2]]))
    before = cache.n_evaluations
    cache.terms(np.array([[0, 2, 1]]))
    assert cache.n_evaluations == before + 1  # only {0, 2} is new


def test_max_sets_starts_afresh_with_right_values():
    small, large = PredecessorCache(6, at_once, max_sets=8), PredecessorCache(6, at_once)
    rng = np.random.default_rng(1)
    for _ in range(20):
        orders = rng.permutation(6)[None]
        assert np.array_equal(small.terms(orders), large.terms(orders))
        assert len(small) <= 8
    assert small.n_evaluations > large.n_evaluations
    with pytest.raises(OptionError, match="max_sets=0"):
        PredecessorCache(3, at_once, max_sets=0)


def test_what_was_evaluated_before_the_deadline_is_kept():
    ticks = iter(range(100))
    deadline = Deadline(2.5, clock=lambda: float(next(ticks)))

    def backwards(members):
        for s in reversed(range(len(members))):
            yield np.array([s]), fingerprint(members[s : s + 1])

    cache, whole = PredecessorCache(5, backwards), PredecessorCache(5, at_once)
    orders = np.array([[2, 0, 1, 4, 3]])
    with pytest.raises(OutOfTime):
        cache.terms(orders, deadline)
    assert (cache.n_evaluations, cache.n_lookups) == (2, 0)
    assert np.array_equal(cache.terms(orders), whole.terms(orders))
    assert cache.n_evaluations == 5
    assert np.array_equal(cache.terms(orders, deadline), whole.terms(orders))  # nothing is missing: nothing to wait for
    with pytest.raises(OutOfTime):
        cache.given_all_others(deadline)


def test_memory_budget():
    cpu = torch.device("cpu")
    assert memory_budget(12345, cpu) == 12345
    assert memory_budget(None, cpu) > 2**20
    with pytest.raises(OptionError, match="memory_limit"):
        memory_budget(-1, cpu)
