"""Pruning by significance of smooth effects: every option, and what must not change."""

import numpy as np
import pytest

from precede.errors import DataError, OptionError
from precede.graph.dags import full_dag
from precede.pruning.gam import fit_gam, prune_by_gam

TRUTH = np.array([[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], dtype=bool)


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5))
    x[:, 2] = np.sin(2 * x[:, 0]) + x[:, 1] ** 2 / 2 + 0.4 * x[:, 2]
    x[:, 3] = 0.6 * x[:, 2] + 0.5 * x[:, 3]
    return x


@pytest.fixture(scope="module")
def candidates():
    return full_dag(np.array([4, 0, 1, 2, 3]))


@pytest.mark.parametrize("test", ["wood", "f"])
def test_the_true_parents_are_left(values, candidates, test):
    before = values.copy(), candidates.copy()
    pruned = prune_by_gam(values, candidates, test=test)
    np.testing.assert_array_equal(pruned.edges, TRUTH)
    np.testing.assert_array_equal(np.isnan(pruned.p_values), ~candidates)
    assert (pruned.strengths[~candidates] == 0).all()
    assert pruned.strengths[2, 3] > 0.6
    assert pruned.strengths[0, 3] < 0.2
    np.testing.assert_array_equal(values, before[0])
    np.testing.assert_array_equal(candidates, before[1])


@pytest.mark.parametrize("test", ["wood", "f"])
def test_each_variable_is_one_additive_model_of_its_parents(values, candidates, test):
    pruned = prune_by_gam(values, candidates, test=test)
    parents = np.flatnonzero(candidates[:, 3])
    alone = fit_gam(values[:, parents], values[:, 3], penalized=test == "wood")
    np.testing.assert_allclose(pruned.p_values[parents, 3], alone.p_values, rtol=1e-6)
    np.testing.assert_allclose(pruned.strengths[parents, 3], alone.strengths, rtol=1e-6)


def test_the_basis_shrinks_with_many_parents():
    x = np.random.default_rng(0).normal(size=(90, 13))
    pruned = prune_by_gam(x, full_dag(np.arange(13)))
    np.testing.assert_allclose(pruned.p_values[:12, 12], fit_gam(x[:, :12], x[:, 12]).p_values, rtol=1e-6)


def test_cutoff_decides(values, candidates):
    p = prune_by_gam(values, candidates).p_values
    cutoff = float(np.sort(p[candidates & ~TRUTH])[3])
    loose = prune_by_gam(values, candidates, cutoff=cutoff)
    assert loose.edges.sum() == TRUTH.sum() + 4  # a p-value at the cutoff keeps its edge


def test_required_edges_stay(values, candidates):
    required = np.zeros((5, 5), dtype=bool)
    required[4, 0] = True
    required[3, 4] = True
    pruned = prune_by_gam(values, TRUTH, required=required)
    np.testing.assert_array_equal(pruned.edges, TRUTH | required)
    assert np.isfinite(pruned.p_values[required]).all()


def test_an_empty_graph_stays_empty(values):
    pruned = prune_by_gam(values, np.zeros((5, 5), dtype=bool))
    assert not pruned.edges.any()
    assert np.isnan(pruned.p_values).all()


@pytest.mark.parametrize(("option", "value"), [("cutoff", 0), ("cutoff", 1.5), ("cutoff", "low"), ("test", "wald")])
def test_bad_options_are_refused(values, candidates, option, value):
    with pytest.raises(OptionError, match=option):
        prune_by_gam(values, candidates, **{option: value})


def test_misfitting_sizes_are_refused(values, candidates):
    with pytest.raises(DataError, match="5 columns but the graph has shape"):
        prune_by_gam(values, candidates[:4, :4])
    with pytest.raises(DataError, match="4 terms needs at least 7 samples"):
        prune_by_gam(values[:6], candidates)
