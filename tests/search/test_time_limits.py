"""Time limits and long searches, by a clock that counts how often it is looked at: no test waits for a real one."""

import numpy as np
import pandas as pd
import pytest

from precede import CORL, simulate
from precede.runtime.deadline import Deadline

PLAIN = {"random_state": 0, "verbose": False, "diagnose": False, "batch_size": 8}
SMALL = {**PLAIN, "encoder": "null", "decoder": "mlp", "n_samples": 8}


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is a second."""
    ticks = iter(range(1_000_000))
    monkeypatch.setattr(
        "precede.discovery.corl.Deadline", lambda limit: Deadline(limit, clock=lambda: float(next(ticks)))
    )


def searched(data: pd.DataFrame, **options) -> dict:
    return CORL(**options).fit(data).diagnostics_["search"]


@pytest.mark.usefixtures("ticking")
def test_gp_data_of_20_columns_with_a_limit_of_40():
    """The table of parent sets, the greedy order and polish share one limit; the score bounds took 220 s before it."""
    data = simulate(n_variables=20, degree=2, sem="gp", n_samples=60, random_state=0).data
    found = searched(data, score="sparse-gp", max_time=40.0, **PLAIN)
    assert found["out_of_time"]
    assert found["seconds"] < 60
    assert np.isfinite(found["best_score"])


@pytest.mark.parametrize("score", ["linear", "nongaussian", "sparse-linear"])
@pytest.mark.usefixtures("ticking")
def test_300_columns_with_a_limit_of_20(score):
    """The greedy order looked at no clock: nothing had come after 590 s."""
    data = simulate(n_variables=300, degree=2, sem="lingam", n_samples=320, random_state=0).data
    found = searched(data, score=score, max_time=20.0, n_iterations=100_000, patience=None, **SMALL)
    assert found["out_of_time"]
    assert found["seconds"] < 40
    assert np.isfinite(found["best_score"])


def test_100_columns_are_never_worse_than_what_was_scored():
    """29 iterations gave SHD 7 and 300 gave 39, because polish climbed from the policy's order alone."""
    data = simulate(n_variables=100, degree=1, sem="lingam", n_samples=150, random_state=0).data
    found = searched(data, score="linear", n_iterations=2, **SMALL)
    assert found["iterations"] == 2
    assert found["policy_score"] < found["greedy_score"] <= found["best_score"]
