"""Agreement of marks."""

from __future__ import annotations

import numpy as np
import pytest

from precede import CausalGraph, MixedGraph, evaluate
from precede.errors import GraphError

TRUE = MixedGraph.from_edges([("a", "b", "-->"), ("b", "c", "<->")], list("abcd"))


def test_each_share_by_hand():
    found = MixedGraph.from_edges([("a", "b", "o->"), ("c", "b", "<->"), ("c", "d", "-->")], list("dcba"))
    metrics = evaluate(found, TRUE)
    assert metrics.shd == 2  # a - b has another mark, c - d is too much
    assert metrics.adjacency_precision == pytest.approx(2 / 3)
    assert metrics.adjacency_recall == 1
    assert metrics.arrow_precision == pytest.approx(3 / 4)
    assert metrics.arrow_recall == 1
    assert metrics.tail_precision == 0
    assert metrics.tail_recall == 0
    assert metrics.ancestor_precision == 0
    assert metrics.ancestor_recall == 0
    assert metrics.to_dict()["adjacency_f1"] == pytest.approx(0.8)


def test_a_dag_counts_as_what_it_says_where_causes_may_be_hidden():
    dag = CausalGraph.from_matrix(np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]]), names=list("abc"))
    assert evaluate(dag, MixedGraph.from_edges([("a", "b", "o->"), ("c", "b", "o->")], list("abc"))).shd == 0


def test_other_variables_are_refused():
    with pytest.raises(GraphError, match="same variables"):
        evaluate(MixedGraph.from_edges([("a", "x", "-->")]), TRUE)
