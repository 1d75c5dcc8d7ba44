"""The location-scale score: what it identifies, ties, held-out rows, and a policy's evidence beside it."""

import numpy as np
import pytest
import torch

import precede as pc
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.ranks import normal_scores
from precede.scores.location_scale import ConditionalDensity, spread_ties
from precede.scores.parent_tables import screened_score
from precede.scores.policy_prior import PolicyEvidence, PolicyPriorScore, informed
from precede.search.exact import exact_order


def location_scale_score(values, policy=None, **options):
    """The score of that name, with a policy's evidence where it is given."""
    return screened_score(informed(ConditionalDensity(values), policy), **options)


def gain(values):
    """Nats by which column 0 -> column 1 is ahead of the other direction."""
    alone, given_first, given_second = ConditionalDensity(values).of_sets([(), (0,), (1,)])
    return alone[0] + given_first[1] - alone[1] - given_second[0]


@pytest.mark.parametrize("shape", ["scale", "uniform", "bent"])
def test_directions_that_it_identifies(shape):
    rng = np.random.default_rng(0)
    cause, noise = rng.normal(size=(2, 600))
    effect = {
        "scale": cause + np.exp(cause) * noise,
        "uniform": cause + rng.uniform(-1, 1, 600),
        "bent": np.exp(1.5 * (np.sin(2 * cause) + 0.4 * noise)),  # additive noise, seen through a bend
    }[shape]
    assert gain(np.column_stack([cause, effect])) > 10
    assert gain(np.column_stack([effect, cause])) < -10


def test_a_linear_gaussian_pair_is_left_open():
    rng = np.random.default_rng(1)
    cause, noise = rng.normal(size=(2, 1000))
    assert abs(gain(np.column_stack([cause, cause + noise]))) < 10


def test_a_variable_that_has_nothing_to_do_with_another_does_not_pay():
    values = np.random.default_rng(2).normal(size=(500, 3))
    alone, given = ConditionalDensity(values).of_sets([(), (0,)])
    assert (given[1:] < alone[1:] + 2).all()  # held-out rows see through what was fitted to chance; a parent costs 3
    assert np.isnan(given[0])
    assert not location_scale_score(values).graph(np.array([0, 1, 2])).any()


def test_densities_integrate_to_one():
    density = ConditionalDensity(np.random.default_rng(3).normal(size=(300, 2)))
    grid = np.linspace(-8, 8, 4001)[:, None].repeat(2, axis=1)
    logs = density._log_density(density._targets[:, :2], grid)
    np.testing.assert_allclose(np.exp(logs).sum(axis=0) * 16 / 4001, 1, atol=0.02)


def test_units_and_the_sequence_of_columns_do_not_matter():
    data = pc.simulate(n_variables=4, degree=1.5, n_samples=300, sem="heteroscedastic", random_state=4).data.to_numpy()
    score, other = location_scale_score(data), location_scale_score(data[:, ::-1] * [3.0, 0.1, 20.0, 1.0] + 5)
    orders = torch.tensor([[0, 1, 2, 3], [3, 0, 2, 1]])
    torch.testing.assert_close(score.sums(orders), other.sums(3 - orders), rtol=1e-6, atol=1e-6)


def test_ties_are_spread_over_their_gaps():
    rng = np.random.default_rng(5)
    column = np.array([0.0, 0.0, 1.0, 3.0, 3.0, 3.0, 9.0])
    spread = spread_ties(column, rng)
    assert (spread[[2, 6]] == [1, 9]).all()  # alone
    assert ((spread[:2] > -0.5) & (spread[:2] < 0.5)).all()
    assert ((spread[3:6] > 2) & (spread[3:6] < 6)).all()
    assert len(np.unique(spread)) == 7
    assert spread_ties(column[[0, 2, 3, 6]], rng).tolist() == [0, 1, 3, 9]


def test_normal_scores_keep_ranks():
    columns = np.random.default_rng(6).exponential(size=(200, 1))
    scores = normal_scores(columns)
    assert (np.argsort(scores[:, 0]) == np.argsort(columns[:, 0])).all()
    assert abs(scores.std() - 1) < 0.05


def test_graphs_of_data_that_fit():
    data = pc.simulate(n_variables=6, degree=1, n_samples=600, sem="heteroscedastic", random_state=1)
    model = pc.CORL(score="location-scale", n_iterations=0, diagnose=False, random_state=0, verbose=False)
    assert pc.evaluate(model.fit(data.data).graph_, data.graph).shd <= 1
    assert model.diagnostics_["identifies"] == "dag"


# -- a policy's evidence ---------------------------------------------------------------------------------------


def test_log_odds_are_added_for_every_parent():
    values = np.random.default_rng(7).normal(size=(200, 3))
    edges = np.array([[0, 0.9, 0.2], [0.05, 0, 0.5], [0.1, 0.1, 0]])
    policy = PolicyEvidence(edges, weight=3.0)
    density = ConditionalDensity(values)
    plain, both = density.of_sets([(0, 1)])[0, 2], PolicyPriorScore(density, policy).of_sets([(0, 1)])[0, 2]
    assert both - plain == pytest.approx(3 * (np.log(0.2 / 0.7) + np.log(0.5 / 0.4)))


def test_the_policy_decides_where_the_data_do_not():
    rng = np.random.default_rng(8)
    cause, noise = rng.normal(size=(2, 500))
    values = np.column_stack([cause, cause + noise])
    for first, second in ((0.9, 0.05), (0.05, 0.9)):
        policy = PolicyEvidence(np.array([[0, first], [second, 0]]))
        best = exact_order(location_scale_score(values, policy=policy)).order
        assert best[0] == (0 if first > second else 1)


def test_a_weight_of_zero_is_the_score_alone():
    values = np.random.default_rng(9).normal(size=(100, 2))
    policy = PolicyEvidence(np.full((2, 2), 0.3), weight=0.0)
    score = location_scale_score(values, policy=policy)
    assert score.name == "location-scale"
    orders = torch.tensor([[0, 1]])
    assert score.sums(orders) == location_scale_score(values).sums(orders)


def test_knowledge_is_obeyed_whatever_the_policy_says():
    data = pc.simulate(n_variables=4, degree=1.5, n_samples=200, sem="heteroscedastic", random_state=2)
    names = list(data.data.columns)
    cause, effect, _ = data.graph.edge_list()[0]
    knowledge = pc.Knowledge(forbidden=[(cause, effect)], required=[(effect, cause)])
    model = pc.CORL(
        score="location-scale", policy_weight=40, knowledge=knowledge, n_iterations=0, diagnose=False, random_state=0,
        verbose=False,
    ).fit(data.data)  # fmt: skip
    edges = model.graph_.edges
    assert edges[names.index(effect), names.index(cause)]
    assert not edges[names.index(cause), names.index(effect)]
    assert model.diagnostics_["score"] == "location-scale+policy"
    assert any("weighted × 40" in remark for remark in model.diagnostics_["remarks"])


def test_the_weight_changes_the_answer_and_is_refused_where_nothing_can_read_it():
    data = pc.simulate(n_variables=4, degree=1, n_samples=200, random_state=0).data
    options = {"n_iterations": 0, "diagnose": False, "random_state": 0, "verbose": False}
    scores = [
        pc.CORL(score="location-scale", policy_weight=weight, **options).fit(data).diagnostics_["search"]["best_score"]
        for weight in (0, 10, 40)
    ]
    assert len(set(scores)) == 3
    with pytest.raises(OptionError, match="policy_weight=5 does not go with score='nongaussian'"):
        pc.CORL(score="nongaussian", policy_weight=5, **options).fit(data)
    many = np.random.default_rng(0).normal(size=(160, 151))
    with pytest.raises(OptionError, match="policy_weight=5 cannot be used here"):
        pc.CORL(score="location-scale", policy_weight=5, **options).fit(many)


def test_candidates_keep_to_the_constraints():
    values = np.random.default_rng(10).normal(size=(100, 3)).cumsum(axis=1)
    allowed = np.ones((3, 3), dtype=bool)
    allowed[0, 1] = False
    np.fill_diagonal(allowed, False)
    constraints = Constraints(np.zeros((3, 3), dtype=bool), allowed, np.zeros((3, 3), dtype=bool))
    assert not location_scale_score(values, constraints=constraints).graph(np.array([0, 1, 2]))[0, 1]
