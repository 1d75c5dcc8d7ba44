"""What holds for numbers holds for categories, gaps, interventions and time: four properties of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import precede as pc

KINDS = ("categories", "mixed", "gaps", "skewed gaps", "interventions", "time")
SETTINGS: dict[str, Any] = {"n_iterations": 0, "random_state": 0, "verbose": False, "diagnose": False}


def data_of(kind: str) -> tuple[pd.DataFrame, str, dict[str, Any]]:
    """A table of five columns, a score for it, and what ``fit`` is told besides."""
    rng = np.random.default_rng(0)
    sem = {"categories": "discrete", "mixed": "mixed", "skewed gaps": "lingam"}.get(kind, "linear-gaussian")
    frame = pc.simulate("er", 5, 1, sem, 300, noise="unequal" if sem == "lingam" else "equal", random_state=3).data
    match kind:
        case "categories":
            return frame, "discrete-bic", {}
        case "mixed":
            return frame, "degenerate-gaussian", {}
        case "gaps":
            return frame.mask(rng.random(frame.shape) < 0.15), "sparse-linear", {}
        case "skewed gaps":
            return frame.mask(rng.random(frame.shape) < 0.15), "nongaussian", {}
        case "interventions":
            frame.loc[200:, "x2"] = rng.normal(size=100)
            return frame, "sparse-linear", {"interventions": ["x2" if k >= 200 else None for k in range(300)]}
        case _:
            return frame, "sparse-linear", {"lags": 1}


def learned(kind: str, frame: pd.DataFrame, **options: Any) -> set[tuple[str, str]]:
    _, score, told = data_of(kind)
    graph = pc.CORL(score=score, **SETTINGS, **options).fit(frame, **told).graph_
    return set(graph.to_networkx().edges)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_changed_and_the_same_seed_gives_the_same_graph(kind: str) -> None:
    frame, _, _ = data_of(kind)
    before = frame.copy(deep=True)
    assert learned(kind, frame) == learned(kind, frame)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("kind", KINDS)
def test_the_sequence_of_columns_does_not_matter(kind: str) -> None:
    frame, _, _ = data_of(kind)
    assert learned(kind, frame[["x4", "x1", "x5", "x3", "x2"]]) == learned(kind, frame)


@pytest.mark.parametrize("kind", KINDS)
def test_knowledge_is_obeyed(kind: str) -> None:
    frame, _, _ = data_of(kind)
    free = sorted(learned(kind, frame))
    assert free  # so that there is something to forbid
    (cause, effect), *_ = free
    assert (cause, effect) not in learned(kind, frame, knowledge=pc.Knowledge(forbidden=[(cause, effect)]))
    joined = {frozenset(edge) for edge in free}
    first, second = next(
        (a, b) for a in frame.columns for b in frame.columns if a < b and frozenset((a, b)) not in joined
    )
    if kind == "time":
        first, second = first + "[t-1]", second
    assert (first, second) in learned(kind, frame, knowledge=pc.Knowledge(required=[(first, second)]))
