"""The bundled data set."""

from importlib.resources import files

import numpy as np

from precede.data.datasets import load_sachs
from precede.data.load import load_table
from precede.graph.dags import is_acyclic


def test_sachs_is_the_observational_part_with_the_consensus_graph():
    sachs = load_sachs()
    names = ["Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk"]
    assert sachs.data.shape == (853, 11)
    assert list(sachs.data.columns) == list(sachs.graph.names) == names
    assert sachs.data.iloc[0].tolist() == [26.4, 13.2, 8.82, 18.3, 58.8, 6.61, 17.0, 414.0, 17.0, 44.9, 40.0]
    assert sachs.data.iloc[-1, 0] == 46.6
    edges = {(cause, effect) for cause, effect, _ in sachs.graph.edge_list()}
    assert len(edges) == 17
    assert {("Raf", "Mek"), ("PKC", "PKA"), ("PIP3", "PIP2"), ("PKA", "Jnk"), ("Erk", "Akt")} <= edges
    assert is_acyclic(sachs.graph.edges)


def test_sachs_passes_the_checks_and_is_fresh_each_time():
    first = load_sachs()
    assert load_table(first.data).remarks == ()
    first.data.iloc[0, 0] = np.nan
    assert load_sachs().data.notna().all(axis=None)


def test_provenance_travels_with_the_data():
    text = (files("precede.data") / "files" / "sachs.md").read_text()
    assert "Science" in text
    assert "cdt" in text


def test_all_conditions_with_their_targets():
    sachs = load_sachs("all")
    assert sachs.data.shape == (7466, 12)
    observed = load_sachs().data
    assert sachs.data[list(observed)].iloc[:853].equals(observed)
    assert (sachs.data["set"] == "").sum() == 853 + 902
    assert sachs.data["set"].value_counts().to_dict() == {
        "": 1755, "Akt": 911 + 848, "PKC": 723 + 913, "PIP2": 810, "Mek": 799, "PKA": 707,
    }  # fmt: skip
    table = load_table(sachs.data, interventions="set")
    assert table.targets.any(axis=0).sum() == 5
    pip2 = np.log(sachs.data["PIP2"])
    assert pip2[sachs.data["set"] == "PIP2"].mean() < pip2[sachs.data["set"] == ""].mean() - 2  # the reagent works


def test_conditions_change_where_the_values_do():
    logs = np.log(load_sachs("all").data.drop(columns="set").to_numpy())
    ends = np.cumsum([853, 902, 911, 723, 810, 799, 848, 913])

    def jump(row):
        before, after = logs[row - 150 : row], logs[row : row + 150]
        return float((np.abs(before.mean(axis=0) - after.mean(axis=0)) / np.vstack([before, after]).std(axis=0)).sum())

    elsewhere = [row for row in range(200, 7200, 50) if np.abs(row - ends).min() > 200]
    assert min(jump(row) for row in ends) > max(jump(row) for row in elsewhere)
