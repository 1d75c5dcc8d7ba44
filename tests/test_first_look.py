"""The first look is what CORL finds with a pretrained policy and no search."""

import numpy as np
import pytest

from precede import CORL, simulate
from precede.data.load import load_table
from precede.errors import OptionError
from precede.first_look import first_look


@pytest.mark.parametrize("pretrained", ["default", "paper"])
def test_it_is_corl_without_a_search(pretrained: str) -> None:
    table = load_table(simulate(n_variables=8, n_samples=1200, random_state=1).data)  # more rows than either sees
    model = CORL(
        score="linear", pruning="bic", pretrained=pretrained, n_iterations=0, polish=False, diagnose=False,
        device="cpu", random_state=0, verbose=False,
    ).fit(table)  # fmt: skip
    graph = first_look(table, pretrained)
    assert graph.order == model.graph_.order
    assert np.array_equal(graph.strengths, model.graph_.strengths)


def test_the_columns_can_come_in_any_sequence() -> None:
    data = simulate(n_variables=8, n_samples=300, random_state=2).data
    assert first_look(load_table(data)).order == first_look(load_table(data[data.columns[::-1]])).order


def test_an_unknown_policy_is_refused() -> None:
    table = load_table(simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data)
    with pytest.raises(OptionError, match="did you mean 'default'"):
        first_look(table, "defualt")
