"""Marks in letters, in words, and the DAG that has them."""

import numpy as np
import pytest

import precede as pc
from precede.constraint import PC
from precede.constraint.marks import ARROW, CIRCLE, MEANING, TAIL, in_words, mark, marked_edges, member_dag
from precede.errors import OptionError
from precede.graph.dags import is_acyclic
from precede.graph.equivalence import cpdag


def ends(d: int, *edges: tuple[int, int, int, int]) -> np.ndarray:
    """Marks at both ends of (i, j, mark at i, mark at j)."""
    matrix = np.zeros((d, d), dtype=np.int64)
    for i, j, at_i, at_j in edges:
        matrix[i, j], matrix[j, i] = at_i, at_j
    return matrix


def test_every_mark_has_a_meaning_in_one_of_its_directions() -> None:
    for a in (TAIL, ARROW, CIRCLE):
        for b in (TAIL, ARROW, CIRCLE):
            assert {mark(a, b), mark(b, a)} & set(MEANING)


def test_marks_are_written_towards_the_arrow() -> None:
    found = marked_edges(ends(4, (0, 1, ARROW, TAIL), (1, 2, ARROW, ARROW), (2, 3, ARROW, CIRCLE)), list("abcd"))
    assert found == [("b", "a", "-->"), ("b", "c", "<->"), ("d", "c", "o->")]
    assert in_words(found)[0] == "1 edge marked a --> b: the first causes the second."


@pytest.mark.parametrize("seed", range(10))
def test_a_class_gives_one_of_its_members(seed: int) -> None:
    edges = np.triu(np.random.default_rng(seed).random((6, 6)) < 0.4, 1)
    pattern = cpdag(edges).astype(bool)
    marks = np.where(pattern | pattern.T, np.where(pattern, TAIL, ARROW), 0)
    found, whole = member_dag(marks, np.arange(6))
    assert whole
    assert np.array_equal(cpdag(found), cpdag(edges))


def test_a_hidden_cause_is_no_arrow_and_a_circle_may_be_a_tail() -> None:
    found, whole = member_dag(ends(3, (0, 1, ARROW, ARROW), (1, 2, CIRCLE, ARROW)), np.arange(3))
    assert whole
    assert found.astype(int).tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_marks_that_contradict_each_other_still_give_a_graph() -> None:
    found, whole = member_dag(ends(3, (0, 1, TAIL, ARROW), (1, 2, TAIL, ARROW), (2, 0, TAIL, ARROW)), np.arange(3))
    assert not whole
    assert is_acyclic(found)
    assert found.sum() == 3


def test_without_the_package_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("precede.constraint.methods.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"pip install 'precede\[constraint\]'"):
        PC().fit(np.random.default_rng(0).normal(size=(50, 3)))
    with pytest.raises(OptionError, match="causal-learn"):
        pc.discover(np.random.default_rng(0).normal(size=(50, 3)), method="fci")


def test_options_are_checked_at_fit() -> None:
    with pytest.raises(OptionError, match="alpha"):
        PC(alpha=2.0).fit(np.random.default_rng(0).normal(size=(50, 3)))
