"""Simulated data: what the options promise."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from precede.errors import OptionError
from precede.graph.dags import full_dag, is_acyclic
from precede.metrics import var_sortability
from precede.simulation import SEMS, simulate
from precede.simulation.draws import NumpyDraws
from precede.simulation.graphs import GRAPH_KINDS, random_dag, scale_free
from precede.simulation.mechanisms import gp_additive, gp_joint, gp_scaled
from precede.simulation.noise import EXPONENT_RANGES, UNEQUAL_RANGE, power

quick = settings(deadline=None, max_examples=25)


@quick
@given(st.integers(2, 20), st.data())
def test_er_has_exactly_the_edges_asked_for(n_variables, data):
    degree = data.draw(st.integers(1, max(1, (n_variables - 1) // 2)))
    if 2 * degree > n_variables - 1:
        degree = (n_variables - 1) / 2
    adjacency, order = random_dag("er", n_variables, degree, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert adjacency.sum() == round(degree * n_variables)
    assert not (adjacency & ~full_dag(order)).any()


@quick
@given(st.integers(2, 20), st.data())
def test_sf_attaches_each_node_to_older_ones(n_variables, data):
    degree = data.draw(st.integers(1, n_variables - 1))
    adjacency, order = random_dag("sf", n_variables, degree, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert adjacency.sum() == degree * n_variables - degree * (degree + 1) // 2
    assert not (adjacency & ~full_dag(order)).any()
    # newer -> older: every node but the last few in causal order has exactly `degree` effects
    assert (adjacency[order].sum(axis=1) == np.minimum(degree, np.arange(n_variables)[::-1])).all()


@pytest.mark.parametrize("kind", ["sf", "sf-degree", "sf-repeat"])
def test_sf_hubs_are_effects(kind):
    adjacency, order = random_dag(kind, 200, 2, np.random.default_rng(0))
    assert adjacency.sum(axis=0).max() > 15
    assert adjacency.sum(axis=1).max() == 2
    assert not (adjacency & ~full_dag(order)).any()


def grown(n_variables, degree, seed, kind):
    draws = NumpyDraws(np.random.default_rng(seed))
    return scale_free(torch.tensor([float(degree)]).double(), n_variables, draws, kind)[0].numpy()


def share_of_the_first(kind, seeds=range(2000)):
    """How often the fourth node of a graph with one edge per node attaches to the first."""
    return np.mean([grown(4, 1, seed, kind)[0, 3] for seed in seeds])


def test_sf_prefers_older_nodes_by_the_rule_named():
    """Nodes 0 and 1 have in-degrees (2, 0) or (1, 1) before node 3 comes, by where node 2 attached."""
    # in-degree + 1: node 2 takes node 0 with 2/3, then weights are (3, 1, 1), else (2, 2, 1)
    assert share_of_the_first("sf") == pytest.approx(2 / 3 * 3 / 5 + 1 / 3 * 2 / 5, abs=0.03)
    # total degree: (1, 1), then (2, 1, 1) or (1, 2, 1)
    assert share_of_the_first("sf-degree") == pytest.approx(1 / 2 * 2 / 4 + 1 / 2 * 1 / 4, abs=0.03)


def test_sf_repeat_counts_an_edge_once():
    edges = [random_dag("sf-repeat", 30, 5, np.random.default_rng(seed))[0].sum() for seed in range(50)]
    assert 70 < np.mean(edges) < 82  # of 135 without replacement
    by_one = grown(10, 1, 0, "sf-repeat")
    assert by_one.sum() == 9


def test_column_order_is_not_the_causal_order():
    orders = {tuple(random_dag("er", 5, 1, np.random.default_rng(seed))[1]) for seed in range(40)}
    assert len(orders) > 25
    assert not all(is_sorted(order) for order in orders)


def is_sorted(order):
    return list(order) == sorted(order)


@pytest.mark.parametrize("sem", SEMS)
@pytest.mark.parametrize("graph", GRAPH_KINDS)
def test_every_sem_is_deterministic_finite_and_true_to_its_graph(sem, graph):
    first, again, other = (simulate(graph, 6, 1, sem, 60, random_state=seed) for seed in (3, 3, 4))
    assert first.data.equals(again.data)
    assert first.graph == again.graph
    assert not first.data.equals(other.data)
    assert np.isfinite(first.data.select_dtypes("number").to_numpy()).all()
    assert list(first.data.columns) == list(first.graph.names) == [f"x{k}" for k in range(1, 7)]
    assert is_acyclic(first.graph.edges)
    assert json.loads(json.dumps(first.settings)) == first.settings
    assert first.settings["sem"] == sem


def test_a_generator_is_accepted_and_advances():
    rng = np.random.default_rng(0)
    assert not simulate(n_variables=5, n_samples=9, random_state=rng).data.equals(
        simulate(n_variables=5, n_samples=9, random_state=rng).data
    )


@pytest.mark.parametrize("sem", ["linear-gaussian", "lingam"])
def test_linear_data_solves_its_equations(sem):
    dataset = simulate("er", 8, 2, sem, 20_000, random_state=1)
    x, weights = dataset.data.to_numpy(), dataset.graph.strengths
    noise = x - x @ weights
    assert np.allclose(noise.std(axis=0), 1, atol=0.06)
    assert np.abs(np.corrcoef(noise, rowvar=False) - np.eye(8)).max() < 0.05
    sizes = np.abs(weights[weights != 0])
    assert sizes.min() >= 0.5
    assert sizes.max() <= 2.0


def test_noise_option_sets_the_spread():
    dataset = simulate("er", 40, 1, n_samples=5000, noise="unequal", random_state=0)
    noise = dataset.data.to_numpy() @ (np.eye(40) - dataset.graph.strengths)
    spread = noise.std(axis=0)
    assert spread.min() > UNEQUAL_RANGE[0] * 0.95
    assert spread.max() < UNEQUAL_RANGE[1] * 1.05
    assert spread.max() / spread.min() > 2


@pytest.mark.parametrize("sem", SEMS)
def test_noise_option_is_read_by_every_sem(sem):
    data = [simulate("er", 5, 1, sem, 50, noise=noise, random_state=0).data for noise in ("equal", "unequal")]
    assert not data[0].equals(data[1])


def test_lingam_noise_is_non_gaussian_with_unit_variance():
    noise = power((1, 200_000, 12), NumpyDraws(np.random.default_rng(0)))[0].numpy()
    kurtosis = (noise**4).mean(axis=0) / (noise**2).mean(axis=0) ** 2
    assert np.allclose(noise.std(axis=0), 1, atol=0.03)
    assert (np.abs(kurtosis - 3) > 0.3).all()  # 3 is Gaussian; the nearest exponents are .8 and 1.2
    assert (kurtosis < 3).any()
    assert (kurtosis > 3).any()
    assert EXPONENT_RANGES == ((0.5, 0.8), (1.2, 2.0))


def test_weight_range_is_obeyed():
    graph = simulate("er", 10, 2, n_samples=5, weight_range=(3.0, 3.5), random_state=0).graph
    sizes = np.abs(graph.strengths[graph.edges])
    assert ((sizes >= 3.0) & (sizes <= 3.5)).all()
    assert {-1.0, 1.0} == set(np.sign(graph.strengths[graph.edges]))


@pytest.mark.parametrize("sem", ["quadratic", "mlp"])
def test_weight_range_matters_to_nonlinear_sems(sem):
    small, large = (
        simulate("er", 5, 2, sem, 200, weight_range=bounds, random_state=0) for bounds in ((0.1, 0.2), (5.0, 6.0))
    )
    assert large.data.std().max() > 3 * small.data.std().max()


@pytest.mark.parametrize("sem", SEMS)
def test_standardize(sem):
    dataset = simulate("er", 6, 1, sem, 300, standardize=True, random_state=0)
    numbers = dataset.data.select_dtypes("number")
    assert np.allclose(numbers.mean(), 0)
    assert np.allclose(numbers.std(ddof=0), 1)


def test_standardize_rescales_the_true_weights():
    raw, scaled = (simulate("er", 6, 2, n_samples=4000, standardize=s, random_state=0) for s in (False, True))
    noise = scaled.data.to_numpy() @ (np.eye(6) - scaled.graph.strengths)
    assert np.allclose(noise.std(axis=0), 1 / raw.data.std(ddof=0), rtol=0.1)


def test_linear_gaussian_data_is_var_sortable():
    """The paper's data has .986 to .999."""
    values = [var_sortability(d.data, d.graph) for d in (simulate(random_state=seed) for seed in range(3))]
    assert min(values) > 0.97


def draw(mechanism, points, rng):
    """The mechanism's variable at parents (n_samples, n_parents), without noise."""
    parents = torch.from_numpy(points.T.copy())[None]
    ones, nothing = torch.ones(parents.shape[:2]).double(), torch.zeros((1, len(points))).double()
    return mechanism(parents, ones, nothing, (0.5, 2.0), NumpyDraws(rng))[0].numpy()


def test_gp_draw_has_the_kernel_as_covariance():
    rng = np.random.default_rng(0)
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    draws = np.array([draw(gp_joint, points, rng) for _ in range(4000)])
    kernel = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2))
    assert np.abs(np.cov(draws, rowvar=False) - kernel).max() < 0.08


def test_gp_scaled_divides_squared_distances_by_the_parents():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.5]])
    rng = np.random.default_rng(0)
    draws = np.array([draw(gp_scaled, points, rng) for _ in range(4000)])
    assert np.cov(draws.T)[0, 1] == pytest.approx(np.exp(-0.5 * 5.25 / 3), abs=0.05)


def test_gp_quiet_has_half_the_noise():
    loud, quiet = (simulate("er", 5, 1, sem, 500, random_state=1) for sem in ("gp", "gp-quiet"))
    root = loud.graph.order[0]
    np.testing.assert_allclose(quiet.data[root], loud.data[root] / 2)
    assert quiet.graph == loud.graph


def test_gp_joint_and_additive_differ_only_with_several_parents():
    parents = np.random.default_rng(0).normal(size=(20, 2))

    def drawn(mechanism, columns):
        return draw(mechanism, parents[:, :columns], np.random.default_rng(1))

    assert np.allclose(drawn(gp_joint, 1), drawn(gp_additive, 1))
    assert not np.allclose(drawn(gp_joint, 2), drawn(gp_additive, 2))


def test_quadratic_data_needs_squares():
    """A linear fit leaves much more of some variable than one with squares and products."""
    dataset = simulate("er", 5, 2, "quadratic", 2000, random_state=2)
    x, edges = dataset.data.to_numpy(), dataset.graph.edges
    gains = []
    for j in range(5):
        parents = x[:, edges[:, j]]
        if parents.shape[1]:
            k = parents.shape[1]
            products = np.stack([parents[:, a] * parents[:, b] for a in range(k) for b in range(a + 1)], axis=1)
            ones = np.ones((len(x), 1))
            linear, full = np.hstack([ones, parents]), np.hstack([ones, parents, products])
            left = [np.var(x[:, j] - f @ np.linalg.lstsq(f, x[:, j], rcond=None)[0]) for f in (linear, full)]
            gains.append(left[0] / left[1])
            assert left[1] < 1.1  # the noise's variance
    assert max(gains) > 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"graph": "erd"}, r"graph='erd' is unknown: did you mean 'er'"),
        ({"sem": "linear-gausian"}, r"sem='linear-gausian' is unknown: did you mean 'linear-gaussian'"),
        ({"noise": "unequals"}, r"did you mean 'unequal'"),
        ({"n_variables": 0}, "n_variables=0"),
        ({"n_samples": 2.5}, "n_samples=2.5"),
        ({"degree": -1}, "degree=-1"),
        ({"n_variables": 5, "degree": 3}, "degree=3 asks for 15 edges, but 5 variables have only 10 pairs.*degree=2"),
        ({"graph": "sf", "n_variables": 5, "degree": 5}, "degree=5 cannot be used for a scale-free graph"),
        ({"graph": "sf", "degree": 1.5}, "degree=1.5 cannot be used"),
        ({"weight_range": (2, 1)}, "weight_range"),
        ({"weight_range": (0, 1)}, "weight_range"),
        ({"sem": "gp", "weight_range": (1.0, 2.0)}, "no meaning for sem='gp'"),
        ({"sem": "gp", "n_samples": 30_000, "n_variables": 3, "degree": 1}, "n_samples=30000 needs 14 GB"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(OptionError, match=words):
        simulate(**options)


@pytest.mark.parametrize(("sem", "n_words"), [("mixed", 4), ("discrete", 8)])
def test_columns_with_levels(sem, n_words):
    dataset = simulate("er", 8, 1.5, sem, 400, standardize=True, random_state=0)
    words = [name for name in dataset.data if not pd.api.types.is_numeric_dtype(dataset.data[name])]
    assert len(words) == n_words
    assert {dataset.data[name].nunique() for name in words} <= {2, 3, 4}
    numbers = dataset.data.drop(columns=words)
    np.testing.assert_allclose(numbers.std(ddof=0), 1)
    again = simulate("er", 8, 1.5, sem, 400, standardize=True, random_state=0)
    pd.testing.assert_frame_equal(dataset.data, again.data)
    assert dataset.graph.n_edges == 12


def test_levels_depend_on_their_causes():
    dataset = simulate("er", 10, 2, "discrete", 4000, random_state=1)
    for i, j in np.argwhere(dataset.graph.edges):
        table = pd.crosstab(dataset.data.iloc[:, i], dataset.data.iloc[:, j])
        assert chi2_contingency(table).pvalue < 0.05 or dataset.graph.edges[:, j].sum() > 1


@pytest.mark.parametrize(("n_variables", "degree"), [(12, 1), (20, 2), (15, 4)])
def test_ba_graphs_are_those_of_networkx(n_variables, degree):
    """As many edges, and the same sizes of hubs on average; directed by an order, so hubs are causes and effects."""
    ours, theirs = [], []
    for seed in range(150):
        adjacency, order = random_dag("ba", n_variables, degree, np.random.default_rng(seed))
        assert not (adjacency & ~full_dag(order)).any()
        ours.append(np.sort((adjacency | adjacency.T).sum(axis=0)))
        graph = nx.barabasi_albert_graph(n_variables, degree, seed=seed)
        theirs.append(np.sort([size for _, size in graph.degree]))
        assert adjacency.sum() == graph.number_of_edges()
    error = np.std(ours, axis=0) / np.sqrt(150)
    assert (np.abs(np.mean(ours, axis=0) - np.mean(theirs, axis=0)) < 5 * error + 0.05).all()


def test_ba_hubs_are_causes_as_often_as_effects():
    hubs = []
    for seed in range(100):
        adjacency, _ = random_dag("ba", 30, 2, np.random.default_rng(seed))
        hub = (adjacency | adjacency.T).sum(axis=0).argmax()
        hubs.append(adjacency[hub].sum() > adjacency[:, hub].sum())
    assert 25 < sum(hubs) < 75


def test_hidden_variables_are_in_the_full_graph_and_paths_through_them_are_edges():
    made = simulate("er", 6, 2, "lingam", 5000, hidden=3, random_state=0)
    assert made.data.shape == (5000, 6)
    assert list(made.data.columns) == list(made.graph.names)
    assert made.hidden == ("h1", "h2", "h3")
    full, marginal = made.full_graph, made.graph
    assert (full.n_variables, full.n_edges) == (9, 18)
    assert [name for name in full.order if name in marginal.names] == list(marginal.order)
    whole = full.to_networkx()
    for cause in marginal.names:
        for effect in set(marginal.names) - {cause}:
            inner = whole.subgraph({*made.hidden, cause, effect})
            assert marginal.adjacency.loc[cause, effect] == nx.has_path(inner, cause, effect)
    shown_parents = [x for x in marginal.names if set(whole.predecessors(x)) <= set(marginal.names)]
    assert shown_parents
    for name in shown_parents:  # the weights are the true ones: what they leave is the noise
        left = made.data[name] - made.data @ full.weights.loc[list(marginal.names), name]
        assert left.std() == pytest.approx(1, abs=0.1)


def test_without_hidden_variables_the_full_graph_is_the_graph():
    made = simulate("er", 4, 1, n_samples=5, random_state=0)
    assert made.hidden == ()
    assert made.full_graph is made.graph


GOLDEN = {  # mean and standard deviation of all cells, as of version 0.1.0
    "linear-gaussian": (-0.37353624, 3.0414022),
    "lingam": (-0.14369496, 4.03953),
    "gp": (-0.16130584, 1.4692245),
    "gp-quiet": (0.095505919, 0.88485101),
    "gp-scaled": (-0.026838679, 1.4996814),
    "gp-additive": (-0.66297596, 2.3097721),
    "quadratic": (0.026238489, 3.383255),
    "mlp": (-0.93189569, 3.2377996),
    "heteroscedastic": (-0.31301434, 2.2141609),
    "post-nonlinear": (0.25492554, 1.996002),
    "multiplicative": (0.40059695, 1.4183892),
    "steps": (0.081416344, 1.9457768),
}


@pytest.mark.parametrize("sem", GOLDEN)
def test_a_seed_means_the_same_data_as_ever(sem):
    made = simulate("sf", 6, 2, sem, 40, noise="unequal", random_state=7)
    values = made.data.to_numpy()
    np.testing.assert_allclose((values.mean(), values.std()), GOLDEN[sem], rtol=1e-5)
