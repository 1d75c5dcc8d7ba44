"""Graphs side by side: lined up by name, differences named, methods fitted in one call."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import precede as pc
from precede.errors import OptionError

mpl.use("Agg")
CHAIN = pd.DataFrame([[0, 1, 0], [0, 0, 1], [0, 0, 0]], index=list("abc"), columns=list("abc"))


def test_graphs_are_lined_up_by_name_and_differences_are_named() -> None:
    turned = pd.DataFrame([[0, 0, 0], [1, 0, 0], [0, 1, 0]], index=list("cba"), columns=list("cba"))  # a -> b -> c
    other = pd.DataFrame([[0, 0, 0], [1, 0, 0], [0, 0, 0]], index=list("abc"), columns=list("abc"))  # b -> a
    found = pc.Comparison.of({"one": CHAIN, "same": turned, "other": other})
    assert found.consensus == pc.CausalGraph.from_matrix(CHAIN, found.consensus.strengths)
    assert found.consensus.names == ("a", "b", "c")
    assert set(found.differences) == {
        "a and b: a -> b in one, same; b -> a in other.",
        "b and c: b -> c in one, same; no edge in other.",
    }
    row = found.table.set_index(["first", "second"]).loc[("a", "b")]
    assert (row["one"], row["other"], row["consensus"]) == ("->", "<-", "->")
    assert found.order_agreement.loc["one", "same"] == 1.0
    assert found.order_agreement.loc["one", "other"] < 1.0
    assert "they agree on 0 and differ on 2" in found.sentence


def test_weights_decide() -> None:
    other = CHAIN.T
    heavy = pc.Comparison.of({"one": CHAIN, "other": other}, {"one": 1.0, "other": 3.0})
    assert heavy.consensus.edges.tolist() == (other.to_numpy() != 0).tolist()
    with pytest.raises(OptionError, match="name each graph once"):
        pc.Comparison.of({"one": CHAIN, "other": other}, {"one": 1.0})
    with pytest.raises(OptionError, match="at least 0"):
        pc.Comparison.of({"one": CHAIN, "other": other}, {"one": 1.0, "other": -1.0})
    with pytest.raises(OptionError, match="two graphs or more"):
        pc.Comparison.of({"one": CHAIN})


def test_several_methods_in_one_call() -> None:
    data = pc.simulate(n_variables=6, degree=1, n_samples=300, random_state=1)
    members = {"eqvar": {}, "sort-regress": {"pruning": "bic"}, "mine": pc.baselines.NOTEARS(verbose=False)}
    found = pc.compare(data.data, members, random_state=0, verbose=False)
    assert list(found.graphs) == ["eqvar", "sort-regress", "mine"]
    scores = [pc.evaluate(graph, data.graph).f1 for graph in found.graphs.values()]
    assert pc.evaluate(found.consensus, data.graph).f1 >= np.median(scores)
    cause, effect, _ = found.consensus.edge_list()[0]
    assert found.consensus.effect(cause, effect).standard_error > 0  # the consensus keeps the data
    assert members["mine"].__dict__.keys() == pc.baselines.NOTEARS().__dict__.keys()  # the given one is not fitted
    assert found.plot().get_title().startswith("Which way")


def test_the_number_of_processes_does_not_matter() -> None:
    data = pc.simulate(n_variables=5, degree=1, n_samples=200, random_state=2).data
    one, two = (pc.compare(data, ["eqvar", "random"], n_jobs=n, random_state=3, verbose=False) for n in (1, 2))
    assert one.table.equals(two.table)


def test_a_method_that_cannot_take_the_data_is_left_out_with_a_remark() -> None:
    data = pc.simulate(n_variables=5, degree=1, n_samples=200, random_state=2).data
    members = {"eqvar": {}, "sort-regress": {}, "notears": {"threshold": -1.0}}
    found = pc.compare(data, members, verbose=False)
    assert list(found.graphs) == ["eqvar", "sort-regress"]
    assert found.remarks[0].startswith("notears was left out: ")
    with pytest.raises(OptionError, match="fewer than two"):
        pc.compare(data, {"eqvar": {}, "notears": {"threshold": -1.0}}, verbose=False)


def test_mistakes_in_the_call() -> None:
    data = pc.simulate(n_variables=5, degree=1, n_samples=200, random_state=2).data
    with pytest.raises(OptionError, match="did you mean 'eqvar'"):
        pc.compare(data, ["eqvra", "notears"])
    with pytest.raises(OptionError, match="has no option 'prune'"):
        pc.compare(data, {"eqvar": {"prune": 1}, "notears": {}})
    with pytest.raises(OptionError, match="two methods are called"):
        pc.compare(data, ["eqvar", "eqvar"])
