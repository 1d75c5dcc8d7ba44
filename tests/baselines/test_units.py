"""The units of the columns: a method whose assumptions do not include them finds the same graph in any."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import precede as pc
from precede.graph.equivalence import cpdag

SCALE_FREE: dict[str, dict[str, Any]] = {
    "direct-lingam": {},
    "ica-lingam": {"random_state": 0},
    "r2-sort-regress": {},
    "cam": {},
    "random": {"random_state": 0},
    "l1obs": {"variance": "free", "n_evaluations": 200, "random_state": 0},
    "rl-bic2": {"noise": "unequal", "n_iterations": 40, "batch_size": 16, "n_samples": 16, "width": 16, "n_heads": 2,
                "n_blocks": 1, "random_state": 0},
    "gran-dag": {"n_iterations": 100, "random_state": 0},
    "corl": {"score": "sparse-linear", "n_iterations": 5, "random_state": 0},
}  # fmt: skip
"""Methods, or settings of a method, that do not assume comparable units."""


@pytest.fixture(scope="module")
def diabetes() -> pd.DataFrame:
    return load_diabetes(as_frame=True, scaled=False).frame


@pytest.mark.parametrize("name", sorted(SCALE_FREE))
def test_diabetes_in_two_units_gives_the_same_graph(name: str, diabetes: pd.DataFrame) -> None:
    """Of DirectLiNGAM, a threshold on raw weights left 21 and 12 edges, 6 in common."""
    data = diabetes.iloc[:200, :6] if name in ("gran-dag", "rl-bic2", "l1obs", "corl") else diabetes
    if name == "ica-lingam":  # FastICA does not converge on diabetes, and then rounding decides
        data = pc.simulate("er", 8, 1.5, "lingam", 2000, random_state=1).data * np.logspace(-8, 8, 8)
    method = pc.methods()[name]
    raw, scaled = (
        method(verbose=False, **SCALE_FREE[name]).fit(table).graph_
        for table in (data, (data - data.mean()) / data.std(ddof=0))
    )
    told = cpdag if name in ("l1obs", "rl-bic2", "corl") else np.asarray  # all that these likelihoods tell apart
    np.testing.assert_array_equal(told(raw.edges), told(scaled.edges))
    assert raw.n_edges > 0
