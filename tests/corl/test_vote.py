"""Classes that vote where none holds: majority, order, knowledge, what is open, and who is left out."""

import itertools

import numpy as np
import pytest

import precede as pc
from precede.corl.fit import Fit
from precede.corl.vote import MEMBERS, Ballot, VoteScore, vote
from precede.data.load import load_table
from precede.errors import OptionError
from precede.graph.dags import is_acyclic
from precede.knowledge import Constraints, constraints_over
from precede.runtime.deadline import Deadline

USUAL = {"random_state": 0, "verbose": False, "diagnose": False}


@pytest.fixture(scope="module")
def uneven():
    return pc.simulate("er", 6, 1.2, sem="heteroscedastic", n_samples=400, standardize=True, random_state=3)


def ballots(*patterns):
    d = len(patterns[0])
    return [Ballot(str(k), np.asarray(one, dtype=float), np.arange(d)) for k, one in enumerate(patterns)]


def answer(score):
    order = score.quick_order(score.constraints)
    return score.graph(order), order


def test_most_votes_join_a_pair_and_give_it_its_direction():
    one, other, none = [[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 0], [0, 0]]
    for patterns, expected in (((one, one, other), one), ((one, none, none), none), ((other, other, none), other)):
        edges, _ = answer(VoteScore(ballots(*patterns), Constraints.none(2)))
        assert (edges == np.array(expected, dtype=bool)).all()


def test_the_order_loses_the_fewest_votes():
    rng = np.random.default_rng(0)
    for _ in range(20):
        patterns = [np.triu(rng.random((4, 4)) < 0.6, 1)[np.ix_(p, p)] for p in (rng.permutation(4) for _ in range(5))]
        score = VoteScore(ballots(*patterns), Constraints.none(4))
        edges, _ = answer(score)
        assert is_acyclic(edges)
        sums = {p: float(score.score_of(np.array(p))) for p in itertools.permutations(range(4))}
        climbed = pc.CORL(score=score, search="local", **USUAL).fit(np.random.default_rng(1).normal(size=(30, 4)))
        assert climbed.score_ == pytest.approx(max(sums.values()))


def test_a_disputed_direction_is_open_and_a_clear_one_says_who_told_it():
    forward, back, half = [[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 0.5], [0.5, 0]]
    said = [Ballot(name, np.array(p, dtype=float), np.arange(2)) for name, p in (("policy", forward), ("x", back))]
    assert VoteScore(said, Constraints.none(2)).source_of(0, 1) == "open"
    said = [Ballot(name, np.array(p, dtype=float), np.arange(2)) for name, p in (("policy", forward), ("x", half))]
    assert VoteScore(said * 2, Constraints.none(2)).source_of(0, 1) == "policy"
    said = [Ballot(name, np.array(forward, dtype=float), np.arange(2)) for name in ("policy", "sparse-linear")]
    assert VoteScore(said, Constraints.none(2)).source_of(0, 1) == "structure"


def test_every_edge_says_who_voted_how(uneven):
    model = pc.CORL(score="vote", **(USUAL | {"diagnose": "quick"})).fit(uneven.data)
    votes = model.diagnostics_["votes"]
    assert [(one["cause"], one["effect"]) for one in votes] == [
        (i, j) for i, j, _ in sorted(model.graph_.edge_list(), key=lambda e: (e[0], e[1]))
    ]
    members = {"policy", "sparse-linear", "sparse-gp-additive", "location-scale"}
    assert all(members < set(one) for one in votes)
    for one in votes:
        joined = sum(one[name] != "no edge" for name in members)
        assert joined > len(members) / 2
    sources = {(model.graph_.names[e.cause], model.graph_.names[e.effect]): e.source for e in model.diagnostics_.edges}
    for one in votes:
        against = [one[name] for name in members].count("against")
        if against >= 2:
            assert sources[one["cause"], one["effect"]] == "open"


def test_members_obey_what_is_known_and_so_does_the_vote(uneven):
    names = list(uneven.data.columns)
    known = pc.Knowledge(tiers=[names[:3], names[3:]], required=[(names[0], names[5])])
    table = load_table(uneven.data)
    rules = constraints_over(known, table.names)
    without_policy = Fit(pc.CORL("linear"), table, rules, np.random.default_rng(0), Deadline(None))
    score = vote(without_policy, pc.scores.linear.LinearScore.device)
    for ballot in score.ballots:
        assert not rules.violated_by(ballot.pattern == 1)
        assert ballot.pattern[0, 5] == 1
    graph = pc.CORL(score="vote", knowledge=known, **USUAL).fit(uneven.data).graph_
    assert graph.edges[graph.position(names[0]), graph.position(names[5])]
    assert not rules.violated_by(graph.edges)


def test_members_that_take_too_long_are_left_out_and_named(monkeypatch, uneven):
    monkeypatch.setitem(MEMBERS, "sparse-gp-additive", (0, 3))
    model = pc.CORL(score="vote", **USUAL).fit(uneven.data)
    assert "sparse-gp-additive" not in model.diagnostics_["votes"][0]
    assert "sparse-gp-additive would take too long on 6 columns" in model.diagnostics_.remarks[0].sentence


def test_the_sequence_of_the_columns_does_not_matter(uneven):
    one = pc.CORL(**USUAL).fit(uneven.data)
    assert one.diagnostics_["score"] == "vote"
    other = pc.CORL(**USUAL).fit(uneven.data[uneven.data.columns[::-1]])
    names = list(uneven.data.columns)
    assert (one.adjacency_matrix_.loc[names, names] == other.adjacency_matrix_.loc[names, names]).all(axis=None)


def test_a_noise_option_is_refused(uneven):
    with pytest.raises(OptionError, match="score='vote' takes no noise option"):
        pc.CORL(score="vote", noise="equal", **USUAL).fit(uneven.data)
