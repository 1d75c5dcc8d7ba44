"""``precede order``: order, edges and probabilities at once, as CORL's with the policy's own score."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from precede import CORL, simulate
from precede.cli import app


def said(tmp_path, data: pd.DataFrame, *words: str) -> dict:
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    done = CliRunner().invoke(app, ["order", str(path), "--json", *words])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_it_is_corl_with_the_policys_score_and_no_training(tmp_path) -> None:
    data = simulate(n_variables=8, n_samples=700, random_state=1).data
    model = CORL(score="policy", n_iterations=0, diagnose=False, device="cpu", random_state=0, verbose=False).fit(data)
    shown = said(tmp_path, data)
    assert shown["order"] == model.causal_order_
    assert [(edge["cause"], edge["effect"]) for edge in shown["edges"]] == [
        (cause, effect) for cause, effect, _ in model.graph_.edge_list()
    ]
    assert "first look" in shown["remark"]


def test_probabilities_exclude_each_other_and_the_graph_follows_them(tmp_path) -> None:
    made = simulate(n_variables=8, degree=1.5, sem="lingam", n_samples=400, standardize=True, random_state=3)
    shown = said(tmp_path, made.data)
    pairs = {(pair["cause"], pair["effect"]): pair["probability"] for pair in shown["pairs"]}
    assert all(probability + pairs.get((j, i), 0.0) <= 1 + 1e-4 for (i, j), probability in pairs.items())
    assert min(edge["probability"] for edge in shown["edges"]) >= 0.4
    true = {(cause, effect) for cause, effect, _ in made.graph.edge_list()}
    names = made.graph.names
    false = [(i, j) for i in names for j in names if i != j and (i, j) not in true]
    mean_true, mean_false = (np.mean([pairs.get(pair, 0.0) for pair in chosen]) for chosen in (true, false))
    assert mean_true > 5 * mean_false


def test_the_columns_can_come_in_any_sequence_and_units(tmp_path) -> None:
    data = simulate(n_variables=8, n_samples=300, random_state=2).data
    order = said(tmp_path, data)["order"]
    assert said(tmp_path, data[data.columns[::-1]])["order"] == order
    assert said(tmp_path, data * 2.0 ** np.arange(-4, 4))["order"] == order


def test_what_is_known_is_obeyed(tmp_path) -> None:
    data = simulate(n_variables=6, degree=1.5, n_samples=400, random_state=5).data
    last = said(tmp_path, data)["order"][-1]
    told = said(tmp_path, data, "--root", str(last))
    assert not any(edge["effect"] == last for edge in told["edges"])
    rest = ",".join(name for name in data.columns if name != last)
    assert said(tmp_path, data, "--tier", f"{last}<{rest}")["order"][0] == last


@pytest.mark.parametrize(("name", "words"), [("defualt", "did you mean 'default'"), ("paper", "tells orders only")])
def test_an_unknown_policy_is_refused_and_one_without_edges(tmp_path, name: str, words: str) -> None:
    path = tmp_path / "data.csv"
    simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data.to_csv(path, index=False)
    done = CliRunner().invoke(app, ["order", str(path), "--pretrained", name])
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_it_takes_categories_interventions_and_lags(tmp_path) -> None:
    """The flags of 'discover'; what was set is not shown as a column, and the past does not come last."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=300)
    was_set = rng.random(300) < 0.2
    effect = np.where(was_set, rng.normal(size=300), cause + 0.5 * rng.normal(size=300))
    color = np.array(["red", "blue", "green"])[np.searchsorted([-0.5, 0.6], effect + 0.3 * rng.normal(size=300))]
    data = pd.DataFrame({"cause": cause, "effect": effect, "color": color, "set": np.where(was_set, "effect", "")})
    shown = said(tmp_path, data, "--interventions", "set")
    assert sorted(shown["order"]) == ["cause", "color", "effect"]
    assert all(0 <= pair["common"] <= 1 for pair in shown["pairs"])
    order = said(tmp_path, data[["cause", "effect"]], "--lags", "1")["order"]
    assert all("t-1" in name for name in order[:2])
    assert not any("t-1" in name for name in order[2:])
