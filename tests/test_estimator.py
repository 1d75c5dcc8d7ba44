"""What every estimator does before and after fit."""

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import precede as pc


@pytest.mark.parametrize("name", ["graph_", "adjacency_matrix_", "weights_", "causal_order_", "cpdag_", "score_"])
def test_asking_before_fit_is_refused_by_name(name: str) -> None:
    with pytest.raises(NotFittedError, match=f"call fit before asking for {name}"):
        getattr(pc.baselines.EqVar(), name)


def test_an_unknown_attribute_is_still_an_attribute_error() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = pc.baselines.EqVar().grpah
    assert not isinstance(caught.value, NotFittedError)
    assert not hasattr(
        pc.baselines.EqVar().fit(pc.simulate(n_variables=3, degree=1).data.to_numpy()), "feature_names_in_"
    )


def test_evaluate_takes_networkx_graphs() -> None:
    truth = nx.DiGraph([("rain", "wet"), ("wet", "slip")])
    guess = nx.DiGraph([("wet", "slip"), ("wet", "rain")])
    metrics = pc.evaluate(guess, truth)
    assert (metrics.shd, metrics.n_reversed) == (1, 1)
    assert pc.evaluate(pc.CausalGraph.from_networkx(truth), truth).shd == 0


@pytest.mark.parametrize("kind", [int, np.float32])
def test_any_number_is_a_threshold(kind: type) -> None:
    data = pc.simulate(n_variables=5, degree=2, n_samples=300, random_state=0).data
    options = {"score": "linear", "pruning": "threshold", "n_iterations": 0, "random_state": 0, "verbose": False}
    rules = []
    for threshold in (1.0, kind(1)):
        found = pc.CORL(threshold=threshold, **options).fit(data).diagnostics_
        weak = next(check for check in found.checks if check.name == "edges within reach of the threshold")
        rules.append((weak.details, [edge.confidence for edge in found.edges]))
    assert rules[0] == rules[1]
    assert rules[0][0]["rule"].endswith("of 1")
