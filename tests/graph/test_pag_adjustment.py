"""Adjustment where causes may be hidden."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CausalGraph, MixedGraph
from precede.errors import OptionError
from precede.graph.ancestral import mag, pag
from precede.graph.pag_adjustment import NoSet, adjustment_in_pag


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_set_gives_the_true_effect_whatever_is_hidden(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(5, 10))
    edges = np.triu(rng.random((d, d)) < rng.uniform(1.5, 4) / (d - 1), 1)
    weights = np.where(edges, rng.normal(size=(d, d)), 0.0)
    spread = np.linalg.inv(np.eye(d) - weights)  # [i, j]: total effect of i on j
    covariance = spread.T @ spread
    seen = np.sort(rng.permutation(d)[: d - 2])
    ends = pag(mag(edges, sorted(set(range(d)) - set(seen.tolist()))))
    for i in range(len(seen)):
        for j in range(len(seen)):
            fixed = adjustment_in_pag(ends, i, j) if i != j else NoSet.NOT_IDENTIFIED
            true = spread[seen[i], seen[j]]
            if fixed is NoSet.NO_EFFECT:
                assert true == pytest.approx(0.0, abs=1e-9)
            elif not isinstance(fixed, NoSet):
                columns = seen[[i, *fixed.tolist()]]
                found = np.linalg.solve(covariance[np.ix_(columns, columns)], covariance[columns, seen[j]])[0]
                assert found == pytest.approx(true, abs=1e-7)


def test_effects_go_by_the_pag_or_say_what_to_measure():
    x = np.random.default_rng(0).normal(size=(500, 4))
    x[:, 1] += x[:, 0] + x[:, 2]
    x[:, 3] += 2 * x[:, 1]
    dag = CausalGraph.from_matrix(
        np.array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]]), names=list("abcd")
    )
    marks = [("a", "b", "o->"), ("c", "b", "o->"), ("b", "d", "-->")]
    graph = CausalGraph(
        dag.edges, dag.strengths, dag.positions, dag.names, pag=MixedGraph.from_edges(marks, list("abcd"))
    )
    assert graph.effect("b", "d", x).value == pytest.approx(2, abs=0.15)
    assert graph.effect("d", "b", x).value == 0
    assert graph.possible_effects("b", "d", x).range == (graph.effect("b", "d", x).value,) * 2
    with pytest.raises(OptionError, match=r"cannot be estimated from these columns.*Measure what a and d may share"):
        graph.effect("a", "d", x)
    with pytest.raises(OptionError, match="only the total effect"):
        graph.effect("b", "d", x, kind="direct")
