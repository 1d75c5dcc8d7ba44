"""The parts of the wide prior, each against its definition."""

import math

import pytest
import torch

from precede.pretraining import distortions, hidden, levels, noise_shapes, observation, signals
from precede.pretraining.curriculum import Curriculum, CurriculumSettings, standardized_inputs
from precede.pretraining.drawing import Draws, select, unit_rows
from precede.pretraining.graphs import erdos_renyi
from precede.pretraining.world import world_data


def draws(seed=0):
    return Draws(torch.Generator().manual_seed(seed))


# -- drawing ---------------------------------------------------------------------------------------------------


def test_draws_stay_in_their_ranges():
    source = draws()
    assert 1 <= source.uniform((1000,), 1.0, 2.0).min() < source.uniform((1000,), 1.0, 2.0).max() <= 2
    logs = source.log_uniform((4000,), 0.1, 10.0).log()
    assert abs(logs.mean()) < 0.1
    assert logs.std() == pytest.approx(2 * math.log(10) / math.sqrt(12), abs=0.1)
    signed = source.either_sign((1000,), 0.5, 2.0)
    assert signed.abs().min() >= 0.5
    assert signed.abs().max() <= 2
    assert abs((signed > 0).float().mean() - 0.5) < 0.06
    chosen = source.choice((6000,), {"a": 1.0, "b": 3.0})
    assert (chosen == 1).float().mean() == pytest.approx(0.75, abs=0.03)
    kinds = source.kinds(200, 5, {"a": 1.0, "b": 1.0, "c": 1.0}, alike=0.5)
    assert 0.4 < (kinds == kinds[:, :1]).all(1).float().mean() < 0.65


def test_standardized_and_select():
    x = unit_rows(draws().normal((3, 50)) * 7 + 2)
    assert torch.allclose(x.mean(1), torch.zeros(3), atol=1e-5)
    assert torch.allclose(x.square().mean(1), torch.ones(3), atol=1e-4)
    assert (unit_rows(torch.full((1, 4), 3.0)) == 0).all()
    made = [torch.zeros(3), torch.ones(3), torch.full((3,), 2.0)]
    assert select(torch.tensor([2, 0, 1]), made).tolist() == [2, 0, 1]


# -- noise -----------------------------------------------------------------------------------------------------


def test_every_shape_of_noise_has_mean_zero_and_variance_one_and_is_what_it_says():
    names = list(noise_shapes.SHAPES)
    kinds = torch.arange(len(names)).repeat(40, 1)
    noise = noise_shapes.shaped_noise(kinds, 4000, draws())
    assert torch.allclose(noise.mean((0, 2)), torch.zeros(len(names)), atol=0.05)
    assert torch.allclose(noise.square().mean((0, 2)), torch.ones(len(names)), atol=0.08)
    kurtosis = dict(zip(names, (noise**4).mean((0, 2)).tolist(), strict=True))
    assert kurtosis["gaussian"] == pytest.approx(3, abs=0.15)
    assert kurtosis["uniform"] == pytest.approx(1.8, abs=0.05)
    assert kurtosis["laplace"] == pytest.approx(6, abs=0.6)
    assert kurtosis["exponential"] == pytest.approx(9, abs=1.5)
    assert kurtosis["gumbel"] == pytest.approx(5.4, abs=0.8)
    assert kurtosis["bimodal"] < 2.5
    assert kurtosis["heavy"] > 8
    skewness = (noise**3).mean(2)[:, names.index("exponential")]
    assert skewness.min() < -1 < 1 < skewness.max()  # either way round


# -- signals ---------------------------------------------------------------------------------------------------


def function_of(kind, *, additive=True, product=False, used=1.0, n_parents=1, seed=0):
    made = signals.Signals(1, n_parents + 1, draws(seed))
    made.kinds[:] = list(signals.ACTIVATIONS).index(kind)
    made.additive[:], made.product[:], made.used[:] = additive, product, used
    made.positive[:] = False
    x = draws(seed + 1).normal((1, n_parents, 3000))
    parents = torch.ones((1, n_parents), dtype=torch.bool)
    return x, made, made.at(n_parents, x, parents)


def test_an_identity_is_linear_and_a_step_has_two_values():
    x, _, signal = function_of("identity")
    assert abs((x[0, 0] * signal[0]).mean()) == pytest.approx(1, abs=0.05)
    _, _, step = function_of("step")
    assert len(step.unique()) == 2
    _, _, hinge = function_of("hinge")
    assert (hinge[0] - hinge[0].min() < 1e-5).float().mean() > 0.05 or (
        hinge[0].max() - hinge[0] < 1e-5
    ).float().mean() > 0.05


@pytest.mark.parametrize("kind", list(signals.ACTIVATIONS))
def test_signals_are_standardized_and_use_every_parent(kind):
    x, made, signal = function_of(kind, used=1.0, n_parents=4)
    assert signal.mean().abs() < 1e-4
    assert signal.square().mean() == pytest.approx(1, abs=1e-3)
    for parent in range(4):
        made.draws = draws(5)
        whole = made.at(4, x, torch.ones((1, 4), dtype=torch.bool))
        moved = x.clone()
        moved[:, parent] = moved[:, parent].flip(1)
        made.draws = draws(5)
        assert not torch.allclose(whole, made.at(4, moved, torch.ones((1, 4), dtype=torch.bool)), atol=1e-2)


def test_an_additive_signal_has_no_interaction_and_a_joint_one_has():
    """Second difference over a rectangle of two parents: zero for a sum of functions of one parent."""

    def interaction(additive):
        made = signals.Signals(1, 3, draws(2))
        made.kinds[:], made.additive[:], made.product[:], made.used[:] = 2, additive, False, 32.0
        corners = torch.tensor([[[-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0]]])
        value = made.at(2, corners, torch.ones((1, 2), dtype=torch.bool))[0]
        return abs(float(value[3] - value[2] - value[1] + value[0]))

    assert interaction(True) < 1e-3
    assert interaction(False) > 1e-2


def test_without_parents_there_is_no_signal():
    made = signals.Signals(2, 3, draws())
    x = draws(1).normal((2, 2, 50))
    assert (made.at(2, x, torch.zeros((2, 2), dtype=torch.bool)) == 0).all()


# -- after the noise -------------------------------------------------------------------------------------------


def test_distortions_are_monotone_and_bounds_tie():
    names = list(distortions.DISTORTIONS)
    x = torch.linspace(-3, 3, 201).repeat(len(names), 1)
    out = distortions.distort(torch.arange(len(names)), x, draws())
    steps = out.diff(dim=1)
    assert ((steps >= -1e-6).all(1) | (steps <= 1e-6).all(1)).all()
    flat = (steps.abs() < 1e-6).float().mean(1)
    for name, share in zip(names, flat, strict=True):
        assert (share > 0.05) == (name in ("bounds", "floor")), name


def test_levels_by_rank_and_by_width():
    x = draws().normal((3, 2000))
    n_levels = torch.tensor([2.0, 5.0, 16.0])
    ranked = levels.by_rank(x, n_levels, draws(1))
    assert [len(row.unique()) for row in ranked] == [2, 5, 16]
    wide = levels.by_width(x, n_levels, draws(1))
    assert [len(row.unique()) for row in wide] == [2, 5, 16]
    for out in (ranked, wide):  # monotone: a larger value never has a lower level
        assert (out.gather(1, x.argsort(1)).diff(dim=1) >= 0).all()
    assert torch.allclose(levels.rounded(torch.tensor([0.26]), torch.tensor([0.1])), torch.tensor([0.3]))


def test_levels_say_nothing_about_the_place_in_the_graph():
    adjacency = erdos_renyi(torch.full((6000,), 1.0), 8, torch.Generator().manual_seed(0))
    discrete = levels.discrete_variables(adjacency, draws())
    roots = ~adjacency.any(1) & adjacency.any(2)
    sinks = ~adjacency.any(2) & adjacency.any(1)
    assert discrete[roots].float().mean() == pytest.approx(float(discrete[sinks].float().mean()), abs=0.02)
    assert discrete.any(1).float().mean() < 0.4


# -- hidden variables and the table ------------------------------------------------------------------------------


def test_edges_lead_through_hidden_variables():
    """0 -> 1 -> 2 -> 3, 1 -> 4, with 1 and 2 hidden: 0 -> 3 and 0 -> 4; siblings of a hidden cause stay apart."""
    adjacency = torch.zeros(1, 6, 6, dtype=torch.bool)
    for i, j in [(0, 1), (1, 2), (2, 3), (1, 4), (3, 5)]:
        adjacency[0, i, j] = True
    marginal = hidden.marginal_graph(adjacency, torch.tensor([[0, 3, 4, 5]]))
    assert marginal[0].nonzero().tolist() == [[0, 1], [0, 2], [1, 3]]


def test_where_nothing_is_hidden_the_first_are_shown():
    shown = hidden.choose_shown(6, 4, torch.tensor([False] + [True] * 50), draws())
    assert shown[0].tolist() == [0, 1, 2, 3]
    assert (shown.diff(dim=1) > 0).all()
    assert (shown[1:] == 5).any()


def test_selection_keeps_rows_whole_and_prefers_an_end():
    x = draws().normal((40, 3, 400))
    x[:, 1] = 2 * x[:, 0]  # a relation within rows
    kept = observation.selected_rows(x, 200, draws(1))
    assert kept.shape == (40, 3, 200)
    assert torch.allclose(kept[:, 1], 2 * kept[:, 0])
    assert kept[:, [0, 2]].mean(2).abs().amax(1).median() > 0.2


def test_missing_cells_and_measurement_and_digits_come_in_their_shares():
    x = draws().normal((2000, 3, 60))
    missing = observation.missing_cells(x, draws(1))
    assert missing.any((1, 2)).float().mean() == pytest.approx(observation.MISSING_SHARE, abs=0.03)
    assert missing.float().mean(2).max() < 0.66
    changed = (observation.measured(x, draws(2)) != x).any((1, 2)).float().mean()
    assert changed == pytest.approx(observation.MEASUREMENT_SHARE, abs=0.03)
    coarse = observation.with_few_digits(x, draws(3))
    assert (coarse != x).any((1, 2)).float().mean() == pytest.approx(observation.DIGITS_SHARE, abs=0.03)


# -- together ----------------------------------------------------------------------------------------------------


def test_world_data_is_standardized_and_children_depend_on_parents():
    adjacency = erdos_renyi(torch.full((60,), 1.0), 6, torch.Generator().manual_seed(1))
    x = world_data(adjacency, 500, draws(3))
    assert x.isfinite().all()
    assert torch.allclose(x.mean(2), torch.zeros(60, 6), atol=1e-3)
    ranks = unit_rows(levels.ranks(x))
    correlation = (ranks @ ranks.transpose(1, 2) / 500).abs()
    apart = ~(adjacency | adjacency.transpose(1, 2)) & ~torch.eye(6, dtype=torch.bool)
    assert correlation[adjacency].mean() > 2 * correlation[apart].mean()


def test_missing_cells_reach_the_inputs_and_scales_do_not_count():
    x = draws().normal((4, 3, 50)) * 5
    x[0, 1, :10] = torch.nan
    flags = torch.tensor([True, False, False, True])[:, None, None]
    inputs = standardized_inputs(x, flags, ~flags, draws(1))
    assert inputs[0, 1, :10].isnan().all()
    assert inputs[0, 1, 10:].isfinite().all()
    assert inputs[0, 1, 10:50].square().mean() == pytest.approx(1, abs=1e-4)
    assert (inputs[0, :, -1] == 0).all()
    assert (inputs[1, :, -1] != 0).all()


@pytest.mark.parametrize("world", [0.0, 0.5, 1.0])
def test_the_share_of_the_wide_prior_is_read(world):
    tasks = Curriculum(CurriculumSettings(world=world), torch.Generator().manual_seed(0)).draw(40, 6, 50)
    assert tasks.inputs.shape == (40, 6, 51)
    distinct = torch.tensor([min(len(column.unique()) for column in task[:, :-1]) for task in tasks.inputs])
    assert (distinct < 20).any() == (world > 0)  # only the wide prior has levels


# -- what small tables and noise inside a mechanism add ----------------------------------------------------------


def test_small_tables_hide_more_of_the_system():
    """One to eight further variables, in half of the tasks: two columns are a glimpse."""
    curriculum = Curriculum(CurriculumSettings(), torch.Generator().manual_seed(0))
    assert {curriculum._n_hidden(2) for _ in range(60)} == {1, 2, 4, 8}
    assert {curriculum._n_hidden(30) for _ in range(5)} == {4}
    assert curriculum.draw(40, n_variables=2, n_samples=50).inputs.shape == (40, 2, 51)


def test_noise_inside_a_mechanism_needs_none_beside_it(monkeypatch):
    """x -> y with next to nothing added: y is a function of x, unless the noise is an argument of that function."""
    from precede.pretraining import world

    for name in ("HETEROSCEDASTIC_SHARE", "DISTORTED_SHARE"):
        monkeypatch.setattr(world, name, 0.0)
    monkeypatch.setattr(world, "discrete_variables", lambda adjacency, source: torch.zeros(adjacency.shape[:2]).bool())
    monkeypatch.setattr(world, "_noise_sizes", lambda batch, d, source: torch.full((batch, d), 1e-3))
    jumps = {}
    for share in (0.0, 1.0):
        monkeypatch.setattr(world, "INSIDE_SHARE", share)
        x, y = world_data(torch.ones(200, 2, 2).triu(1).bool(), 1000, draws()).unbind(1)
        along = y.gather(1, x.argsort(1))
        jumps[share] = along.diff(dim=1).abs().median(1).values.mean()
    assert jumps[0.0] < 0.05
    assert jumps[1.0] > 0.3
