"""The predecessor cache: exact keys, one evaluation per set, honest counts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import OptionError
from precede.runtime.deadline import Deadline, OutOfTime
from precede.runtime.device import memory_budget
from precede.scores.predecessors import PredecessorCache, PredecessorScore, members_of, predecessor_masks


def fingerprint(members):
    """A value for every (set, variable) that no other pair shares."""
    d = members.shape[1]
    weights = np.random.default_rng(7).normal(size=(d, d))
    return members @ weights + 1000 * np.arange(d)


class Fingerprints(PredecessorScore):
    """Of sets instead of variances; so many sets a piece."""

    def __init__(self, n_variables, a_piece=1000, max_sets=1_000_000):
        super().__init__(np.random.default_rng(0).normal(size=(9, n_variables)), "unequal", 0, "cpu", max_sets)
        self.likelihood.terms = lambda variances: variances
        self.a_piece, self.calls = a_piece, []

    def pieces(self, members):
        self.calls += [len(members)] if len(members) else []
        last_first = np.arange(len(members))[::-1]
        yield from (last_first[start : start + self.a_piece] for start in range(0, len(members), self.a_piece))

    def regress(self, members):
        return fingerprint(members)


def terms_of(score, orders):
    return score.terms(torch.from_numpy(orders)).numpy()


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 80), st.integers(0, 1000))
def test_terms_are_those_of_the_sets(n_variables, seed):
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(n_variables) for _ in range(5)])
    terms = terms_of(Fingerprints(n_variables), orders)
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
    score = Fingerprints(4)
    cache = score.cache
    orders = np.array([[0, 1, 2, 3], [0, 1, 3, 2]])
    first = terms_of(score, orders)
    # {}, {0}, {0,1}, {0,1,2} and {0,1,3}
    assert (cache.n_evaluations, len(cache), score.calls) == (5, 5, [5])
    assert np.array_equal(terms_of(score, orders), first)
    assert (cache.n_evaluations, sum(score.calls)) == (5, 5)


def test_a_set_serves_every_variable_outside_it():
    score = Fingerprints(3)
    terms_of(score, np.array([[0, 1, 2]]))
    before = score.cache.n_evaluations
    terms_of(score, np.array([[0, 2, 1]]))
    assert score.cache.n_evaluations == before + 1  # only {0, 2} is new


def test_max_sets_starts_afresh_with_right_values():
    small, large = Fingerprints(6, max_sets=8), Fingerprints(6)
    rng = np.random.default_rng(1)
    for _ in range(20):
        orders = rng.permutation(6)[None]
        assert np.array_equal(terms_of(small, orders), terms_of(large, orders))
        assert len(small.cache) <= 8
    assert small.cache.n_evaluations > large.cache.n_evaluations
    with pytest.raises(OptionError, match="max_sets=0"):
        PredecessorCache(max_sets=0)


def test_what_was_evaluated_before_the_deadline_is_kept():
    ticks = iter(range(100))
    deadline = Deadline(2.5, clock=lambda: float(next(ticks)))
    score, whole = Fingerprints(5, a_piece=1), Fingerprints(5)
    orders = np.array([[2, 0, 1, 4, 3]])
    with score.within(deadline), pytest.raises(OutOfTime):
        terms_of(score, orders)
    assert score.cache.n_evaluations == 2
    assert np.array_equal(terms_of(score, orders), terms_of(whole, orders))
    assert score.cache.n_evaluations == 5
    with score.within(deadline):  # nothing is missing: nothing to wait for
        assert np.array_equal(terms_of(score, orders), terms_of(whole, orders))
    with score.within(deadline), pytest.raises(OutOfTime):
        score.bounds()


def test_several_scores_are_filled_together():
    one, other = Fingerprints(5), Fingerprints(5)
    orders = torch.stack([torch.randperm(5, generator=torch.Generator().manual_seed(k)) for k in range(6)]).view(
        2, 3, 5
    )
    terms = Fingerprints.together([one, other]).terms(orders)
    assert (len(one.calls), len(other.calls)) == (1, 1)
    for score, own, found in zip((one, other), orders, terms, strict=True):
        assert torch.equal(found, score.terms(own))


def test_memory_budget():
    cpu = torch.device("cpu")
    assert memory_budget(12345, cpu) == 12345
    assert memory_budget(None, cpu) > 2**20
    with pytest.raises(OptionError, match="memory_limit"):
        memory_budget(-1, cpu)
