"""CORL(hidden="allowed")."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from precede import CORL, Knowledge
from precede.errors import OptionError


def table(n: int = 2000) -> pd.DataFrame:
    a, b, e, f, h, *noise = np.random.default_rng(0).normal(size=(7, n))
    return pd.DataFrame(
        {"a": a, "b": b, "c": a + b + 1.5 * h + noise[0], "d": e + f + 1.5 * h + noise[1], "e": e, "f": f}
    )


def fitted(**options):
    return CORL(n_iterations=1, diagnose="quick", verbose=False, random_state=0, **options).fit(table())


def test_a_hidden_cause_is_an_answer_only_where_it_is_allowed():
    model = fitted(hidden="allowed")
    assert model.pag_.mark("c", "d") == "<->"
    assert model.pag_.mark("a", "c") == "o->"
    assert not model.graph_.pattern[2, 3] or model.graph_.pattern[3, 2]
    assert ["c", "d", "<->"] in model.diagnostics_["marks"]
    assert any("share an unmeasured cause" in words for _, words, _ in model.pag_.legend())
    with pytest.raises(OptionError, match="hidden='allowed' does"):
        fitted().pag_  # noqa: B018


def test_resamples_are_pags_that_obey_what_is_known():
    known = Knowledge(forbidden=[("d", "c"), ("c", "d")])
    options = {"n_iterations": 1, "verbose": False, "random_state": 0, "knowledge": known}
    graph = CORL(hidden="allowed", **options).fit(table()).graph_
    assert graph.resampled.shape == (20, 6, 6)
    marks = [one.pag.mark("c", "d") for one in graph.alternatives]
    assert set(marks) == {"<->"}
    assert len({one.pag for one in graph.alternatives}) > 1
    assert CORL(**options).fit(table()).graph_.resampled.dtype == bool


def test_knowledge_is_obeyed():
    model = fitted(hidden="allowed", knowledge=Knowledge(required=[("a", "c")], forbidden=[("d", "c"), ("c", "d")]))
    assert model.pag_.mark("a", "c") == "-->"
    assert model.pag_.mark("c", "d") == "<->"  # neither causes the other, so they share a cause
    assert not model.graph_.edges[2, 3]
    assert not model.graph_.edges[3, 2]


def test_categories_are_taken():
    data = table()
    data["c"] = np.where(data["c"] > 0, "high", "low")
    model = CORL(hidden="allowed", n_iterations=1, diagnose=False, verbose=False, random_state=0).fit(data)
    assert model.pag_.mark("a", "c") is not None


def test_columns_with_levels_start_from_correlations_too():
    rng = np.random.default_rng(0)
    one, other, mistaken = rng.random((3, 500)) < [[0.4], [0.4], [0.1]]
    data = pd.DataFrame({"one": one, "other": other, "differ": (one != other) ^ mistaken})
    data = data.apply(lambda column: np.where(column, "high", "low"))
    options = {"n_iterations": 1, "diagnose": False, "verbose": False, "random_state": 0}
    assert CORL(hidden="allowed", **options).fit(data).diagnostics_["score"] == "degenerate-gaussian"
    assert CORL(**options).fit(data).diagnostics_["score"] in ("discrete-bic", "bdeu")


def test_rows_that_were_set_and_lags_are_refused():
    with pytest.raises(OptionError, match="does not take interventions"):
        CORL(hidden="allowed", verbose=False).fit(table(200), interventions=["a"] * 20 + [None] * 180)
    with pytest.raises(OptionError, match="does not take lags"):
        CORL(hidden="allowed", verbose=False).fit(table(200), lags=1)
