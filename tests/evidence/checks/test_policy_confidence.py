"""Where a result rests on the pretrained policy, its probabilities are the edges' confidences, until a bootstrap's."""

import pytest

import precede as pc
from precede.report import summarize
from precede.report.words import sure_words

OPTIONS = {"n_iterations": 0, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def data():
    return pc.simulate(n_variables=4, degree=1.5, n_samples=300, sem="heteroscedastic", random_state=3).data


@pytest.mark.parametrize("options", [{"score": "policy"}, {"score": "location-scale", "policy_weight": 40}])
def test_edges_have_the_probabilities_of_the_policy(data, options):
    model = pc.CORL(**options, diagnose="quick", **OPTIONS).fit(data)
    found = model.diagnostics_
    said = {(one["cause"], one["effect"]): one["probability"] for one in found["policy"]}
    assert found.edges
    assert found.confidence_from == "policy"
    for edge in found.edges:
        pair = data.columns[edge.cause], data.columns[edge.effect]
        assert edge.confidence == said.get(pair, 0.0)
        assert edge.connected == pytest.approx(edge.confidence + said.get(pair[::-1], 0.0))
    assert next(check for check in found.checks if check.name == "unlikely edges").value == sum(
        edge.confidence < 0.5 for edge in found.edges
    )
    assert any("The pretrained policy finds" in sentence for sentence in sure_words(found))
    summary = summarize(model, pc.load_table(data))
    assert summary["has_confidence"]
    assert summary["by_policy"]
    assert [edge["confidence"] for edge in summary["edges"]] == [round(edge.confidence, 3) for edge in found.edges]


def test_other_scores_are_resampled_though_the_policy_was_asked(data):
    model = pc.CORL(score="nongaussian", pruning="policy", **OPTIONS).fit(data)
    assert "policy" in model.diagnostics_
    assert model.diagnostics_.confidence_from == ("resamples" if model.graph_.n_edges else None)


def test_a_bootstrap_of_the_policy_takes_their_place(data):
    model = pc.CORL(score="policy", diagnose="quick", **OPTIONS).fit(data)
    shares = model.bootstrap(data, n_resamples=4, random_state=1)
    again = model.bootstrap(data, n_resamples=4, random_state=1)
    assert (shares.edge_probability == again.edge_probability).all().all()
    assert shares.edge_probability.to_numpy().max() > 0.7  # some edge comes back
    other = model.bootstrap(data, n_resamples=4, random_state=2)
    assert (shares.edge_probability != other.edge_probability).any().any()
    summary = summarize(model, pc.load_table(data), confidence=shares)
    assert not summary["by_policy"]
    assert summary["resamples"] == 4
    for edge in summary["edges"]:
        assert edge["confidence"] == shares.edge_probability.iloc[edge["cause"], edge["effect"]]
    assert not any(check["name"] == "unlikely edges" for check in summary["checks"])
