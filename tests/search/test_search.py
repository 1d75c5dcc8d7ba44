"""Polish, greedy and exact search against exhaustive search."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import OptionError
from precede.knowledge import Constraints, Knowledge
from precede.runtime.deadline import Deadline
from precede.scores.linear import LinearScore, smallest_variance_order
from precede.scores.protocol import OrderScore
from precede.search.exact import exact_order
from precede.search.local import best_insertion_order, greedy_order
from precede.search.local.climber import permitted_moves
from precede.search.polish import polish


def make_score(d: int, seed: int = 0) -> LinearScore:
    rng = np.random.default_rng(seed)
    return LinearScore(rng.normal(size=(100, d)) @ rng.normal(size=(d, d)))


def totals(score: LinearScore, orders: np.ndarray) -> np.ndarray:
    return score.total(score.terms(torch.from_numpy(np.atleast_2d(orders))).sum(1)).numpy()


def random_constraints(d: int, seed: int) -> Constraints:
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    pairs = [(int(order[a]), int(order[b])) for a in range(d) for b in range(a + 1, d) if rng.random() < 0.2]
    return Knowledge(required=pairs).over(range(d))


@given(d=st.integers(1, 6), seed=st.integers(0, 500), constrained=st.booleans())
@settings(max_examples=25, deadline=None)
def test_exact_equals_exhaustive(d: int, seed: int, constrained: bool) -> None:
    score = make_score(d, seed)
    constraints = random_constraints(d, seed) if constrained else Constraints.none(d)
    orders = np.array([o for o in permutations(range(d)) if constraints.permits(np.array(o))])
    optimum = exact_order(score, constraints)
    assert optimum.score == pytest.approx(totals(score, orders).max(), rel=1e-12)
    assert totals(score, optimum.order)[0] == pytest.approx(optimum.score, rel=1e-12)
    assert constraints.permits(optimum.order)


@given(d=st.integers(2, 7), seed=st.integers(0, 500), constrained=st.booleans())
@settings(max_examples=25, deadline=None)
def test_no_permitted_insertion_improves_a_polished_order(d: int, seed: int, constrained: bool) -> None:
    score = make_score(d, seed)
    constraints = random_constraints(d, seed) if constrained else Constraints.none(d)
    start = constraints.nearest_order(np.random.default_rng(seed).permutation(d))
    polished = polish(score, start, constraints)
    assert constraints.permits(polished.order)
    assert polished.score >= totals(score, start)[0] - 1e-9
    for i in range(d):
        rest = np.delete(polished.order, i)
        for k in range(d):
            moved = np.insert(rest, k, polished.order[i])
            if constraints.permits(moved):
                assert totals(score, moved)[0] <= polished.score + 1e-8 * abs(polished.score)


def test_restarts_never_hurt_and_reach_the_optimum() -> None:
    gaps = []
    for seed in range(10):
        score = make_score(8, seed)
        once = polish(score, np.arange(8))
        again = polish(score, np.arange(8), n_restarts=20, rng=np.random.default_rng(0))
        assert again.score >= once.score
        gaps.append(exact_order(score).score - again.score)
    assert max(gaps) < 1e-6


def test_polish_stops_at_the_deadline() -> None:
    deadline = Deadline(1e-9)
    assert polish(make_score(8), np.arange(8)[::-1].copy(), deadline=deadline).n_moves == 0


def test_permitted_moves_are_those_that_keep_the_order_valid() -> None:
    for seed in range(20):
        constraints = random_constraints(6, seed)
        order = constraints.nearest_order(np.random.default_rng(seed).permutation(6))
        allowed = permitted_moves(order, constraints)
        for i in range(6):
            for k in range(6):
                moved = np.insert(np.delete(order, i), k, order[i])
                assert allowed[i, k] == constraints.permits(moved)


class Plain(OrderScore):
    """A score of one's own: terms, and nothing else."""

    name = "plain"

    def __init__(self, score: OrderScore) -> None:
        self.score, self.n_variables = score, score.n_variables

    def terms(self, orders: torch.Tensor) -> torch.Tensor:
        return self.score.terms(orders)


def test_a_sweep_that_is_cut_short_makes_the_moves_it_knows() -> None:
    score, start = Plain(make_score(8)), np.arange(8)[::-1].copy()
    before, whole = score.score_of(start), polish(score, start)
    scores = []
    for n_looks in range(1, 60):
        ticks = iter(range(1000))
        deadline = Deadline(n_looks - 0.5, clock=lambda ticks=ticks: float(next(ticks)))
        found = polish(score, start, deadline=deadline)
        assert found.score == pytest.approx(score.score_of(found.order))
        assert not found.n_moves or found.score > before
        scores.append(found.score)
    assert scores[0] == before
    assert scores == sorted(scores)  # more time is never worse
    assert len(set(scores[:9])) > 2  # after some variables of the first sweep there is something to keep
    assert scores[-1] == whole.score


def test_insertion_sums_in_pieces() -> None:
    """A score without a shortcut of its own has every moved order scored, one variable after another."""
    order = torch.tensor([3, 1, 0, 4, 2])
    score = make_score(5)
    pieces = list(score.insertion_pieces(order))
    assert [len(piece) for piece in pieces] == [1] * 5
    torch.testing.assert_close(torch.cat(pieces), score.insertion_sums(order))

    class Quick(Plain):
        def insertion_sums(self, order):
            return super().insertion_sums(order)

    assert [len(piece) for piece in Quick(score).insertion_pieces(order)] == [5]


def test_greedy_finds_the_order_of_an_equal_variance_chain() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 6)).cumsum(axis=1)[:, ::-1]
    assert greedy_order(LinearScore(x)).tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_greedy_orders_obey_knowledge(seed: int) -> None:
    score, constraints = make_score(7, seed), random_constraints(7, seed)
    assert constraints.permits(smallest_variance_order(score.covariance.numpy(), constraints))
    assert constraints.permits(best_insertion_order(score, constraints))


def test_best_insertion_beats_most_random_orders() -> None:
    score = make_score(7)
    rng = np.random.default_rng(1)
    random = totals(score, np.array([rng.permutation(7) for _ in range(200)]))
    assert totals(score, best_insertion_order(score))[0] > np.quantile(random, 0.95)


def test_exact_search_refuses_many_variables() -> None:
    with pytest.raises(OptionError, match=r"at most 20 variables.*has 21"):
        exact_order(make_score(21))


class Watched(LinearScore):
    """Keeps the orders that it is asked about while one grows; its quick way can be taken away."""

    quick: bool = True

    def quick_order(self, constraints):
        return super().quick_order(constraints) if self.quick else None

    def moves(self):
        return None

    def placing_sums(self, order, n_placed):
        self.asked = [*getattr(self, "asked", []), (order.tolist(), n_placed)]
        return super().placing_sums(order, n_placed)


def chain_score() -> Watched:
    return Watched(np.random.default_rng(0).normal(size=(300, 5))[:, ::-1].cumsum(axis=1)[:, [3, 0, 4, 1, 2]])


def test_greedy_takes_the_quick_way_where_there_is_one() -> None:
    score = chain_score()
    assert greedy_order(score).tolist() == [1, 3, 4, 0, 2]
    assert not hasattr(score, "asked")
    score.quick = False
    assert greedy_order(score).tolist() == [1, 3, 4, 0, 2]
    assert [n_placed for _, n_placed in score.asked] == list(range(5))
    assert all(sorted(order) == list(range(5)) for order, _ in score.asked)


@pytest.mark.parametrize("quick", [True, False])
def test_both_greedy_ways_obey_knowledge(quick) -> None:
    score = chain_score()
    score.quick = quick
    constraints = Knowledge(required=[(2, 1), (4, 3)]).over(range(5))
    assert constraints.permits(greedy_order(score, constraints))
    assert not constraints.permits(greedy_order(score))


@pytest.mark.parametrize("seconds", [0, 2, 5])
def test_greedy_that_runs_out_of_time_names_every_variable(seconds) -> None:
    score = chain_score()
    score.quick = False
    deadline = Deadline(float(seconds), clock=lambda: float(len(getattr(score, "asked", []))))
    constraints = Knowledge(required=[(2, 1)]).over(range(5))
    order = best_insertion_order(score, constraints, deadline)
    assert sorted(order.tolist()) == list(range(5))
    assert constraints.permits(order)
    assert len(getattr(score, "asked", [])) == seconds
