"""Suspicion of hidden causes: where noise is shared, and not where it is not."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import precede as pc
from precede.errors import DataError
from precede.graph.sample import Sample
from precede.hidden_causes import hidden_causes
from precede.hidden_causes.calibration import HIGHEST
from precede.hidden_causes.residual_dependence import dependence, residuals
from precede.hidden_causes.triples import not_a_cause, shared_information


def chain(rng: np.random.Generator, m: int, hidden: float, noise: str = "normal") -> np.ndarray:
    """0 -> 1 -> 2 -> 3, with a cause of 0 and 3 that is not shown."""
    e = rng.normal(size=(m, 5)) if noise == "normal" else rng.laplace(size=(m, 5))
    x = e[:, :4].copy()
    x[:, 0] += hidden * e[:, 4]
    x[:, 1] += x[:, 0]
    x[:, 2] += np.tanh(2 * x[:, 1])
    x[:, 3] += x[:, 2] + hidden * e[:, 4]
    return x


GRAPH = pc.CausalGraph.from_matrix(np.eye(4, k=1), names=list("abcd"))


def test_p_values_are_nearly_uniform_without_hidden_causes() -> None:
    rng = np.random.default_rng(0)
    apart, joined = [], []
    for _ in range(80):
        p_values = dependence(residuals(chain(rng, 600, 0.0, "laplace"), GRAPH.edges), GRAPH.edges)
        assert np.array_equal(p_values, p_values.T)
        apart += [p_values[0, 2], p_values[0, 3], p_values[1, 3]]
        joined += [p_values[0, 1], p_values[1, 2], p_values[2, 3]]
    for found in (apart, joined):
        assert np.mean(np.array(found) < 0.05) < 0.13  # the curves are estimated too
        assert np.mean(np.array(found) < 0.5) > 0.3


def test_a_shared_cause_is_suspected_and_named() -> None:
    found = hidden_causes(GRAPH, chain(np.random.default_rng(1), 800, 1.0), learned=False)
    assert [pair[:2] for pair in found.suspects()] == [("a", "d")]
    assert "a and d" in found.sentence
    assert "a cause that is not in the data" in found.sentence
    assert json.loads(json.dumps(found.to_dict()))["pairs"][0]["first"] == "a"
    assert found.probability.loc["a", "d"] == found.probability.loc["d", "a"] > 0.5
    assert np.diag(found.probability).tolist() == [0.0] * 4


@pytest.mark.parametrize("learned", [True, False])
def test_nothing_is_suspected_where_nothing_is_hidden(learned: bool) -> None:
    found = hidden_causes(GRAPH, chain(np.random.default_rng(2), 800, 0.0), learned=learned)
    assert found.suspects() == []
    assert "0 suspected" in found.sentence


def test_pairs_are_told_apart() -> None:
    scores, labels = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        d = 10
        weights = np.triu(rng.uniform(0.5, 1.5, (d, d)) * (rng.random((d, d)) < 0.15), 1)
        noise = rng.laplace(size=(600, d))
        pairs = np.zeros((d, d), dtype=bool)
        for _ in range(2):
            i, j = rng.choice(d, 2, replace=False)
            common = rng.laplace(size=600)
            noise[:, i] += common
            noise[:, j] += common
            pairs[min(i, j), max(i, j)] = True
        rows = noise @ np.linalg.inv(np.eye(d) - weights)
        graph = pc.CausalGraph.from_matrix(weights)
        found = hidden_causes(graph, rows, learned=False).probability.to_numpy()
        upper = np.triu_indices(d, 1)
        scores.append(found[upper])
        labels.append(pairs[upper])
    assert roc_auc_score(np.concatenate(labels), np.concatenate(scores)) > 0.85


def test_a_learned_graph_may_itself_be_wrong() -> None:
    rows = chain(np.random.default_rng(1), 800, 1.0)
    known, learned = (hidden_causes(GRAPH, rows, learned=which).probability.to_numpy() for which in (False, True))
    assert learned[0, 3] < known[0, 3]
    assert np.array_equal(learned, learned.T)
    joined = GRAPH.edges | GRAPH.edges.T
    for found, graph in ((known, "known"), (learned, "learned")):
        assert found[joined].max() <= HIGHEST[graph, "joined"]
        assert found[~joined].max() <= HIGHEST[graph, "apart"]


def test_many_rows_do_not_make_a_trace_a_certainty() -> None:
    """A thousand rows are what the signs are weighed by; twenty times as many say the same, only more exactly."""
    rows = chain(np.random.default_rng(7), 20_000, 0.4)
    found = hidden_causes(GRAPH, rows, learned=False)
    assert found.p_value.loc["a", "d"] < 1e-6
    assert found.probability.loc["a", "d"] < 0.5


def probabilities_of(seeds: range, learned: bool) -> tuple[np.ndarray, np.ndarray]:
    """Linear data, every second set with a root that is taken away: probability and truth of all pairs."""
    found, hidden = [], []
    for seed in seeds:
        made = pc.simulate(n_variables=12, degree=1, sem="lingam", n_samples=500, random_state=seed, standardize=True)
        edges, values = made.graph.edges, made.data.to_numpy()
        root = int((edges.sum(axis=1) - 99 * edges.any(axis=0)).argmax())
        shown = np.delete(np.arange(12), root) if seed % 2 else np.arange(12)
        shared = np.outer(edges[root], edges[root])[np.ix_(shown, shown)] & (seed % 2 == 1)
        model = pc.baselines.DirectLiNGAM(verbose=False)
        model.diagnose = False
        graph = pc.CausalGraph.from_matrix(edges[np.ix_(shown, shown)])
        graph = model.fit(values[:, shown]).graph_ if learned else graph
        upper = np.triu_indices(len(shown), 1)
        found.append(hidden_causes(graph, values[:, shown], learned=learned).probability.to_numpy()[upper])
        hidden.append(shared[upper])
    return np.concatenate(found), np.concatenate(hidden)


@pytest.mark.parametrize("learned", [True, False])
def test_of_pairs_with_a_probability_about_as_many_are_right(learned: bool) -> None:
    found, hidden = probabilities_of(range(40, 80), learned)
    assert found.sum() == pytest.approx(hidden.sum(), rel=0.5)
    high = found >= 0.2
    assert high.sum() > 20
    assert hidden[high].mean() > found[high].mean() - 0.1


def test_rows_are_needed() -> None:
    with pytest.raises(DataError, match="needs rows"):
        hidden_causes(GRAPH, Sample(100, np.zeros(4), np.eye(4)))


def test_a_result_names_its_suspects() -> None:
    rows = chain(np.random.default_rng(3), 800, 1.0)
    model = pc.CORL(
        score="linear", search="exact", verbose=False, knowledge=pc.Knowledge(forbidden=[(0, 3), (3, 0)])
    ).fit(rows)
    check = next(check for check in model.diagnostics_.checks if check.name == "hidden common causes")
    assert ("0", "3") in {(pair["first"], pair["second"]) for pair in check.details["pairs"]}


def test_a_third_variable_rules_out_a_cause_and_two_rule_out_an_edge() -> None:
    rng = np.random.default_rng(4)
    first, second, hidden = rng.normal(size=(3, 1000))
    left, right = first + hidden + rng.normal(size=1000), second + hidden + rng.normal(size=1000)
    against = not_a_cause(np.column_stack([first, left, right, second]))
    assert against[1, 2] > 10  # first depends on left, not on right
    assert against[2, 1] > 10
    chained = rng.normal(size=(1000, 4)).cumsum(axis=1)
    assert not_a_cause(chained)[1, 2] < 3
    assert np.array_equal(np.diag(against), np.zeros(4))


def test_an_edge_in_place_of_a_hidden_cause_is_suspected_more_than_a_true_one() -> None:
    """What a learned graph looks like: the pair with the hidden cause is joined, and Gaussian noise tells nothing."""
    rng = np.random.default_rng(5)
    first, second, hidden = rng.normal(size=(3, 1000))
    left, right = first + 1.5 * hidden + rng.normal(size=1000), second + 1.5 * hidden + rng.normal(size=1000)
    rows = np.column_stack([first, left, right, second])
    edges = np.zeros((4, 4))
    edges[[0, 1, 3], [1, 2, 2]] = 1.0
    found = hidden_causes(pc.CausalGraph.from_matrix(edges), rows).probability.to_numpy()
    assert found[1, 2] > 1.3 * max(found[0, 1], found[2, 3])


def test_information_of_a_pair() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(4000, 2))
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]
    expected = -0.5 * np.log(1 - 0.6**2)
    assert shared_information(x)[0, 1] == pytest.approx(expected, rel=0.1)
    assert shared_information(np.exp(x)) == pytest.approx(shared_information(x))  # of normal scores
    assert np.isfinite(not_a_cause(np.column_stack([x, np.ones(4000)]))).all()
