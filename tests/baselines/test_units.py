"""The units of the columns: a method whose assumptions do not include them finds the same graph in any."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import precede as pc
from precede.baselines import METHODS
from precede.errors import DataError
from precede.graph.dags import cpdag

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


QUICK: dict[str, dict[str, Any]] = {
    "corl": {
        "score": "linear",
        "n_iterations": 2,
        "batch_size": 4,
        "n_encoder_rows": 8,
        "encoder": "mlp",
        "decoder": "mlp",
    },
    "notears": {"max_iterations": 3},
    "notears-mlp": {"hidden_size": 2, "max_iterations": 2},
    "golem": {"n_iterations": 500},
    "dagma": {"warm_iterations": 50, "max_iterations": 50},
    "dag-gnn": {"hidden_size": 4, "n_epochs": 2, "max_steps": 1},
    "gran-dag": {"hidden_size": 2, "n_iterations": 30, "window": 10},
    "rl-bic2": {"n_iterations": 3, "batch_size": 8, "n_samples": 8, "width": 4, "n_heads": 2, "n_blocks": 1},
    "l1obs": {"n_evaluations": 50},
}
SCORES = ["nongaussian", "quadratic", "gp", "sparse-linear", "sparse-gp", "sparse-gp-additive", "auto"]
CASES = {name: (name, QUICK.get(name, {})) for name in ("corl", *METHODS) if name not in ("pc", "ges", "fci")}
CASES |= {f"corl {score}": ("corl", QUICK["corl"] | {"score": score}) for score in SCORES}
WITH_ITS_OWN_UNIT = {"notears", "notears-mlp", "dagma", "dag-gnn", "l1obs", "a-star-lasso"}
"""Methods with a penalty, or a variance of one, in the units of the data: their graph may change with a common unit."""
UNITS = [1e-150, 1e-90, 1e-49, 1e-30, 1e-13, 1e-12, 1e12, 1e30, 1e48, 1e90, 1e150]


def chain() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a, b, c, d = rng.uniform(-1, 1, size=(4, 200))
    b += 1.5 * a
    c -= 1.2 * b
    d += 1.3 * c + 1.4 * a
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def fit(name: str, data: pd.DataFrame) -> Any:
    method, options = CASES[name]
    cls = pc.methods()[method]
    seed = {"random_state": 0} if "random_state" in cls.option_names() else {}
    return cls(**{"verbose": False, **seed, **options}).fit(data)


@pytest.mark.parametrize("name", sorted(CASES))
def test_any_unit_gives_the_same_graph_or_a_sentence(name: str) -> None:
    """``cam`` on x * 1e-12 kept 6 of 10 edges and on 1e-13 none; the linear score never ended at 1e-90."""
    expected, refused = fit(name, chain()).graph_.edges, 0
    told_apart = cpdag if name == "corl sparse-linear" else np.asarray
    for unit in UNITS:
        try:
            found = fit(name, chain() * unit)
        except DataError as sentence:
            refused += 1
            told = str(sentence)
        else:
            told = ""
            assert np.isfinite(found.weights_.to_numpy()).all()
            same = told_apart(found.graph_.edges) == told_apart(expected)
            assert name in WITH_ITS_OWN_UNIT or same.all(), unit
        assert told == "" or "other unit" in told or "another unit" in told
    assert refused >= 4  # 1e-150, 1e-90, 1e90 and 1e150
    assert refused == 4 or name in WITH_ITS_OWN_UNIT


@pytest.mark.parametrize("name", ["direct-lingam", "ica-lingam", "r2-sort-regress", "cam", "corl sparse-linear"])
def test_columns_in_units_far_apart(name: str) -> None:
    """``ica-lingam`` broke on columns at 1e8 and 1e-8."""
    far = chain() * [1e-30, 1e-8, 1e8, 1e30]
    np.testing.assert_array_equal(cpdag(fit(name, far).graph_.edges), cpdag(fit(name, chain()).graph_.edges))


@pytest.mark.parametrize("options", [{}, {"standardize": False}])
def test_training_on_nan_gives_no_graph(options: dict[str, Any]) -> None:
    name = "gran-dag" if options else "dag-gnn"
    with pytest.raises(DataError, match="left the range of floats"):
        pc.methods()[name](verbose=False, random_state=0, **QUICK[name], **options).fit(chain() * 1e30)
