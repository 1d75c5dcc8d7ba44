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
