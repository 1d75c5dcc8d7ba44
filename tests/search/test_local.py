"""Compiled local search against exact search, the scores' own terms, and itself."""

import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.errors import OptionError
from precede.knowledge import Constraints, Knowledge
from precede.runtime.deadline import Deadline
from precede.scores import parents
from precede.scores.covariance import ordered_cholesky
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.grow_shrink import FamiliesScore
from precede.scores.levels.families import DiscreteFamilies
from precede.scores.linear import LinearScore
from precede.scores.parent_tables import ParentSets, SparseScore
from precede.scores.protocol import ExpandedMoves, Expansion, OrderScore
from precede.scores.quadratic import QuadraticScore
from precede.scores.sparse_linear import LinearAnyScore, NonGaussianScore, SparseLinearScore
from precede.search import local, polish
from precede.search.exact import exact_order
from precede.search.local import best_insertion_order
from precede.search.local import chain as chain_module
from precede.search.local.chain import Chain
from precede.search.local.climber import Sweeps
from precede.search.local.variances import VarianceChain, lower_sum
from precede.simulation import simulate


def linear_values(d: int, degree: float = 1.5, m: int = 400, seed: int = 0) -> np.ndarray:
    data = simulate(n_variables=d, degree=min(degree, (d - 1) / 2), n_samples=m, standardize=True, random_state=seed)
    return data.data.to_numpy()


def linear_score(d: int, seed: int = 0, constraints: Constraints | None = None, **options: float) -> SparseLinearScore:
    return SparseLinearScore(linear_values(d, 1.5, seed=seed), constraints=constraints, **options)


def discrete_score(d: int, seed: int = 0, constraints: Constraints | None = None) -> FamiliesScore:
    codes = (linear_values(d, 1.5, seed=seed) > 0).astype(np.int64)
    return FamiliesScore(DiscreteFamilies(codes, [2] * d), "discrete-bic", constraints=constraints)


def table_score(d: int, seed: int = 0, constraints: Constraints | None = None) -> SparseScore:
    evidence = GaussianProcessEvidence(linear_values(d, 1.5, 60, seed))
    return SparseScore(evidence, ParentSets(max_parents=3, table_size=2), constraints=constraints)


def shape_score(d: int, seed: int = 0, constraints: Constraints | None = None) -> LinearAnyScore:
    degree = min(1.5, (d - 1) / 2)
    data = simulate(n_variables=d, degree=degree, sem="lingam", noise="uniform", n_samples=300, random_state=seed)
    return (LinearAnyScore, NonGaussianScore)[seed % 2](data.data.to_numpy(), constraints=constraints)


def variance_score(d: int, seed: int = 0, constraints: Constraints | None = None) -> LinearScore:
    degree = min(1.5, (d - 1) / 2)
    return LinearScore(simulate(n_variables=d, degree=degree, n_samples=100, random_state=seed).data.to_numpy())


SCORES = {"covariance": linear_score, "shape": shape_score, "expanded": discrete_score, "table": table_score}
EVERY = {**SCORES, "variance": variance_score}


def random_knowledge(d: int, seed: int) -> Constraints:
    rng = np.random.default_rng(seed)
    order = rng.permutation(d).tolist()
    forward = [(order[a], order[b]) for a in range(d) for b in range(a + 1, d)]
    required = [pair for pair in forward if rng.random() < 0.1]
    forbidden = [pair for pair in forward if pair not in required and rng.random() < 0.2]
    tiers = [order[: d // 2], order[d // 2 :]] if rng.random() < 0.5 else ()
    return Knowledge(required=required, forbidden=forbidden, tiers=tiers).over(range(d))


def chain_of(score: OrderScore, constraints: Constraints | None = None, seed: int = 0) -> Chain:
    moves = score.moves()
    assert moves is not None
    constraints = constraints or Constraints.none(score.n_variables)
    return Chain(moves, constraints, Deadline(None), seed, threading.Lock())


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("constrained", [False, True])
def test_restarts_reach_the_optimum_of_exact_search(kind: str, constrained: bool) -> None:
    for seed in range(3):
        constraints = random_knowledge(7, seed) if constrained else Constraints.none(7)
        score = EVERY[kind](7, seed, constraints)
        start = constraints.nearest_order(np.random.default_rng(seed).permutation(7))
        found = polish.polish(score, start, constraints, n_restarts=30, rng=np.random.default_rng(0))
        assert found.score == pytest.approx(exact_order(score, constraints).score, rel=1e-9)
        assert found.score == pytest.approx(score.score_of(found.order), rel=1e-12)
        assert constraints.permits(found.order)


@pytest.mark.parametrize("kind", SCORES)
def test_every_term_is_the_score_s_own(kind: str) -> None:
    """After a climb, and for states met on the way: no compiled term but the one the score would give."""
    constraints = Knowledge(required=[(0, 3)], forbidden=[(1, 2), (2, 1)]).over(range(6))
    score = SCORES[kind](6, 1, constraints)
    chain = chain_of(score, constraints)
    chain.start()
    if kind == "shape":  # a shape may gain by losing a parent, so that nothing is a bound
        assert np.isinf(chain.walk.bound).all()
    else:
        np.testing.assert_allclose(chain.walk.bound, score.bounds(), rtol=1e-9)
    for seed in range(5):
        order = constraints.nearest_order(np.random.default_rng(seed).permutation(6))
        assert chain.climb_from(order)
        reached = chain.order.copy()
        states = chain.walk.state
        if kind == "table":
            terms = chain.walk.table[np.arange(6), states]
        else:
            terms = chain.parents.states.known["score"][states]
            own_graph = score.parent_sets(reached) if kind == "shape" else score.graph(reached)
            assert (chain.edges() == own_graph).all()
        own = score.terms(torch.from_numpy(reached)[None])[0]
        np.testing.assert_allclose(terms[reached], own, rtol=1e-9)


def test_compiled_states_are_least_squares() -> None:
    """Score, best drop and rivals of every state that a search made, from the covariance by textbook formulas."""
    score = linear_score(8)
    chain = chain_of(score)
    chain.climb_from(np.arange(8))
    s, correlation = chain.parents.states, score.correlation
    offset, price, half = score.moves().offset, score.price, score.n_samples / 2

    def bic(v: int, members: list[int]) -> float:
        block = correlation[np.ix_(members, members)]
        residual = 1 - correlation[v, members] @ np.linalg.solve(block, correlation[members, v])
        return float(offset[v] - half * np.log(residual) - price * len(members))

    n_states = int(s.used["n_states"][0])
    assert n_states > 50
    for state in s.known[:n_states]:
        v, k, n_rivals, start, drop = (int(state[name]) for name in parents.STATE.names[:5])
        members = s.pool[start : start + k].tolist()
        rivals = s.pool[start + k : start + k + n_rivals].tolist()
        here = bic(v, members)
        assert state["score"] == pytest.approx(here, abs=1e-7)
        gains = {u: bic(v, sorted([*members, u])) - here for u in range(8) if u != v and u not in members}
        assert rivals == sorted([u for u in gains if gains[u] > 1e-5], key=lambda u: -gains[u])
        without = {u: bic(v, [w for w in members if w != u]) - here for u in members}
        pays = [u for u in without if without[u] > 1e-5]
        assert drop == (max(pays, key=lambda u: without[u]) if pays else -1)


@settings(deadline=None, max_examples=20)
@given(
    d=st.integers(2, 8), seed=st.integers(0, 500), kind=st.sampled_from(["covariance", "expanded"]),
    n_restarts=st.integers(0, 2),
)  # fmt: skip
def test_knowledge_is_obeyed_and_nothing_gets_worse(d: int, seed: int, kind: str, n_restarts: int) -> None:
    constraints = random_knowledge(d, seed)
    score = SCORES[kind](d, seed, constraints)
    start = np.random.default_rng(seed).permutation(d)
    found = polish.polish(score, start, constraints, n_restarts=n_restarts, rng=np.random.default_rng(seed))
    assert constraints.permits(found.order)
    assert sorted(found.order.tolist()) == list(range(d))
    assert not constraints.violated_by(score.graph(found.order))
    assert found.score >= score.score_of(constraints.nearest_order(start))
    assert constraints.permits(best_insertion_order(score, constraints))


@pytest.mark.parametrize("kind", EVERY)
def test_compiled_insertion_is_insertion_by_terms(kind: str) -> None:
    constraints = random_knowledge(7, 3)
    score = EVERY[kind](7, 3, constraints)
    by_terms = Sweeps(score, constraints, Deadline(None), 0).insert_all()
    assert best_insertion_order(score, constraints).tolist() == by_terms.tolist()


def test_the_same_seed_gives_the_same_order_and_threads_do_not_matter() -> None:
    score = linear_score(20)
    options = {"n_restarts": 2 * polish.RESTARTS_PER_CHAIN}
    start, n_threads = np.arange(20), torch.get_num_threads()
    found = []
    for threads in (1, 2, 2):
        torch.set_num_threads(threads)
        found.append(polish.polish(score, start, rng=np.random.default_rng(5), **options))
    torch.set_num_threads(n_threads)
    assert found[0].order.tolist() == found[1].order.tolist() == found[2].order.tolist()
    assert found[0].n_moves == found[1].n_moves == found[2].n_moves


def test_states_that_are_forgotten_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    score = linear_score(15)
    expected = polish.polish(score, np.arange(15), n_restarts=5, rng=np.random.default_rng(0))
    monkeypatch.setattr(parents, "FIRST_CAPACITY", 128)
    grown = polish.polish(score, np.arange(15), n_restarts=5, rng=np.random.default_rng(0))
    assert grown.order.tolist() == expected.order.tolist()
    monkeypatch.setattr(parents, "MOST_BYTES", 0)
    forgetful = polish.polish(score, np.arange(15), n_restarts=5, rng=np.random.default_rng(0))
    assert forgetful.score == pytest.approx(expected.score, abs=1e-6)


def test_a_deadline_that_passes_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    score = linear_score(30)
    start = np.arange(30)
    assert polish.polish(score, start, deadline=Deadline(1e-9)).score >= score.score_of(start)
    deadline = Deadline(None)
    monkeypatch.setattr(chain_module, "PAUSE_AFTER", 0)
    looks = iter(range(10_000))
    monkeypatch.setattr(deadline.__class__, "passed", lambda self: next(looks) > 60)
    stopped = polish.polish(score, start, n_restarts=1000, rng=np.random.default_rng(0), deadline=deadline)
    assert next(looks) < 200  # it ended soon after
    assert stopped.score > score.score_of(start)
    assert sorted(best_insertion_order(score, deadline=deadline).tolist()) == list(range(30))


def test_every_move_along_variances_is_the_score_s_own() -> None:
    """After each move, order, factor and gain are those that the score works out; bounds cut nothing off."""
    score = variance_score(9)
    moves = score.moves()
    assert moves is not None
    chain = VarianceChain(moves, Constraints.none(9), Deadline(None), 0)
    s = chain._variances
    moved = 0
    for seed in range(4):
        start = np.random.default_rng(seed).permutation(9)
        sums = score.insertion_sums(torch.from_numpy(start)).numpy()
        for place in range(9):
            chain.settle(start)
            before = chain.total()
            assert before == pytest.approx(sums[place, place], rel=1e-12)
            target = lower_sum(s, place, 0, 8, 1e-12)
            assert sums[place, target] == pytest.approx(sums[place].max(), rel=1e-9)
            assert chain.total() - before == pytest.approx(sums[place, target] - sums[place, place], abs=1e-6)
            expected = ordered_cholesky(score.covariance, torch.from_numpy(s.order)[None])[0]
            np.testing.assert_allclose(np.triu(s.factor).T, expected, atol=1e-9)
            moved += target != place
    assert moved > 10


def test_a_score_made_from_the_linear_one_is_climbed_by_its_own_terms() -> None:
    class Backward(LinearScore):
        def terms(self, orders: torch.Tensor) -> torch.Tensor:
            return super().terms(orders.flip(1)).flip(1)

    score = Backward(linear_values(5))
    assert score.moves() is None
    best = polish.polish(score, np.arange(5), n_restarts=10, rng=np.random.default_rng(0))
    plain = LinearScore(linear_values(5))
    assert best.score == pytest.approx(exact_order(plain, Constraints.none(5)).score, rel=1e-9)


@pytest.mark.parametrize("kind", EVERY)
def test_climbs_from_several_starts_tell_whether_they_agree(kind: str) -> None:
    score = EVERY[kind](7)
    starts = [np.random.default_rng(seed).permutation(7) for seed in range(3)]
    options = {"n_restarts": 10, "n_chases": 30, "rng": np.random.default_rng(0)}
    found = polish.polish(score, starts[0], others=starts[1:], **options)
    assert found.agreed
    assert found.score == pytest.approx(exact_order(score, Constraints.none(7)).score, rel=1e-9)
    assert not polish.polish(score, starts[0]).agreed  # one climb has nobody to agree with


def test_one_that_is_behind_follows_as_often_as_it_may() -> None:
    class Climbing:
        tolerance, n_moves, best_order = 0.0, 0, None

        def __init__(self, *levels: float) -> None:
            self.levels = list(levels)

        @property
        def best(self) -> float:
            return self.levels[0]

        def climb_from(self, order: np.ndarray) -> bool:
            return True

        def restart(self) -> bool:
            self.levels = self.levels[1:] or self.levels
            return True

    deadline = Deadline(None)
    first, second = Climbing(3.0, 5.0), Climbing(1.0, 3.5, 4.0, 5.0)
    assert not polish._chase(first, second, 3, deadline)  # 3.5, then 5.0, then 4.0
    assert polish._chase(first, second, 1, deadline)
    assert not polish._chase(Climbing(1.0), Climbing(2.0), 10, deadline)


def test_restarts_need_a_generator() -> None:
    for score in (linear_score(4), LinearScore(linear_values(4))):
        with pytest.raises(OptionError, match="n_restarts=3 cannot be used without rng"):
            polish.polish(score, np.arange(4), n_restarts=3)


def test_a_score_without_moves_is_polished_by_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert QuadraticScore(linear_values(4)).moves() is None
    score = linear_score(6)
    compiled = polish.polish(score, np.arange(6), n_restarts=5, rng=np.random.default_rng(0))
    monkeypatch.setattr(SparseLinearScore, "moves", lambda _: None)
    assert isinstance(local.climbers(score, Constraints.none(6), Deadline(None))(0), Sweeps)
    swept = polish.polish(score, np.arange(6), n_restarts=5, rng=np.random.default_rng(0))
    assert swept.score == pytest.approx(compiled.score, rel=1e-9)


def test_equal_keys_do_not_mix_states_up(monkeypatch: pytest.MonkeyPatch) -> None:
    score = linear_score(10)
    chain = chain_of(score)
    for keys in (chain.parents.states.member_key, chain.parents.states.owner_key):
        keys[:] = 0  # every state has the same key
    assert chain.climb_from(np.arange(10))
    expected = chain_of(score)
    expected.climb_from(np.arange(10))
    assert chain.order.tolist() == expected.order.tolist()


def test_an_expanding_score_of_one_s_own_is_searched() -> None:
    """Variable v is worth v with parent v - 1 and nothing else: the order must ascend."""

    class Chained(OrderScore):
        name, n_variables = "chained", 6

        def _value(self, v: int, parents: tuple[int, ...]) -> float:
            return (v if v - 1 in parents else 0) - 0.1 * len(parents)

        def expand(self, v: int, parents: tuple[int, ...]) -> Expansion:
            here = self._value(v, parents)
            rivals = np.array([u for u in range(6) if u != v and u not in parents], dtype=np.int64)
            gains = np.array([self._value(v, (*parents, int(u))) - here for u in rivals])
            losses = np.array([here - self._value(v, tuple(p for p in parents if p != u)) for u in parents])
            return Expansion(here, rivals, gains, losses)

        def moves(self) -> ExpandedMoves:
            return ExpandedMoves(self.expand, np.zeros((6, 6), dtype=bool))

        def terms(self, orders: torch.Tensor) -> torch.Tensor:
            rows = [
                [self._value(v, (v - 1,)) if v and v - 1 in o[:t] else 0.0 for t, v in enumerate(o)]
                for o in orders.tolist()
            ]
            return torch.tensor(rows, dtype=torch.float64)

    found = polish.polish(Chained(), np.arange(6)[::-1].copy(), n_restarts=3, rng=np.random.default_rng(0))
    assert found.order.tolist() == list(range(6))


def test_numba_is_imported_when_it_is_needed() -> None:
    command = "import sys, precede.search.polish, precede.search.local; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0


def test_threads_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search and the thread that prepares it both said that they compile."""
    imported = []

    def slow(name: str) -> object:
        imported.append(name)
        time.sleep(0.05)
        return SimpleNamespace(is_kept=lambda: True)

    monkeypatch.setattr("importlib.import_module", slow)
    threads = [threading.Thread(target=local._compiled, args=["nothing"]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert imported == ["precede.runtime.compiled", "precede.search.local.nothing"]


def test_states_of_few_possible_parents_are_those_of_all():
    values = linear_values(30, seed=3)
    near = np.abs(np.subtract.outer(np.arange(30), np.arange(30))) <= 3
    constraints = Constraints(np.zeros((30, 30), bool), near & ~np.eye(30, dtype=bool), np.zeros((30, 30), bool))
    score = LinearAnyScore(values, constraints=constraints)
    assert score.engine.states.near.shape == (30, 7)
    orders = np.array([np.random.default_rng(k).permutation(30) for k in range(5)])
    few = score.engine.terms(orders)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parents, "lists_of", lambda allowed: (np.arange(30)[None], np.array([30])))
        np.testing.assert_array_equal(few, parents.ParentSearch(score.moves()).terms(orders))


def test_required_parents_are_in_the_lists():
    required = np.zeros((9, 9), bool)
    required[8, 0] = True  # far from the others
    near = np.abs(np.subtract.outer(np.arange(9), np.arange(9))) == 1
    score = LinearAnyScore(linear_values(9), constraints=Constraints(required, near | required, required))
    assert score.engine.states.near.shape[1] < 9
    assert score.parent_sets(np.arange(9)[::-1])[8, 0]


def test_a_wide_search_ends_where_all_parents_were_looked_at(monkeypatch):
    looked = []
    make = chain_module.ParentSearch

    def seen(moves, *given, **options):
        looked.append(int(moves.allowed.sum()))
        return make(moves, *given, **options)

    score, start = linear_score(25, seed=2), np.arange(25)[::-1]
    everywhere = polish.polish(score, start, n_restarts=20, rng=np.random.default_rng(0))
    monkeypatch.setattr(chain_module, "EVERYWHERE_UP_TO", 10)
    monkeypatch.setattr(chain_module, "ParentSearch", seen)
    near = polish.polish(score, start, n_restarts=20, rng=np.random.default_rng(0))
    assert len(looked) == 3
    assert max(looked[1:]) < looked[0] == 25 * 24
    assert near.score == pytest.approx(everywhere.score, abs=1e-6)
    again = polish.polish(score, near.order)
    assert again.score == pytest.approx(near.score, abs=1e-6)  # no move is left with all parents
    looked.clear()
    polish.polish(score, start)
    assert len(looked) == 1  # without restarts it is one climb


def test_more_restarts_of_a_wide_search_are_never_worse(monkeypatch):
    monkeypatch.setattr(chain_module, "EVERYWHERE_UP_TO", 10)
    for seed in range(4):
        score = shape_score(20, seed)
        start = np.random.default_rng(seed).permutation(20)
        reached = [polish.polish(score, start, n_restarts=n, rng=np.random.default_rng(0)).score for n in (1, 12)]
        assert reached[1] >= reached[0] - 1e-6
