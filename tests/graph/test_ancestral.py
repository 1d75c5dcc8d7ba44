"""MAGs and PAGs of DAGs with hidden variables."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.graph.adjustment import d_separated
from precede.graph.ancestral import ARROW, CIRCLE, TAIL, definite_ancestors, mag, orient, pag, unshielded
from precede.knowledge import Knowledge


def random_dag(seed: int, d: int, share: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    places = rng.permutation(d)
    return np.triu(rng.random((d, d)) < share, 1)[np.ix_(places, places)]


def connected(ends: np.ndarray, a: int, b: int, given_: set[int]) -> bool:
    """m-connection by walking, independent of the library's moral graphs."""
    ancestors = {k for k in range(len(ends)) for s in given_ if definite_ancestors(ends)[k, s]} | given_
    front, seen = [(-1, a)], {(-1, a)}
    while front:
        last, x = front.pop()
        for y in map(int, np.flatnonzero(ends[x])):
            if last >= 0:
                collider = ends[last, x] == ARROW and ends[y, x] == ARROW
                if (collider and x not in ancestors) or (not collider and x in given_):
                    continue
            if y == b:
                return True
            if y != a and (x, y) not in seen:
                seen.add((x, y))
                front.append((x, y))
    return False


def independences(ends: np.ndarray) -> frozenset[tuple[int, int, tuple[int, ...]]]:
    d = len(ends)
    return frozenset(
        (a, b, chosen)
        for a, b in combinations(range(d), 2)
        for size in range(d - 1)
        for chosen in combinations([k for k in range(d) if k not in (a, b)], size)
        if not connected(ends, a, b, set(chosen))
    )


def shared_marks(true: np.ndarray) -> np.ndarray:
    """The PAG by looking at every ancestral graph with the same edges and independences."""
    pairs = [(i, j) for i, j in combinations(range(len(true)), 2) if true[i, j]]
    wanted, found = independences(true), np.zeros_like(true)
    for marks in product([(TAIL, ARROW), (ARROW, TAIL), (ARROW, ARROW)], repeat=len(pairs)):
        ends = np.zeros_like(true)
        for (i, j), (at_i, at_j) in zip(pairs, marks, strict=True):
            ends[j, i], ends[i, j] = at_i, at_j
        if (definite_ancestors(ends) & (ends == ARROW).T).any() or independences(ends) != wanted:
            continue
        found = np.where(found == 0, ends, np.where(found == ends, ends, CIRCLE))
    return found


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 7), st.floats(0.3, 0.6))
def test_the_pag_holds_what_all_ancestral_graphs_with_the_same_independences_share(seed, d, share):
    true = mag(random_dag(seed, d, share), range(d - 4))  # four are seen
    assert np.array_equal(pag(true), shared_marks(true))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.2, 0.5))
def test_a_mag_has_the_independences_of_its_dag(seed, share):
    edges = random_dag(seed, 7, share)
    ends = mag(edges, [0, 1])
    for a, b in combinations(range(5), 2):
        for chosen in combinations([k for k in range(5) if k not in (a, b)], 2):
            mask = np.isin(np.arange(7), [k + 2 for k in chosen])
            assert d_separated(edges, a + 2, b + 2, mask) != connected(ends, a, b, set(chosen))


def test_rule_4_needs_the_judge():
    true = np.zeros((4, 4), dtype=int)  # 0 -> 1 <-> 2 <-> 3, 1 -> 3: the path discriminates 2
    true[0, 1], true[1, 0] = ARROW, TAIL
    true[1, 2] = true[2, 1] = true[2, 3] = true[3, 2] = ARROW
    true[1, 3], true[3, 1] = ARROW, TAIL
    found = pag(true)
    assert found[2, 3] == found[3, 2] == found[1, 2] == ARROW
    other = orient(true != 0, [(0, 1, 2)], lambda *_: False)
    assert other[3, 2] == TAIL


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_marks_obey_knowledge_whatever_the_colliders_say(seed):
    rng = np.random.default_rng(seed)
    d = 7
    edges = random_dag(seed, d, 0.5)
    wrong = random_dag(seed + 1, d, 0.5)  # colliders of another graph
    order = rng.permutation(d)
    tiers = [[int(k) for k in order[:2]], [int(k) for k in order[2:4]]]
    arrows = [(int(i), int(j)) for i, j in combinations(order, 2) if edges[i, j] or edges[j, i]]
    known = Knowledge(tiers=tiers, required=arrows[:1], forbidden=[(j, i) for i, j in arrows[-1:]]).over(range(d))
    adjacent = edges | edges.T
    colliders = [t for t in unshielded(adjacent) if wrong[t[0], t[1]] and wrong[t[2], t[1]]]
    ends = orient(adjacent, colliders, lambda *_: bool(rng.integers(2)), known)
    causes = definite_ancestors(ends)
    assert not (causes & known.before.T).any()
    assert not (causes & (ends == ARROW).T).any()
    assert (ends[known.required & adjacent] == ARROW).all()
    assert (ends.T[known.required & adjacent] == TAIL).all()
    assert (ends.T[~known.allowed & adjacent] == ARROW).all()


@pytest.mark.parametrize("hidden", [[], [0]])
def test_hidden_variables_are_left_out(hidden):
    assert len(mag(random_dag(0, 5, 0.5), hidden)) == 5 - len(hidden)
