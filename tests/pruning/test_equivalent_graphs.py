"""Members of an equivalence class: the same one, whatever the rounding, the rows or the columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CORL, simulate
from precede.data.load import load_table
from precede.data.table import canonical
from precede.graph.dags import class_of, consistent_extension, cpdag, is_acyclic, topological_order
from precede.knowledge import Constraints, Knowledge
from precede.pruning.order_to_graph import choose_member


def random_dag(d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    upper = np.triu(rng.random((d, d)) < 0.4, 1)
    edges = np.zeros((d, d), dtype=bool)
    edges[np.ix_(order, order)] = upper
    return edges


@given(d=st.integers(2, 8), seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_an_extension_is_a_member_and_depends_on_pattern_and_wish_alone(d, seed):
    edges = random_dag(d, seed)
    wish = np.random.default_rng(seed).permutation(d)
    member = consistent_extension(cpdag(edges), wish)
    assert is_acyclic(member)
    assert (cpdag(member) == cpdag(edges)).all()
    again = consistent_extension(cpdag(member), wish)
    assert (again == member).all()


@given(d=st.integers(2, 7), seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_every_start_leads_to_the_same_member(d, seed):
    edges = random_dag(d, seed)
    values = np.random.default_rng(seed).laplace(size=(200, d)) @ (np.eye(d) + edges)
    other = consistent_extension(cpdag(edges), np.random.default_rng(seed + 1).permutation(d))
    free = Constraints.none(d)
    one, two = (choose_member(e, topological_order(e), free, values, None) for e in (edges, other))
    assert (one.edges == two.edges).all()
    assert (one.order == two.order).all()
    assert one.chosen == two.chosen
    assert (cpdag(one.edges) == cpdag(edges)).all()
    loose = cpdag(edges) & cpdag(edges).T
    assert set(one.chosen) == {(i, j) for i, j in np.argwhere(one.edges & (loose > 0)).tolist()}


@given(d=st.integers(2, 7), seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_knowledge_is_obeyed(d, seed):
    edges = random_dag(d, seed)
    rng = np.random.default_rng(seed)
    present = np.argwhere(edges).tolist()
    required = [tuple(present[k]) for k in rng.permutation(len(present))[:1]]
    constraints = Knowledge(required=required).over(range(d))
    member = choose_member(edges, topological_order(edges), constraints, rng.laplace(size=(200, d)), None)
    assert not constraints.violated_by(member.edges)
    assert constraints.permits(member.order)
    assert (cpdag(member.edges) == cpdag(edges)).all()
    assert (class_of(edges, constraints.directs(edges)) <= cpdag(edges)).all()


def test_the_policy_decides_where_residuals_are_gaussian():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=400)
    values = np.column_stack([cause, cause + rng.normal(size=400)])
    edges = np.array([[False, True], [False, False]])
    free = Constraints.none(2)
    assert choose_member(edges, np.array([0, 1]), free, values, np.array([1, 0])).chosen == {(1, 0): "policy"}
    assert choose_member(edges, np.array([0, 1]), free, values, None).chosen == {(0, 1): "columns"}


@pytest.mark.parametrize("score", ["sparse-linear", "nongaussian", "linear"])
def test_rows_and_columns_in_another_sequence(score):
    data = simulate(n_variables=6, degree=2, n_samples=300, standardize=score != "linear", random_state=3).data
    options = {"score": score, "n_iterations": 10, "diagnose": False, "random_state": 0, "verbose": False}
    model = CORL(**options).fit(data)
    shuffled = data.sample(frac=1, random_state=1)[list(data.columns[::-1])]
    again = CORL(**options).fit(shuffled)
    assert again.adjacency_matrix_.loc[data.columns, data.columns].equals(model.adjacency_matrix_)
    assert again.causal_order_ == model.causal_order_
    assert again.score_ == model.score_
    if score == "sparse-linear":
        directions = {(i, j) for i, j, _ in model.diagnostics_["chosen_directions"]}
        assert directions == {(i, j) for i, j, _ in again.diagnostics_["chosen_directions"]}
        assert all(model.adjacency_matrix_.loc[i, j] for i, j in directions)


def test_a_table_in_its_own_sequence_is_the_same_table():
    data = simulate(n_variables=12, n_samples=50, random_state=0).data.round(0)  # with ties
    table = load_table(data)
    sorted_table, places = canonical(table)
    assert [table.names[k] for k in places] == list(sorted_table.names)
    assert sorted(map(tuple, sorted_table.values.tolist())) == sorted(map(tuple, table.values[:, places].tolist()))
    assert not sorted_table.values.flags.writeable
    again, _ = canonical(load_table(data.sample(frac=1, random_state=2)))
    assert (again.values == sorted_table.values).all()
    kept, places = canonical(load_table(data.to_numpy()), rows=False)
    assert (kept.values == data.to_numpy()).all()
    assert places.tolist() == list(range(12))
