"""Interventions: targets are read from anything, rows that were set explain nothing, and directions follow."""

import numpy as np
import pandas as pd
import pytest
import torch

from precede.baselines import EqVar
from precede.corl import CORL
from precede.data.interventions import read_targets
from precede.data.load import load_table
from precede.errors import DataError, OptionError
from precede.graph.dags import cpdag, told_by_targets
from precede.knowledge import Constraints, Knowledge
from precede.scores.build import build_score

QUICK = {"n_iterations": 2, "batch_size": 4, "random_state": 0, "verbose": False, "diagnose": False}


def chain(n=600, seed=0, levels=False):
    """a -> b -> c; b is set in a third of the rows, a in another."""
    rng = np.random.default_rng(seed)
    what = np.repeat(["", "b", "a"], n // 3)
    a = np.where(what == "a", 3 * rng.normal(size=n), rng.normal(size=n))
    b = np.where(what == "b", 2 * rng.normal(size=n), a + rng.normal(size=n))
    c = b + rng.normal(size=n)
    frame = pd.DataFrame({"c": c, "b": b, "a": a})
    if levels:
        frame = pd.DataFrame({k: pd.cut(frame[k], [-99, -0.5, 0.5, 99], labels=list("lmh")).astype(str) for k in frame})
    return frame.assign(set=what)


@pytest.mark.parametrize(
    "given",
    [
        ["", "b", "a;b", None, float("nan"), "observational"],
        [[], ["b"], ("a", "b"), [], [], []],
        np.array([[0, 0], [0, 1], [1, 1], [0, 0], [0, 0], [0, 0]]),
        pd.DataFrame({"b": [0, 1, 1, 0, 0, 0], "a": [0, 0, 1, 0, 0, 0]}),
    ],
)
def test_targets_are_read_from_anything(given):
    expected = np.array([[0, 0], [0, 1], [1, 1], [0, 0], [0, 0], [0, 0]]) != 0
    np.testing.assert_array_equal(read_targets(given, 6, ["a", "b"]), expected)


def test_targets_that_cannot_be():
    with pytest.raises(DataError, match="interventions name 'x', which is not a variable"):
        read_targets(["a", "x"], 2, ["a", "b"])
    with pytest.raises(DataError, match="speak of 1 rows and 2 variables, the data has 2 and 2"):
        read_targets(["a"], 2, ["a", "b"])
    with pytest.raises(DataError, match="'a' was set in every row"):
        read_targets(["a", "a;b"], 2, ["a", "b"])
    with pytest.raises(DataError, match="interventions names 'which', which is not a column"):
        load_table(chain(), interventions="which")
    with pytest.raises(OptionError, match=r"this method \(EqVar\) does not take interventions"):
        EqVar(verbose=False).fit(chain(), interventions="set")
    with pytest.raises(OptionError, match="score='gp' does not take interventions"):
        CORL(score="gp", **QUICK).fit(chain(), interventions="set")


@pytest.mark.parametrize("levels", [False, True])
def test_interventions_direct_a_chain(levels):
    frame = chain(3000, levels=levels)
    before = frame.copy()
    model = CORL(**QUICK).fit(frame, interventions="set")
    pd.testing.assert_frame_equal(frame, before)
    assert [(i, j) for i, j, _ in model.graph_.edge_list()] == [("a", "b"), ("b", "c")]
    assert model.cpdag_.to_numpy().sum() == 2  # both are directed
    without = CORL(**QUICK).fit(frame[frame["set"] == ""].drop(columns="set"))
    assert without.cpdag_.to_numpy().sum() == 4
    told = model.diagnostics_["told_directions"]
    assert sorted(map(tuple, told)) == [("a", "b"), ("b", "c")]
    assert any("2,000 of 3,000 rows are interventional: " in remark for remark in model.diagnostics_["remarks"])
    shuffled = frame.sample(frac=1, random_state=1)[["set", "a", "c", "b"]]
    again = CORL(**QUICK).fit(shuffled, interventions="set")
    assert {(i, j) for i, j, _ in again.graph_.edge_list()} == {("b", "c"), ("a", "b")}


def test_weights_come_from_rows_in_which_the_effect_was_not_set():
    model = CORL(**QUICK).fit(chain(3000), interventions="set")
    assert model.weights_.loc["a", "b"] == pytest.approx(1, abs=0.05)
    assert model.weights_.loc["b", "c"] == pytest.approx(1, abs=0.05)


def test_terms_leave_out_a_variables_own_rows():
    table = load_table(chain(300), interventions="set")
    score = build_score("sparse-linear", table, Constraints.none(3), device=torch.device("cpu"))
    rows = ~table.targets[:, 1]
    residual = np.polyfit(table.values[rows, 2], table.values[rows, 1], 1, full=True)[1][0] / rows.sum()
    share = residual / table.values[rows, 1].var()
    expected = -rows.sum() / 2 * np.log(share) - 2 * np.log(rows.sum()) / 2
    assert score.local[1].of(1, (2,)) == pytest.approx(expected)
    assert score.graph(np.array([2, 1, 0]))[:, 1].tolist() == [False, False, True]
    assert float(score.terms(torch.tensor([[2, 1, 0]]))[0, 1]) == pytest.approx(expected)


def test_what_targets_tell():
    edges = np.zeros((4, 4), dtype=bool)
    edges[0, 1] = edges[1, 2] = edges[2, 3] = True
    nothing = np.zeros((1, 4), dtype=bool)
    assert told_by_targets(edges, nothing).sum() == 0
    both = np.array([[True, True, False, False]])
    np.testing.assert_array_equal(np.argwhere(told_by_targets(edges, both)), [[1, 2], [2, 3]])  # and what it implies
    assert cpdag(edges).sum() == 6


def test_resamples_and_knowledge_keep_targets():
    table = load_table(chain(), interventions="set")
    resample = table.with_rows(np.array([0, 250, 599]), np.random.default_rng(0))
    np.testing.assert_array_equal(resample.targets, table.targets[[0, 250, 599]])
    found = CORL(**QUICK).bootstrap(table, n_resamples=5, random_state=0)
    assert found.edge_probability.loc["b", "c"] == 1
    model = CORL(knowledge=Knowledge(forbidden=[("a", "b")]), **QUICK).fit(table)
    assert model.adjacency_matrix_.loc["a", "b"] == 0
    exact = CORL(search="exact", verbose=False, diagnose=False).fit(table)
    assert exact.adjacency_matrix_.loc["b", "c"] == 1


def test_an_environment_of_unknown_targets_is_a_root():
    frame = chain(3000).rename(columns={"set": "batch"})
    model = CORL(knowledge=Knowledge(roots=["batch"]), **QUICK).fit(frame.replace({"batch": {"": "none"}}))
    assert model.adjacency_matrix_["batch"].sum() == 0
