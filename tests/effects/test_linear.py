"""Linear effects: exact on population moments, covered by their intervals, refused where they cannot be had."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special

from precede import CausalGraph, baselines, simulate
from precede.effects import path_effects
from precede.effects.linear import path_sums
from precede.effects.possible import Mixture
from precede.errors import DataError, GraphError, OptionError
from precede.evidence.confidence import Confidence
from precede.evidence.sample import sample_of
from precede.graph.parts import Sample


def linear_model(seed: int, d: int = 7) -> tuple[CausalGraph, Sample]:
    """A random linear model and its exact moments."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d)) * (rng.random((d, d)) < 0.4), 1)
    mixed = rng.permutation(d)
    weights = weights[np.ix_(mixed, mixed)]
    reach = np.eye(d) + path_sums(weights)
    covariance = reach.T @ np.diag(rng.uniform(0.5, 2, d)) @ reach
    return CausalGraph.from_matrix(weights, names=list("abcdefgh"[:d])), Sample(10_000, np.zeros(d), covariance)


@pytest.mark.parametrize("adjustment", ["optimal", "minimal", "parents"])
@pytest.mark.parametrize("seed", range(5))
def test_every_adjustment_gives_the_true_effect_on_exact_moments(seed: int, adjustment: str) -> None:
    graph, sample = linear_model(seed)
    truth = path_effects(graph)
    for cause in graph.names:
        for effect in graph.names:
            if cause == effect:
                continue
            total = graph.effect(cause, effect, sample, adjustment=adjustment)
            assert total.value == pytest.approx(truth.loc[cause, effect], abs=1e-8)
            direct = graph.effect(cause, effect, sample, kind="direct")
            assert direct.value == pytest.approx(graph.weights.loc[cause, effect], abs=1e-8)
            for chosen in graph.adjustment_sets(cause, effect, most=3):
                named = graph.effect(cause, effect, sample, adjustment=chosen)
                assert named.value == pytest.approx(truth.loc[cause, effect], abs=1e-8)


def test_the_optimal_set_has_the_smallest_standard_error() -> None:
    gains = []
    for seed in range(8):
        graph, sample = linear_model(seed)
        for cause in graph.names:
            for effect in graph.descendants(cause):
                best = graph.effect(cause, effect, sample).standard_error
                rival = graph.effect(cause, effect, sample, adjustment="parents").standard_error
                assert best <= rival * (1 + 1e-3)
                gains.append(rival / best)
    assert np.median(gains) > 1.05


def test_a_fitted_model_answers_without_the_data() -> None:
    data = simulate(n_variables=5, degree=2, n_samples=800, random_state=3)
    model = baselines.EqVar(verbose=False).fit(data.data)
    cause, effect, _ = model.graph_.edge_list()[0]
    held = model.graph_.effect(cause, effect)
    given = model.graph_.effect(cause, effect, data.data)
    assert held == given
    assert "Raising" in held.sentence
    assert held.to_dict()["interval"] == list(held.interval)


def test_columns_are_matched_by_name() -> None:
    rng = np.random.default_rng(0)
    rain = rng.normal(size=300)
    frame = pd.DataFrame({"wet": 2 * rain + rng.normal(size=300), "rain": rain})
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]], names=["rain", "wet"])
    slope = np.polyfit(frame["rain"], frame["wet"], 1)[0]
    assert graph.effect("rain", "wet", frame).value == pytest.approx(slope, abs=1e-10)


def test_the_standard_error_is_hc3() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    y = x @ [1.0, -2.0, 0.5] + rng.normal(size=60)
    edges = np.zeros((4, 4))
    edges[:3, 3] = 1
    found = CausalGraph.from_matrix(edges).effect(0, 3, np.column_stack([x, y]))
    design = np.column_stack([x, np.ones(60)])
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    bread = np.linalg.inv(design.T @ design)
    leverage = np.diag(design @ bread @ design.T)
    scaled = design * ((y - design @ weights) / (1 - leverage))[:, None]
    error = np.sqrt((bread @ scaled.T @ scaled @ bread)[0, 0])
    assert found.value == pytest.approx(weights[0], abs=1e-10)
    assert found.standard_error == pytest.approx(error, rel=1e-10)
    pulls = (scaled @ bread[0]) ** 2
    deciding = pulls.sum() ** 2 / (pulls**2).sum()
    assert 5 < deciding < 40
    assert found.interval[1] - found.value == pytest.approx(special.stdtrit(deciding - 1, 0.975) * error, rel=1e-6)


def test_intervals_cover_where_noise_is_uneven() -> None:
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]])
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=200)
        low, high = graph.effect(0, 1, np.column_stack([x, x + x * rng.normal(size=200)])).interval
        covered += low <= 1.0 <= high
    assert covered >= 182  # the usual error covers some 150


def test_every_effect_says_how_much_a_hidden_cause_would_have_to_explain() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    rows = np.column_stack([x, 0.5 * x + rng.normal(size=(300, 1))])
    found = CausalGraph.from_matrix([[0, 1], [0, 0]]).effect(0, 1, rows)
    assert found.robustness is not None
    assert 0.3 < found.robustness < 0.5
    assert f"would have to explain {found.robustness:.0%}" in found.sentence
    assert found.to_dict()["robustness"] == found.robustness


def test_what_the_graph_rules_out_is_zero_and_says_so() -> None:
    graph, sample = linear_model(0)
    last = graph.order[-1]
    none = graph.effect(last, graph.order[0], sample)
    assert (none.value, none.interval) == (0.0, (0.0, 0.0))
    assert "no directed path" in none.sentence


def test_refusals_name_the_way_out() -> None:
    graph = CausalGraph.from_matrix([[0, 1, 1], [0, 0, 1], [0, 0, 0]], names=["age", "dose", "pain"])
    rows = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(DataError, match="data="):
        graph.effect("dose", "pain")
    with pytest.raises(GraphError, match="adjustment_sets"):
        graph.effect("dose", "pain", rows, adjustment=[])
    with pytest.raises(OptionError, match="did you mean 'total'"):
        graph.effect("dose", "pain", rows, kind="totl")
    with pytest.raises(OptionError, match="name two variables"):
        graph.effect("dose", "dose", rows)
    with pytest.raises(OptionError, match=r"level=1\.5"):
        graph.effect("dose", "pain", rows, level=1.5)
    with pytest.raises(DataError, match="lacks 'age'"):
        graph.effect("dose", "pain", pd.DataFrame(rows, columns=["x", "dose", "pain"]))


@pytest.mark.parametrize("level", [95, 0.0, 1.0, float("nan"), "0.95", True])
def test_a_level_that_is_no_share_is_refused_by_every_way_before_anything_is_computed(level: object) -> None:
    graph, sample = linear_model(2)
    cause, effect, _ = graph.edge_list()[0]
    found = Confidence.of(graph.names, [graph.edges] * 2, [graph.positions] * 2)
    for ask in (
        lambda: graph.effect(cause, effect, sample, level=level),
        lambda: graph.effect(cause, effect, sample, level=level, confidence=found),
        lambda: graph.possible_effects(cause, effect, sample, level=level),
    ):
        with pytest.raises(OptionError, match=r"give a share between 0 and 1, as 0\.95"):
            ask()


def test_the_adjustment_counts_over_bootstrap_graphs_too() -> None:
    graph, sample = linear_model(2)
    cause, effect = next(
        (cause, effect)
        for cause in graph.names
        for effect in graph.descendants(cause)
        if set(graph.effect(cause, effect, sample).adjusted_for) != set(graph.parents(cause))
    )
    found = Confidence.of(graph.names, [graph.edges] * 2, [graph.positions] * 2)
    for adjustment in ("optimal", "minimal", "parents"):
        plain = graph.effect(cause, effect, sample, adjustment=adjustment)
        averaged = graph.effect(cause, effect, sample, adjustment=adjustment, confidence=found)
        assert averaged.adjusted_for == plain.adjusted_for
        assert averaged.interval == pytest.approx(plain.interval, rel=1e-6)
    with pytest.raises(OptionError, match="'nonsense' is unknown"):
        graph.effect(cause, effect, sample, adjustment="nonsense", confidence=found)
    with pytest.raises(OptionError, match=r"with confidence=\.\.\. give adjustment='optimal'"):
        graph.effect(cause, effect, sample, adjustment=[], confidence=found)
    with pytest.raises(OptionError, match=r"model\.bootstrap"):
        graph.effect(cause, effect, sample, confidence=0.9)


def test_a_direct_effect_takes_no_adjustment() -> None:
    graph, sample = linear_model(2)
    cause, effect, _ = graph.edge_list()[0]
    for adjustment, message in (("nonsense", "is unknown"), ("parents", "leave adjustment out"), ([], "leave adj")):
        with pytest.raises(OptionError, match=message):
            graph.effect(cause, effect, sample, kind="direct", adjustment=adjustment)


def test_intervals_cover_the_truth() -> None:
    covered = total = 0
    for seed in range(30):
        data = simulate(n_variables=6, degree=2, n_samples=200, random_state=seed)
        truth = path_effects(data.graph)
        for cause in data.graph.names:
            for effect in data.graph.descendants(cause):
                low, high = data.graph.effect(cause, effect, data.data).interval
                covered += low <= truth.loc[cause, effect] <= high
                total += 1
    assert total > 200
    assert 0.90 < covered / total < 0.98


def test_over_bootstrap_graphs_the_interval_knows_the_doubt_about_the_graph() -> None:
    graph, sample = linear_model(2)
    cause, effect, _ = graph.edge_list()[0]
    without = graph.edges.copy()
    without[graph.position(cause), :] = False
    orders = [graph.positions] * 4
    sure = Confidence.of(graph.names, [graph.edges] * 4, orders)
    unsure = Confidence.of(graph.names, [graph.edges] * 3 + [without], orders)
    plain = graph.effect(cause, effect, sample)
    same = graph.effect(cause, effect, sample, confidence=sure)
    wider = graph.effect(cause, effect, sample, confidence=unsure)
    assert same.probability == 1.0
    assert same.interval == pytest.approx(plain.interval, rel=1e-6)
    assert wider.probability == 0.75
    assert 0.0 in wider.interval
    assert wider.value == plain.value
    assert "75%" in wider.sentence


def test_quantiles_of_a_mixture_invert_its_distribution() -> None:
    mixture = Mixture(
        np.array([0.0, 1.0, -3.0]), np.array([0.0, 0.5, 1.0]), np.array([1.0, 30.0, 4.0]), np.array([0.2, 0.5, 0.3])
    )
    for probability in (0.01, 0.2, 0.6, 0.975):
        assert mixture.below(mixture.quantile(probability)) == pytest.approx(probability, abs=1e-9)
    assert mixture.quantile(0.4) == 0.0


def resampled(*patterns: list[list[int]]) -> CausalGraph:
    """The graph a -> b with c apart, in the order a, b, c, and what resamples gave."""
    graph = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]], order=["a", "b", "c"], names=list("abc"))
    return replace(graph, resampled=np.array(patterns, dtype=bool).reshape(-1, 3, 3))


def three_columns() -> np.ndarray:
    rows = np.random.default_rng(0).normal(size=(400, 3))
    rows[:, 1] += rows[:, 0]
    rows[:, 2] += 0.2 * rows[:, 1]
    return rows


def test_the_interval_knows_the_graphs_of_the_fits_own_resamples() -> None:
    with_edge, without = [[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0]] * 3
    rows = three_columns()
    alone = resampled().effect("a", "b", rows)
    half = resampled(*[with_edge, without] * 10).effect("a", "b", rows)
    assert half.value == alone.value
    assert half.interval[0] == 0.0 < alone.interval[0]
    assert half.interval[1] >= alone.interval[1]
    assert half.probability == 0.5
    assert "50% of the resampled graphs have such an effect" in half.sentence
    open_ways = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]  # b -> a in some graphs of the class: no effect
    assert resampled(*[open_ways] * 20).effect("a", "b", rows).interval[0] == 0.0
    own_set = resampled(*[with_edge, without] * 10).effect("a", "b", rows, adjustment=[])
    assert own_set.interval == pytest.approx(alone.interval)  # what was chosen by hand takes the graph for granted


def test_resamples_with_a_cycle_have_no_say() -> None:
    cycle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert resampled(cycle).alternatives == []
    assert resampled(cycle).effect("a", "b", three_columns()).probability is None


def test_an_edge_that_was_missed_is_in_the_interval_unless_a_path_leads_the_other_way() -> None:
    without = [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    for pair in ("bc", "cb"):  # an order of variables that no path connects is any of many
        missed = resampled(*[without] * 20).effect(*pair, three_columns())
        assert missed.value == 0.0
        assert missed.probability == 0.0
        assert missed.interval[0] <= 0.0 <= 0.2 <= missed.interval[1]
        assert f"has no total effect on {pair[1]}" in missed.sentence
        assert "in case the graph is wrong" in missed.sentence
    backwards = resampled(*[without] * 20).effect("b", "a", three_columns())
    assert backwards.interval == (0.0, 0.0)
    assert "in case" not in backwards.sentence


def test_a_resample_in_which_no_row_tells_the_effect_has_no_say() -> None:
    rows = three_columns()
    always_set = np.zeros(rows.shape, dtype=bool)
    always_set[:, 2] = True
    along_c, as_drawn = [[0, 0, 1], [0, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    sample = sample_of(rows, targets=always_set)
    some = replace(resampled(*[along_c, as_drawn] * 10), sample=sample).effect("a", "b")
    assert some.probability == 1.0
    none = replace(resampled(*[along_c] * 20), sample=sample).effect("a", "b")
    assert none.probability is None
    assert none.value == some.value
    confidence = Confidence.of("abc", [np.array(along_c, dtype=bool)] * 2, [np.array([0, 2, 1])] * 2)
    with pytest.raises(OptionError, match="only 0 rows"):
        replace(resampled(), sample=sample).effect("a", "b", confidence=confidence)


def test_weak_effects_of_learned_graphs_are_covered_once_resamples_count() -> None:
    alone, over = [], []
    for seed in range(12):
        made = simulate(n_variables=6, degree=2, n_samples=200, weight_range=(0.1, 0.5), random_state=seed)
        graph = baselines.EqVar(pruning="bic", verbose=False).fit(made.data).graph_
        truth = path_effects(made.graph)
        for cause in made.graph.names:
            for effect in made.graph.descendants(cause):
                for kept, learned in ((alone, replace(graph, resampled=None)), (over, graph)):
                    low, high = learned.effect(cause, effect).interval
                    kept.append(low <= truth.loc[cause, effect] <= high)
    assert np.mean(over) > max(0.85, np.mean(alone) + 0.1)


def test_an_average_slope_that_few_rows_decide_has_a_wide_interval_and_holds_the_slopes_of_both_halves():
    rng = np.random.default_rng(0)
    graph = CausalGraph.from_matrix([[0, 1], [0, 0]])
    plain, noise = rng.normal(size=(2, 300))
    tailed = np.exp(2 * plain)
    tailed /= tailed.std()

    def asked(cause, effect):
        found = graph.effect(0, 1, np.column_stack([cause, effect + 0.3 * noise]))
        return found, (found.interval[1] - found.interval[0]) / 2 / found.standard_error

    assert 1.96 < asked(plain, plain)[1] < 2.1  # nearly as many rows decide as there are
    straight, reach = asked(tailed, tailed)
    assert reach > 2.1
    assert straight.interval[1] - straight.interval[0] < 0.6  # nothing bends
    low, high = asked(plain, plain**2)[0].interval
    assert low < -1 < 1 < high  # it falls where the cause is low, and rises where it is high
    few = tailed < np.median(tailed)
    steep = np.polyfit(tailed[few], np.sqrt(tailed[few]), 1)[0]
    assert asked(tailed, np.sqrt(tailed))[0].interval[1] > 0.9 * steep
