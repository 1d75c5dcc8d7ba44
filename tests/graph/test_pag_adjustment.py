"""Adjustment where causes may be hidden."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CausalGraph, MixedGraph
from precede.effects.possible import parts_of_class, regressions_in_pag
from precede.effects.regression import HIDDEN_SHARE
from precede.errors import OptionError
from precede.graph.ancestral import ARROW, CIRCLE, TAIL, mag, pag
from precede.graph.dags import is_acyclic
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
    with pytest.raises(OptionError, match=r"cannot be estimated from these columns.*Measure what a and b may share"):
        graph.effect("a", "d", x)
    with pytest.raises(OptionError, match="only the total effect"):
        graph.effect("b", "d", x, kind="direct")
    possible = graph.possible_effects("a", "d", x)
    seen = dag.effect("a", "d", x)
    assert possible.values == (0.0, seen.value)  # a and b share a hidden cause, and a causes nothing; or a causes b
    assert possible.range == (-np.inf, np.inf)
    left = [np.linalg.lstsq(x[:, given], x[:, k], rcond=None)[1][0] for given, k in (([0, 2], 3), ([2], 0))]
    away = HIDDEN_SHARE * np.sqrt(left[0] / left[1] / (1 - HIDDEN_SHARE))  # Cinelli and Hazlett's bound
    assert seen.adjusted_for == ("c",)
    assert possible.effects[1].interval == pytest.approx((seen.interval[0] - away, seen.interval[1] + away), abs=0.01)
    assert possible.interval == (0.0, possible.effects[1].interval[1])
    assert possible.unmeasured == ("b",)
    assert "explains at most 30% of the variance that the other columns leave in" in possible.sentence
    assert "Measure what a and b may share" in possible.sentence
    assert possible.to_dict()["range"] == [None, None]


def test_resampled_pags_widen_an_effect():
    x = np.random.default_rng(0).normal(size=(500, 3))
    x[:, 1] += x[:, 0]
    x[:, 2] += x[:, 1]
    dag = CausalGraph.from_matrix(np.eye(3, k=1), names=list("abc"))
    pag_ = MixedGraph.from_edges([("a", "b", "o->"), ("b", "c", "-->")], list("abc"))
    turned = MixedGraph.from_edges([("a", "b", "o->"), ("c", "b", "-->")], list("abc"))
    alone = replace(dag, pag=pag_)
    doubted = replace(alone, resampled=np.array([pag_.ends, turned.ends]))
    value = alone.effect("b", "c", x)
    assert value.interval[0] > 0.8
    sure = replace(alone, resampled=np.array([pag_.ends] * 2))
    left = [np.linalg.lstsq(x[:, [0]], x[:, k] - slope * x[:, 1], rcond=None)[1][0] for k, slope in ((2, 1), (1, 0))]
    away = HIDDEN_SHARE * np.sqrt(left[0] / left[1] / (1 - HIDDEN_SHARE))  # of a cause that the marks rule out
    narrow, wide = value.interval, sure.effect("b", "c", x).interval
    assert np.abs(np.subtract(wide, narrow) - [-away, away]).max() < 0.03
    assert sure.possible_effects("b", "c", x).interval == wide
    assert "if marks are wrong and an unmeasured cause" in sure.possible_effects("b", "c", x).sentence
    assert "if marks are wrong" not in alone.possible_effects("b", "c", x).sentence
    found = doubted.effect("b", "c", x)
    assert (found.value, found.probability) == (value.value, 0.5)
    assert found.interval[0] == 0
    assert found.interval[1] >= value.interval[1]
    possible = doubted.possible_effects("b", "c", x)
    assert (possible.values, possible.interval[0]) == ((value.value,), 0)
    back = alone.effect("c", "b", x)
    assert back.ruled_out
    assert back.interval == (0, 0)
    assert doubted.effect("c", "b", x).interval[1] > 0.3


def members_of(ends: np.ndarray) -> list[np.ndarray]:
    """Every MAG of the class, by trying all marks."""
    pairs = [(i, j) for i, j in combinations(range(len(ends)), 2) if ends[i, j]]
    found = []
    for marks in product([(ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW)], repeat=len(pairs)):
        trial = np.zeros_like(ends)
        for (i, j), (at_j, at_i) in zip(pairs, marks, strict=True):
            trial[i, j], trial[j, i] = at_j, at_i
        arrows = (trial == ARROW) & (trial.T == TAIL)
        if ((ends != CIRCLE) & (ends != trial)).any() or not is_acyclic(arrows):
            continue
        both = [pair for pair, marks_ in zip(pairs, marks, strict=True) if marks_ == (ARROW, ARROW)]
        whole = np.zeros((len(ends) + len(both),) * 2, dtype=bool)
        whole[: len(ends), : len(ends)] = arrows
        for k, pair in enumerate(both, len(ends)):
            whole[k, list(pair)] = True
        if np.array_equal(mag(whole, range(len(ends), len(whole))), trial) and np.array_equal(pag(trial), ends):
            found.append(trial)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_parts_of_the_class_are_those_of_its_graphs(seed):
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((6, 6)) < 0.4, 1)
    ends = pag(mag(edges, [0]))
    members = members_of(ends)
    assert members
    for variable in range(len(ends)):
        parts = list(parts_of_class(ends, variable))
        at = {tuple(part[:, variable]) for part in parts}
        assert at == {tuple(member[:, variable]) for member in members}
        for member in members:  # what a part settles is so in all graphs with its marks
            part = next(part for part in parts if np.array_equal(part[:, variable], member[:, variable]))
            assert ((part == CIRCLE) | (part == member)).all()


@pytest.mark.parametrize("seed", range(12))
def test_an_effect_has_a_limit_only_where_every_graph_of_the_class_gives_it(seed):
    rng = np.random.default_rng(100 + seed)
    ends = pag(mag(np.triu(rng.random((6, 6)) < 0.4, 1), [0]))
    members = members_of(ends)
    for i, j in permutations(range(len(ends)), 2):
        regressions, behind = regressions_in_pag(ends, (i, j))
        each = [adjustment_in_pag(member, i, j) for member in members]
        assert bool(behind) == any(fixed is NoSet.NOT_IDENTIFIED for fixed in each)
        assert (None in regressions) >= all(fixed is NoSet.NO_EFFECT for fixed in each)
