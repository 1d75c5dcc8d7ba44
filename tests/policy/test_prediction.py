"""Views of a table, the policy's prediction, and the score made of it."""

import numpy as np
import pytest
import torch

from precede import CORL, Knowledge, load_table, simulate
from precede.data.load import Table
from precede.errors import OptionError
from precede.graph.dags import full_dag
from precede.kinds import ColumnKind
from precede.knowledge import Constraints, constraints_over
from precede.policy.inputs import MOST_VIEWS, Views, numeric_reading, walsh_signs
from precede.policy.prediction import EdgeOpinion, PolicyPrediction, judge, judge_table, load_pretrained
from precede.scores.policy_prior import LIKELY, PolicyScore, likely_edges


@pytest.fixture(scope="module")
def policy():
    return load_pretrained("default")


def views_of(values, n_rows=50, **options):
    return Views(values, n_rows, np.random.default_rng(0), torch.device("cpu"), **options).draw(1).numpy()


# -- views -----------------------------------------------------------------------------------------------------


def test_views_are_standardized_and_differ_in_rows_and_signs():
    values = np.random.default_rng(1).exponential(size=(200, 4)) * [1, 10, 100, 1000]
    views = views_of(values)
    assert views.shape == (MOST_VIEWS, 4, 51)
    assert (views[:, :, -1] == 0).all()
    standard = ((values - values.mean(0)) / values.std(0)).T
    seen = set()
    for view, signs in zip(views, walsh_signs(MOST_VIEWS, np.argsort(np.argsort((standard**3).mean(1)))), strict=True):
        rows = (view[:, :-1] * signs[:, None]).T
        places = [int(np.abs(standard.T - row).sum(1).argmin()) for row in rows]
        assert np.allclose(standard.T[places], rows, atol=1e-4)
        seen |= set(places)
    assert len(seen) == 200  # no row is left out


def test_scales_are_shown_if_asked_for_and_missing_cells_stay_missing():
    values = np.random.default_rng(1).normal(size=(30, 3)) * [1, np.e, np.e**2]
    values[0, 0] = np.nan
    views = views_of(values, scales=True)
    assert views[0, :, -1] == pytest.approx([-1, 0, 1], abs=0.3)
    assert np.isnan(views[0, 0]).sum() == 1
    assert np.isfinite(views[0, 1:]).all()


def test_large_tables_are_looked_at_less_often():
    rng = np.random.default_rng(0)
    assert len(views_of(rng.normal(size=(300, 3)), 1000)) > len(views_of(rng.normal(size=(1000, 60)), 1000))


# -- prediction -------------------------------------------------------------------------------------------------


def test_it_tells_linear_non_gaussian_graphs(policy):
    data = simulate(n_variables=10, degree=1.5, sem="lingam", n_samples=800, standardize=True, random_state=11)
    said = judge(data.data.to_numpy(), policy)
    truth = data.graph.edges
    assert said.precedence[truth].mean() > 0.9
    assert said.edges[truth].mean() > 0.6
    assert said.edges[~truth].mean() < 0.1
    assert np.allclose(said.precedence + said.precedence.T + np.eye(10), 1)


def unknown(d):
    return Constraints.none(d)


def test_a_table_with_holes_or_categories_is_judged_and_a_wide_one_is_not(policy):
    data = simulate(n_variables=6, degree=1, sem="lingam", n_samples=500, standardize=True, random_state=12)
    values = data.data.to_numpy().copy()
    values[np.random.default_rng(0).random(values.shape) < 0.1] = np.nan
    assert judge(values, policy).edges[data.graph.edges].mean() > 0.5
    names = tuple(data.data.columns)
    table = Table(data.data.to_numpy(), names, True)
    assert isinstance(judge_table(table, None, unknown(6)), PolicyPrediction)
    wide = Table(np.random.default_rng(0).normal(size=(20, 151)), tuple(range(151)), False)
    assert judge_table(wide, None, unknown(151)) is None


def test_names_of_levels_and_their_sequence_do_not_matter():
    """A category is read by what goes with its levels, whichever of them comes first."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=600)
    effect = cause**2 + 0.3 * rng.normal(size=600)
    places = np.searchsorted([-0.7, 0.2, 0.9], cause).astype(float)
    kinds = (
        ColumnKind("categorical", (0.0, 1.0, 2.0, 3.0), ("a", "b", "c", "d")),
        *Table(cause[:, None], (0,), False).kinds,
    )
    turned = np.array([2.0, 0.0, 3.0, 1.0])[places.astype(int)]
    first, second = (
        judge_table(Table(np.column_stack([column, effect]), ("level", "number"), True, kinds=kinds), None, unknown(2))
        for column in (places, turned)
    )
    assert np.allclose(first.edges, second.edges, atol=1e-5)
    plain = judge_table(Table(np.column_stack([turned, effect]), ("level", "number"), True), None, unknown(2))
    assert not np.allclose(plain.edges, first.edges, atol=1e-3)


def test_a_reading_keeps_gaps_and_other_columns():
    values = torch.tensor([[[1.0, 2.0, torch.nan, 4.0, 5.0], [0.0, 1.0, 1.0, torch.nan, 2.0]]])
    read = numeric_reading(values, torch.tensor([[False, True]]))
    assert torch.equal(read[0, 0].nan_to_num(-9), values[0, 0].nan_to_num(-9))
    assert read[0, 1].isnan().tolist() == [False, False, False, True, False]
    assert read[0, 1, 1] == read[0, 1, 2] != read[0, 1, 0]


def test_the_prediction_agrees_with_what_is_known(policy):
    data = simulate(n_variables=6, degree=1.5, sem="lingam", n_samples=300, standardize=True, random_state=3).data
    names = list(data.columns)
    free = judge(data.to_numpy(), policy)
    order = [names[k] for k in free.order]
    known = Knowledge(tiers=[[name] for name in reversed(order)], required=[(order[5], order[0])])
    told = constraints_over(known, names)
    said = judge(data.to_numpy(), policy, constraints=told)
    assert said.order.tolist() == free.order[::-1].tolist()
    assert said.edges[free.order[5], free.order[0]] == pytest.approx(1)
    assert said.edges[told.before.T].max() < 1e-9
    assert np.array_equal(said.precedence, full_dag(said.order).astype(float))
    assert (said.edges + said.edges.T + said.common <= 1 + 1e-6).all()


def test_records_are_sorted_and_named():
    edges, common = np.array([[0, 0.7], [0.004, 0]]), np.array([[0, 0.2], [0.2, 0]])
    said = PolicyPrediction(np.array([0, 1]), np.array([[0, 0.9], [0.1, 0]]), edges, common)
    assert said.opinions(["a", "b"]) == [EdgeOpinion("a", "b", 0.7, 0.9, 0.2)]
    assert said.likely(0.5).tolist() == [[False, True], [False, False]]
    assert not said.likely(0.8).any()


# -- the score -------------------------------------------------------------------------------------------------


def random_score(seed, d=6, constraints=None):
    rng = np.random.default_rng(seed)
    precedence = rng.uniform(0.05, 0.95, (d, d))
    precedence = np.triu(precedence, 1) + np.tril(1 - precedence.T, -1)
    edges = rng.uniform(0, 0.45, (d, d)) * (1 - np.eye(d))
    return PolicyScore(precedence, edges, rng.permutation(d), constraints)


def test_terms_are_the_log_odds_of_pairs():
    score = random_score(0, d=4)
    order = [2, 0, 3, 1]
    terms = score.terms(torch.tensor([order]))[0]
    assert terms[0] == 0
    assert float(terms[2]) == pytest.approx(float(score.log_odds[2, 3] + score.log_odds[0, 3]))


def test_insertion_sums_are_those_of_the_moved_orders():
    score = random_score(1)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    quick = score.insertion_sums(order)
    slow = super(PolicyScore, score).insertion_sums(order)
    assert torch.allclose(quick, slow)


def test_the_quick_order_cannot_be_improved_by_a_move_and_obeys_knowledge():
    score = random_score(2)
    order = torch.as_tensor(score.quick_order(Constraints.none(6)))
    assert float(score.insertion_sums(order).max()) <= float(score.sums(order[None])) + 1e-9
    before = np.zeros((6, 6), dtype=bool)
    first, last = int(order[0]), int(order[-1])
    before[last, first] = True
    bound = Constraints(np.zeros((6, 6), dtype=bool), ~np.eye(6, dtype=bool), before)
    obeyed = random_score(2, constraints=bound).quick_order(bound)
    assert bound.permits(obeyed)


def test_likely_edges_follow_order_probability_and_knowledge():
    edges = np.array([[0, LIKELY, 0.1], [0.5, 0, 0.9], [0, 0, 0]])
    none = Constraints.none(3)
    assert np.argwhere(likely_edges(edges, np.array([0, 1, 2]), none)).tolist() == [[0, 1], [1, 2]]
    assert np.argwhere(likely_edges(edges, np.array([1, 0, 2]), none)).tolist() == [[1, 0], [1, 2]]
    required = np.zeros((3, 3), dtype=bool)
    required[0, 2] = True
    bound = Constraints(required, none.allowed, required)
    assert likely_edges(edges, np.array([0, 1, 2]), bound)[0, 2]


# -- in CORL ---------------------------------------------------------------------------------------------------


def fit(data, **options):
    usual = {"n_iterations": 0, "diagnose": False, "random_state": 0, "verbose": False}
    return CORL(**(usual | options)).fit(data)


def test_pruning_by_the_policy_takes_its_likely_edges():
    data = simulate(n_variables=7, degree=1.5, sem="lingam", n_samples=500, standardize=True, random_state=5)
    model = fit(data.data, score="nongaussian", pruning="policy")
    said = {(edge["cause"], edge["effect"]): edge["probability"] for edge in model.diagnostics_["policy"]}
    assert model.graph_.n_edges > 3
    assert all(said[cause, effect] >= LIKELY for cause, effect, _ in model.graph_.edge_list())
    assert fit(data.data, score="nongaussian").diagnostics_.get("policy") is None


def test_the_policys_score_obeys_knowledge_and_searches_exactly():
    data = simulate(n_variables=6, degree=1.5, sem="lingam", n_samples=400, standardize=True, random_state=6).data
    free = fit(data, score="policy")
    turned = Knowledge(tiers=[[name] for name in reversed(free.causal_order_)])
    assert fit(data, score="policy", knowledge=turned).causal_order_ == free.causal_order_[::-1]
    exact = CORL(score="policy", search="exact", diagnose=False, verbose=False).fit(data)
    assert exact.score_ >= free.score_ - 1e-9
    with pytest.raises(OptionError, match="score='policy'"):
        fit(data, score="policy", noise="equal")


def test_auto_lets_classes_vote_where_noise_depends_on_the_causes():
    rng = np.random.default_rng(0)
    cause = rng.uniform(-1.5, 1.5, 600)
    middle = cause + rng.normal(size=600) * np.exp(cause)
    effect = middle - cause + rng.normal(size=600) * np.exp(0.7 * cause)
    values = np.column_stack([cause, middle, effect])
    model = fit(values)
    choice = model.diagnostics_["score_choice"]
    assert model.diagnostics_["score"] == choice["name"] == "vote"
    assert all(vote["policy"] in ("for", "against", "no edge") for vote in model.diagnostics_["votes"])
    assert model.causal_order_[0] == model.graph_.names[0]
    assert choice["figures"]["uneven_noise"] > 0.5
    assert "depends on the causes" in choice["reason"]
    values[::20, 1] = np.nan
    usual = {"n_iterations": 0, "diagnose": False, "random_state": 0, "verbose": False}
    assert (
        CORL(**usual).fit(load_table(values, missing="em")).diagnostics_["score"] == "policy"
    )  # densities need whole rows
    assert fit(values[~np.isnan(values[:, 1])], policy_weight=0).diagnostics_["score"] == "location-scale"


def test_auto_lets_the_policy_count_where_there_is_one_pair():
    rng = np.random.default_rng(3)
    cause = rng.uniform(-1, 1, 500)
    values = np.column_stack([cause, np.sin(3 * cause) + 0.2 * rng.normal(size=500)])
    pair = fit(values)
    assert pair.diagnostics_["score"] == "location-scale+policy"
    assert "One pair" in pair.diagnostics_["score_choice"]["reason"]
    further = np.column_stack([values, np.cos(2 * values[:, 1]) + 0.2 * rng.normal(size=500)])
    assert fit(further).diagnostics_["score"] == "sparse-gp"


def test_auto_lets_the_policy_count_where_columns_are_rounded():
    data = simulate(n_variables=5, degree=1, sem="lingam", n_samples=600, standardize=True, random_state=7)
    rounded = (data.data * 4).round() / 4 + 0.1
    assert fit(rounded).diagnostics_["score"] == "vote"
    assert fit(data.data).diagnostics_["score_choice"]["name"] == "linear-any"
