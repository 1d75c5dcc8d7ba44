"""Which score a table of levels gets: the one whose graph predicts rows that were left out best."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import precede as pc
from precede.corl.levels import CANDIDATES, choose_for_levels, held_out_likelihood
from precede.corl.vote import learn_graph
from precede.data.table import Table
from precede.kinds import ColumnKind
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline


def levels(values):
    values = np.asarray(values, dtype=float)
    kinds = [
        ColumnKind("binary" if column.max() == 1 else "categorical", tuple(np.arange(column.max() + 1)), ())
        for column in values.T
    ]
    return Table(values, tuple("abcdefgh"[: values.shape[1]]), True, kinds=tuple(kinds))


def parity(rows, seed):
    """A column that is the parity of two others, but for a tenth of the rows: no pair shows it."""
    rng = np.random.default_rng(seed)
    values = rng.integers(2, size=(rows, 3))
    return levels(np.column_stack([values[:, 0], values[:, 1], values[:, 0] ^ values[:, 1] ^ (rng.random(rows) < 0.1)]))


def added_up(rows, seed):
    """A binary column to which four ternary ones add up: 81 combinations, of which each is rare."""
    rng = np.random.default_rng(seed)
    causes = rng.integers(3, size=(rows, 4))
    return levels(np.column_stack([causes, rng.random(rows) < 1 / (1 + np.exp(-1.5 * (causes - 1).sum(axis=1)))]))


def test_shares_of_one_parent_by_hand():
    table = levels([[0, 0], [0, 0], [1, 1], [1, 0], [0, 1], [1, 1]])
    taught = np.array([True, True, True, True, False, False])
    own = np.array([3.5, 1.5]) / 5  # three and one of four, half a row each added
    within = {0: (np.array([2, 0]) + own) / 3, 1: (np.array([1, 1]) + own) / 3}
    expected = np.log(within[0][1]) + np.log(within[1][1])
    assert held_out_likelihood(table, 1, np.array([0]), taught) == pytest.approx(expected)
    assert held_out_likelihood(table, 1, np.array([], dtype=int), taught) == pytest.approx(2 * np.log(own[1]))


def test_interactions_and_many_small_effects_are_both_predicted():
    for make, effect in ((parity, 2), (added_up, 4)):
        table = make(1000, 0)
        taught = np.arange(1000) % 2 == 0
        each = [held_out_likelihood(table, effect, np.array(p), taught) for p in ([], [0], list(range(effect)))]
        assert each[2] > max(each[:2]) + 30


def test_effects_that_add_up_are_those_of_a_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    table = added_up(600, 1)
    taught = np.arange(600) < 300
    design = np.column_stack([table.values[:, k, None] == [1, 2] for k in range(4)]).astype(float)
    peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(design[taught], table.values[taught, 4])
    theirs = peer.predict_log_proba(design[~taught])[np.arange(300), table.values[~taught, 4].astype(int)].sum()
    ours = held_out_likelihood(table, 4, np.arange(4), taught)
    assert ours == pytest.approx(theirs, abs=1.0)  # the peer has no penalty on the intercept, and one contrast


@pytest.mark.parametrize("seed", range(3))
def test_the_choice_fits_the_mechanism(seed):
    free = Constraints.none(3)
    assert choose_for_levels(parity(400, seed), free, Deadline(None)).name in ("discrete-bic", "bdeu")
    chosen = choose_for_levels(added_up(400, seed), Constraints.none(5), Deadline(None))
    assert chosen.name != "discrete-bic"
    assert set(chosen.figures) == {f"held_out_{name}" for name in CANDIDATES}


def test_auto_says_which_and_why_and_obeys_what_is_known():
    data = pc.simulate("er", 6, 1.0, "discrete", 300, random_state=0).data
    knowledge = pc.Knowledge(forbidden=list(itertools.permutations(list(data.columns)[:3], 2)))
    model = pc.CORL(knowledge=knowledge, random_state=0, verbose=False, diagnose=False).fit(data)
    choice = model.diagnostics_["score_choice"]
    assert choice["name"] in CANDIDATES
    assert f"score={choice['name']!r} predicts rows that were left out best" in choice["reason"]
    assert not model.adjacency_matrix_.iloc[:3, :3].to_numpy().any()


def test_no_time_takes_the_usual_score():
    passed = Deadline(None)
    passed.cancel()
    assert choose_for_levels(parity(200, 0), Constraints.none(3), passed).name == "discrete-bic"


@given(st.permutations(range(5)), st.integers(0, 3))
def test_the_likelihood_does_not_depend_on_the_order_of_columns_or_rows(places, seed):
    table, rng = added_up(120, seed), np.random.default_rng(seed)
    rows = rng.permutation(120)
    taught = np.arange(120) % 3 > 0
    other = table.rearranged(rows, np.array(places))
    target = places.index(4)
    parents = np.array([k for k in range(5) if k != target])
    assert held_out_likelihood(other, target, parents, taught[rows]) == pytest.approx(
        held_out_likelihood(table, 4, np.arange(4), taught)
    )


def test_a_level_that_the_taught_rows_lack_is_no_surprise_to_any_score():
    values = np.column_stack([np.arange(60) % 3, (np.arange(60) // 2) % 2, np.arange(60) >= 58]).astype(float)
    table = levels(values)
    taught = np.arange(60) < 50  # the last column is constant there
    for name in CANDIDATES:
        _, _, edges = learn_graph(
            name, table.only(taught), Constraints.none(3), torch.device("cpu"), np.random.default_rng(0), Deadline(None)
        )
        assert not edges[:, 2].any()
    assert np.isfinite(held_out_likelihood(table, 2, np.array([0, 1]), taught))


def test_with_hidden_causes_allowed_no_graph_is_learned_to_choose():
    data = pc.simulate("er", 5, 1.0, "discrete", 300, random_state=0).data
    model = pc.CORL(hidden="allowed", random_state=0, verbose=False, diagnose=False).fit(data)
    assert not model.diagnostics_["score_choice"]["figures"]
