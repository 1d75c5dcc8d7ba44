"""Confidence is the share of resamples and nothing else: what the policy finds likely has a name of its own."""

import pytest

import precede as pc
from precede.report import render_report, summarize
from precede.report.words import sure_words

OPTIONS = {"n_iterations": 0, "random_state": 0, "verbose": False}


@pytest.fixture(scope="module")
def data():
    return pc.simulate(n_variables=4, degree=1.5, n_samples=300, sem="heteroscedastic", random_state=3).data


@pytest.mark.parametrize("options", [{"score": "policy"}, {"score": "location-scale", "policy_weight": 40}])
def test_what_the_policy_finds_likely_is_no_confidence(data, options):
    model = pc.CORL(**options, diagnose="quick", **OPTIONS).fit(data)
    found = model.diagnostics_
    said = {(one["cause"], one["effect"]): one["probability"] for one in found["policy"]}
    assert found.edges
    assert not found.has_confidence
    for edge in found.edges:
        pair = data.columns[edge.cause], data.columns[edge.effect]
        assert (edge.policy_probability, edge.confidence, edge.connected) == (said.get(pair, 0.0), None, None)
    by_name = {check.name: check for check in found.checks}
    assert by_name["unlikely edges"].value == sum(edge.policy_probability < 0.5 for edge in found.edges)
    assert by_name["unstable edges"].level == "not run"
    assert any("was not tested" in sentence for sentence in sure_words(found))
    summary = summarize(model, pc.load_table(data))
    assert not summary["has_confidence"]
    page = render_report(summary)
    assert "the probability that the pretrained policy gives this edge" in page
    assert "Confidence is" not in page


def test_other_scores_are_resampled_though_the_policy_was_asked(data):
    model = pc.CORL(score="nongaussian", pruning="policy", **OPTIONS).fit(data)
    assert "policy" in model.diagnostics_
    assert model.diagnostics_.has_confidence == (model.graph_.n_edges > 0)
    assert all(edge.policy_probability is None for edge in model.diagnostics_.edges)


def test_a_bootstrap_gives_confidences_beside_the_probabilities(data):
    model = pc.CORL(score="policy", diagnose="quick", **OPTIONS).fit(data)
    shares = model.bootstrap(data, n_resamples=4, random_state=1)
    again = model.bootstrap(data, n_resamples=4, random_state=1)
    assert (shares.edge_probability == again.edge_probability).all().all()
    assert shares.edge_probability.to_numpy().max() > 0.7  # some edge comes back
    other = model.bootstrap(data, n_resamples=4, random_state=3)
    assert (shares.edge_probability != other.edge_probability).any().any()
    summary = summarize(model, pc.load_table(data), confidence=shares)
    assert summary["has_confidence"]
    assert summary["resamples"] == 4
    for edge in summary["edges"]:
        assert edge["confidence"] == shares.edge_probability.iloc[edge["cause"], edge["effect"]]
    assert all(edge["policy_probability"] is not None for edge in summary["edges"])
    assert {check["name"]: check["level"] for check in summary["checks"]}["unstable edges"] != "not run"
