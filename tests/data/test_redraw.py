"""Missing cells drawn from a graph and the shape of its noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from precede.data import missing
from precede.data.load import load_table
from precede.data.missing import redrawn, reestimated
from precede.data.table import Table
from precede.runtime.deadline import Deadline

EDGES = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def chain_with_gaps(seed: int) -> tuple[pd.DataFrame, Table]:
    """Uniform noise along x -> y -> z, a quarter of the cells missing: the whole, and the table by EM."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(-1, 1, (2000, 3))
    x = noise[:, 0]
    y = 2 * x + 0.5 * noise[:, 1]
    whole = pd.DataFrame({"x": x, "y": y, "z": y + 0.5 * noise[:, 2]})
    return whole, load_table(whole.mask(rng.random(whole.shape) < 0.25))


def excess_kurtosis(values: np.ndarray) -> float:
    centered = values - values.mean()
    return float((centered**4).mean() / (centered**2).mean() ** 2 - 3)


def test_draws_have_the_shape_of_the_noise() -> None:
    _, table = chain_with_gaps(0)
    assert table.gaps is not None
    shapes = []
    for filled in (table, redrawn(table, EDGES, np.random.default_rng(0))):
        alone = table.gaps.mask[:, 1] & ~table.gaps.mask[:, 0]
        residual = filled.values[alone, 1] - 2 * filled.values[alone, 0]
        shapes.append(excess_kurtosis(residual))
    by_em, by_graph = shapes
    assert by_em > -0.75  # rounder than uniform noise, which has -1.2
    assert by_graph < -0.9


def test_what_is_there_stays_and_draws_repeat() -> None:
    _, table = chain_with_gaps(1)
    assert table.gaps is not None
    before = table.values.copy()
    once, again = (redrawn(table, EDGES, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(once.values, again.values)
    np.testing.assert_array_equal(table.values, before)
    np.testing.assert_array_equal(once.values[~table.gaps.mask], before[~table.gaps.mask])
    assert (once.values[table.gaps.mask] != before[table.gaps.mask]).mean() > 0.99
    assert not once.values.flags.writeable


def test_a_deadline_ends_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    _, table = chain_with_gaps(1)
    drawn = []
    monkeypatch.setattr(missing._LinearModel, "draw", lambda *given: drawn.append(given))
    redrawn(table, EDGES, np.random.default_rng(0), Deadline(0.0))
    assert len(drawn) == 1
    redrawn(table, EDGES, np.random.default_rng(0), Deadline(None))
    assert len(drawn) == 1 + missing.PASSES * missing.SWEEPS


def test_an_edge_that_is_not_there_weighs_less() -> None:
    weights = np.zeros((8, 2))
    for seed in range(8):
        _, table = chain_with_gaps(seed)
        for k, filled in enumerate((table, redrawn(table, EDGES, np.random.default_rng(seed)))):
            assert filled.gaps is not None
            matrix = filled.gaps.covariance
            weights[seed, k] = np.linalg.solve(matrix[:2, :2], matrix[:2, 2])[0]  # of x, beside y
    by_em, by_graph = np.sqrt((weights**2).mean(axis=0))
    assert by_graph < 0.9 * by_em


def test_moments_along_a_graph() -> None:
    weights = np.zeros((8, 2))
    for seed in range(8):
        _, table = chain_with_gaps(seed)
        for k, known in enumerate((table, reestimated(table, EDGES))):
            assert known.gaps is not None
            matrix = known.gaps.covariance
            weights[seed, k] = np.linalg.solve(matrix[:2, :2], matrix[:2, 2])[0]  # of x, beside y
            np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(known.values, table.values)
    without, along = np.sqrt((weights**2).mean(axis=0))
    assert along < 0.9 * without


def test_without_gaps_the_graph_changes_nothing() -> None:
    whole, table = chain_with_gaps(0)
    assert table.gaps is not None
    values = whole.to_numpy()
    none = replace(table, values=values, gaps=replace(table.gaps, mask=np.zeros(values.shape, dtype=bool)))
    found = reestimated(none, EDGES).gaps
    assert found is not None
    np.testing.assert_allclose(found.covariance, np.cov(values, rowvar=False, bias=True), atol=1e-12)
    np.testing.assert_allclose(found.mean, values.mean(axis=0), atol=1e-12)


def test_a_true_edge_that_the_graph_lacks_still_shows() -> None:
    _, table = chain_with_gaps(0)
    none = reestimated(table, np.zeros((3, 3), dtype=bool))
    assert none.gaps is not None
    matrix = none.gaps.covariance
    assert matrix[0, 1] ** 2 / matrix[0, 0] / matrix[1, 1] > 0.2


@pytest.mark.parametrize("name", ["count", "binary"])
def test_levels_stay_as_they_were_drawn(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    other = rng.poisson(np.exp(2 + 0.5 * x)) if name == "count" else (x + rng.normal(size=600) > 0).astype(int)
    frame = pd.DataFrame({"x": x, "other": other.astype(float)})
    table = load_table(frame.mask(rng.random(frame.shape) < 0.2))
    assert table.kinds[1].name == name
    drawn = redrawn(table, np.array([[False, True], [False, False]]), rng)
    np.testing.assert_array_equal(drawn.values[:, 1], table.values[:, 1])
    assert (drawn.values[:, 0] != table.values[:, 0]).any()
