"""The first look: order, edges and probabilities at once, the same as CORL's with the policy's own score."""

import numpy as np
import pytest

from precede import CORL, simulate
from precede.data.load import load_table
from precede.errors import OptionError
from precede.first_look import first_look


def test_it_is_corl_with_the_policys_score_and_no_training() -> None:
    data = simulate(n_variables=8, n_samples=700, random_state=1).data
    model = CORL(score="policy", n_iterations=0, diagnose=False, device="cpu", random_state=0, verbose=False).fit(data)
    look = first_look(load_table(data))
    assert (look.graph.edges == model.graph_.edges).all()
    said = {(edge["cause"], edge["effect"]): edge["probability"] for edge in model.diagnostics_["policy"]}
    for edge in look.edges():
        assert said[edge.cause, edge.effect] == pytest.approx(edge.probability, abs=0.02)


def test_probabilities_exclude_each_other_and_the_graph_follows_them() -> None:
    data = simulate(n_variables=8, degree=1.5, sem="lingam", n_samples=400, standardize=True, random_state=3)
    look = first_look(load_table(data.data))
    both = look.edge_probability + look.edge_probability.T
    assert (both <= 1 + 1e-6).all()
    assert (np.diag(look.edge_probability) == 0).all()
    assert look.edge_probability[look.graph.edges].min() >= 0.4
    assert look.edge_probability[data.graph.edges].mean() > 5 * look.edge_probability[~data.graph.edges].mean()
    shown = look.to_dict()
    assert shown["order"] == list(look.graph.order)
    assert len(shown["edges"]) == look.graph.n_edges


def test_the_columns_can_come_in_any_sequence_and_units() -> None:
    data = simulate(n_variables=8, n_samples=300, random_state=2).data
    order = first_look(load_table(data)).graph.order
    assert first_look(load_table(data[data.columns[::-1]])).graph.order == order
    assert first_look(load_table(data * 2.0 ** np.arange(-4, 4))).graph.order == order


def test_an_unknown_policy_is_refused_and_one_without_edges() -> None:
    table = load_table(simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data)
    with pytest.raises(OptionError, match="did you mean 'default'"):
        first_look(table, "defualt")
    with pytest.raises(OptionError, match="tells orders only"):
        first_look(table, "paper")
