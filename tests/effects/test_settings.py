"""Effects of data with interventions: only rows tell an effect in which nothing that it runs through was set."""

import numpy as np
import pandas as pd
import pytest

from precede import CORL, CausalGraph, load_table
from precede.errors import DataError, OptionError
from precede.evidence.checks.context import regress_on_parents
from precede.evidence.sample import moments_from_json, moments_to_json, sample_of

NAMES = ["far", "near", "cause", "middle", "effect"]
WEIGHTS = np.zeros((5, 5))
WEIGHTS[[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]] = 1.5, 1.0, 2.0, -1.0, 2.0  # total effect of cause on effect: -2
GRAPH = CausalGraph.from_matrix(WEIGHTS, names=NAMES)


def experiment(each: int = 3000, seed: int = 0, observed: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows that were observed, and as many in which each variable in turn was set."""
    rng = np.random.default_rng(seed)
    set_here = np.repeat([*([-1] if observed else []), 1, 2, 3, 4], each)
    targets = set_here[:, None] == np.arange(5)
    values = np.zeros((len(set_here), 5))
    for j in range(5):
        own = values @ WEIGHTS[:, j] + rng.normal(size=len(values))
        values[:, j] = np.where(targets[:, j], 1.0 + 2 * rng.normal(size=len(values)), own)
    return pd.DataFrame(values, columns=NAMES), targets


@pytest.mark.parametrize("adjustment", ["optimal", "minimal", "parents", ["far"], ["near"], ["far", "near"]])
def test_every_adjustment_gives_the_true_effect(adjustment: object) -> None:
    frame, targets = experiment()
    table = load_table(frame, interventions=targets)
    found = GRAPH.effect("cause", "effect", table, adjustment=adjustment)
    assert abs(found.value + 2.0) < 4 * found.standard_error < 0.3
    assert abs(GRAPH.effect("cause", "effect", frame, adjustment=adjustment).value + 2.0) > 0.3  # as if nothing was set


def test_a_direct_effect_is_that_of_the_rows_in_which_the_effect_was_not_set() -> None:
    frame, targets = experiment(200)
    found = GRAPH.effect("middle", "effect", load_table(frame, interventions=targets), kind="direct")
    kept = frame[~targets[:, 4]]
    design = np.column_stack([kept["middle"], kept["far"], np.ones(len(kept))])
    assert found.value == pytest.approx(np.linalg.lstsq(design, kept["effect"], rcond=None)[0][0], abs=1e-10)


def test_moments_of_chosen_settings_are_those_of_their_rows_and_survive_a_file() -> None:
    frame, targets = experiment(50)
    values = frame.to_numpy()
    sample = sample_of(values, targets=targets)
    again = moments_from_json(moments_to_json(sample, NAMES))
    kept = values[~targets[:, [3, 4]].any(axis=1)]
    for one in (sample, again):
        part = one.where_unset([3, 4])
        assert part.n_samples == len(kept)
        np.testing.assert_allclose(part.mean, kept.mean(axis=0))
        np.testing.assert_allclose(part.covariance, np.cov(kept.T, bias=True))


def test_what_if_shows_rows_that_follow() -> None:
    frame, targets = experiment(400)
    answer = GRAPH.do({"cause": lambda x: x + 1}, load_table(frame, interventions=targets), mechanism="linear")
    assert answer.summary.loc["effect", "change"] == pytest.approx(-2.0, abs=0.2)
    assert len(answer.sample) == int((~targets[:, 3:].any(axis=1)).sum())
    assert "none of 'middle', 'effect' was set" in answer.remarks[0]


def test_a_fitted_model_answers_from_the_right_rows() -> None:
    frame, targets = experiment(500)
    options = {"n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}
    model = CORL("sparse-linear", **options).fit(frame, interventions=targets)
    graph = model.graph_
    assert (graph.edges == (WEIGHTS != 0)).all()
    table = load_table(frame, interventions=targets)
    expected = GRAPH.effect("cause", "effect", table).value
    assert graph.effect("cause", "effect").value == pytest.approx(expected, abs=1e-9)
    assert graph.possible_effects("cause", "effect").values == pytest.approx([expected], abs=1e-9)  # all is directed
    with pytest.raises(DataError, match="do not say what was set"):
        graph.effect("cause", "effect", frame)


def test_what_no_row_tells_is_refused() -> None:
    frame, targets = experiment(50, observed=False)
    targets = targets.copy()
    targets[targets[:, 1] | targets[:, 2], 3] = True  # now something on the way was set in every row
    table = load_table(frame, interventions=targets)
    with pytest.raises(OptionError, match=r"only 0 rows, .* have none of 'middle', 'effect' set"):
        GRAPH.effect("cause", "effect", table)
    with pytest.raises(DataError, match="only 0 rows have none of"):
        GRAPH.do({"cause": 1.0}, table)


def test_rare_settings_are_not_kept_for_their_moments_would_tell_the_rows() -> None:
    frame, targets = experiment(50)
    targets = targets.copy()
    targets[:3] = True
    settings = sample_of(frame.to_numpy(), targets=targets).settings
    assert settings is not None
    assert sum(part.n_samples for part in settings) == len(frame) - 3


def test_readings_of_edges_are_of_the_rows_in_which_the_effect_was_not_set() -> None:
    frame, targets = experiment(200)
    values = frame.to_numpy()
    found = regress_on_parents(values, GRAPH.edges, targets=targets)
    kept = values[~targets[:, 3]]
    own = regress_on_parents(kept, GRAPH.edges)
    assert found.p_values[2, 3] == pytest.approx(own.p_values[2, 3], rel=1e-6)
    assert found.partial_r2[2, 3] == pytest.approx(own.partial_r2[2, 3], rel=1e-6)
    slope = np.polyfit(values[:, 2], found.effects[2, 3], 1)[0]
    assert slope == pytest.approx(np.polyfit(kept[:, 2], kept[:, 3], 1)[0], rel=1e-6)
    assert found.spread[3] == pytest.approx(kept[:, 3].std(), rel=1e-9)
    assert found.residuals[:, 3].std() == pytest.approx(own.residuals[:, 3].std(), rel=0.1)
