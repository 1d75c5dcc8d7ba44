"""Effects where cells are missing: what was drawn to fill the gaps is not counted as observed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from precede import CausalGraph, baselines, load_table, simulate
from precede.effects import path_effects
from precede.errors import OptionError
from precede.evidence.sample import moments_from_json, moments_to_json, sample_of

PAIR = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["x", "y"])


def pair(seed: int, share: float, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": np.where(rng.random(n) < share, np.nan, y)})


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_intervals_cover_the_truth_where_the_effect_is_missing(share: float) -> None:
    """With what was drawn counted as observed, 62% did at .7."""
    intervals = [PAIR.effect("x", "y", pair(seed, share)).interval for seed in range(100)]
    assert 0.89 <= np.mean([low <= 1 <= high for low, high in intervals]) <= 0.99


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_intervals_cover_the_truth_where_anything_is_missing(share: float) -> None:
    covered = []
    for seed in range(15):
        made = simulate(n_variables=5, degree=2, n_samples=300, random_state=seed)
        truth = path_effects(made.graph)
        values = made.data.to_numpy(copy=True)
        values[np.random.default_rng(seed).random(values.shape) < share] = np.nan
        table = load_table(pd.DataFrame(values, columns=made.data.columns))
        for cause in made.graph.names:
            for effect in made.graph.descendants(cause):
                try:
                    low, high = made.graph.effect(cause, effect, table).interval
                except OptionError:  # too few complete rows
                    continue
                covered.append(low <= truth.loc[cause, effect] <= high)
    assert len(covered) > 60
    assert np.mean(covered) > 0.9


def test_moments_from_pairs_are_not_what_an_interval_rests_on() -> None:
    """With them, 78% of the intervals covered the truth at .7."""
    frame = pair(8, 0.7)
    by_pairs = PAIR.effect("x", "y", load_table(frame, missing="pairwise"))
    by_em = PAIR.effect("x", "y", frame)
    assert by_pairs.interval == pytest.approx(by_em.interval, rel=1e-9)  # rows are summed in another sequence


def test_one_gappy_effect_has_the_error_of_the_rows_in_which_it_is_there() -> None:
    frame = pair(0, 0.7)
    known = frame.dropna()
    found, plain = PAIR.effect("x", "y", frame), PAIR.effect("x", "y", known)
    assert found.value == pytest.approx(plain.value, abs=1e-3)  # rows without the effect say nothing about it
    assert found.standard_error == pytest.approx(plain.standard_error, rel=0.2)  # x varies as over all rows
    assert found.complete_rows == len(known)
    assert f"the interval only the {len(known)} complete ones" in found.sentence
    assert found.to_dict()["complete_rows"] == len(known)
    assert plain.complete_rows is None
    assert "missing" not in plain.sentence


def test_a_model_and_its_file_answer_from_what_is_there() -> None:
    frame = pair(1, 0.5)
    model = baselines.EqVar(verbose=False)
    model.diagnose = False
    graph = model.fit(frame).graph_
    cause, effect, _ = graph.edge_list()[0]
    found = graph.effect(cause, effect)
    assert found == graph.effect(cause, effect, frame)
    assert found.complete_rows == frame["y"].notna().sum()
    assert graph.sample is not None
    again = moments_from_json(moments_to_json(graph.sample, graph.names))
    of_moments = graph.effect(cause, effect, again)
    assert of_moments == graph.effect(cause, effect, replace(graph.sample, rows=None))
    assert (of_moments.value, of_moments.complete_rows) == (found.value, found.complete_rows)
    assert of_moments.standard_error != found.standard_error  # which holds for noise of uneven size: the rows tell


def test_columns_without_gaps_are_not_said_to_have_any() -> None:
    frame = pair(2, 0.5).assign(z=np.random.default_rng(3).normal(size=300))
    graph = CausalGraph.from_matrix([[0, 1, 1], [0, 0, 0], [0, 0, 0]], names=["x", "y", "z"])
    assert graph.effect("x", "z", frame).complete_rows is None
    assert graph.effect("x", "y", frame).complete_rows == frame["y"].notna().sum()


def test_too_few_complete_rows_are_refused() -> None:
    frame = pair(4, 0.0)
    frame.loc[3:, "y"] = np.nan
    frame["z"] = np.random.default_rng(5).normal(size=300)
    graph = CausalGraph.from_matrix([[0, 0, 1], [0, 0, 1], [0, 0, 0]], names=["x", "y", "z"])
    with pytest.raises(OptionError, match=r"only 3 rows, .* no cell of 'x', 'z', 'y' missing"):
        graph.effect("x", "z", frame)


def test_with_interventions_the_rows_without_gaps_are_used() -> None:
    frame = pair(6, 0.3, n=600)
    targets = np.zeros((600, 2), dtype=bool)
    targets[:300, 1] = True
    frame.loc[:299, "y"] = np.random.default_rng(7).normal(size=300)
    table = load_table(frame, interventions=targets)
    known = frame[300:].dropna()
    found = PAIR.effect("x", "y", table)
    assert found.value == pytest.approx(np.polyfit(known["x"], known["y"], 1)[0], abs=1e-9)
    sample = sample_of(table.values, table.kinds, table.targets, table.gaps)
    assert sample.where_unset([1]).n_samples == len(known)
