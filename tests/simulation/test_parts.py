"""The parts that pretraining draws from, each against its definition."""

import math

import numpy as np
import pytest
import torch

from precede.simulation import mechanisms, noise, observation, simulate
from precede.simulation.draws import Draws, select, unit_rows
from precede.simulation.graphs import erdos_renyi, scale_free
from precede.simulation.mechanisms import MECHANISMS, linear_data, structural_data


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
    names = list(noise.SHAPES)
    kinds = torch.arange(len(names)).repeat(40, 1)
    made = noise.shaped_noise(kinds, names, 4000, draws())
    assert torch.allclose(made.mean((0, 2)), torch.zeros(len(names)), atol=0.05)
    assert torch.allclose(made.square().mean((0, 2)), torch.ones(len(names)), atol=0.08)
    kurtosis = dict(zip(names, (made**4).mean((0, 2)).tolist(), strict=True))
    assert kurtosis["gaussian"] == pytest.approx(3, abs=0.15)
    assert kurtosis["uniform"] == pytest.approx(1.8, abs=0.05)
    assert kurtosis["laplace"] == pytest.approx(6, abs=0.6)
    assert kurtosis["exponential"] == pytest.approx(9, abs=1.5)
    assert kurtosis["gumbel"] == pytest.approx(5.4, abs=0.8)
    assert kurtosis["bimodal"] < 2.5
    assert kurtosis["heavy"] > 8
    skewness = (made**3).mean(2)[:, names.index("exponential")]
    assert skewness.min() < -1 < 1 < skewness.max()  # either way round


# -- signals ---------------------------------------------------------------------------------------------------


def function_of(kind, *, additive=True, product=False, used=1.0, n_parents=1, seed=0):
    made = mechanisms.RandomFunctions(1, n_parents + 1, draws(seed))
    made.kinds[:] = list(mechanisms.ACTIVATIONS).index(kind)
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


@pytest.mark.parametrize("kind", list(mechanisms.ACTIVATIONS))
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
        made = mechanisms.RandomFunctions(1, 3, draws(2))
        made.kinds[:], made.additive[:], made.product[:], made.used[:] = 2, additive, False, 32.0
        corners = torch.tensor([[[-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0]]])
        value = made.at(2, corners, torch.ones((1, 2), dtype=torch.bool))[0]
        return abs(float(value[3] - value[2] - value[1] + value[0]))

    assert interaction(True) < 1e-3
    assert interaction(False) > 1e-2


def test_without_parents_there_is_no_signal():
    made = mechanisms.RandomFunctions(2, 3, draws())
    x = draws(1).normal((2, 2, 50))
    assert (made.at(2, x, torch.zeros((2, 2), dtype=torch.bool)) == 0).all()


# -- after the noise -------------------------------------------------------------------------------------------


def test_distortions_are_monotone_and_bounds_tie():
    names = list(observation.DISTORTIONS)
    x = torch.linspace(-3, 3, 201).repeat(len(names), 1)
    out = observation.distort(torch.arange(len(names)), x, draws())
    steps = out.diff(dim=1)
    assert ((steps >= -1e-6).all(1) | (steps <= 1e-6).all(1)).all()
    flat = (steps.abs() < 1e-6).float().mean(1)
    for name, share in zip(names, flat, strict=True):
        assert (share > 0.05) == (name in ("bounds", "floor")), name


def test_levels_by_rank_and_by_width():
    x = draws().normal((3, 2000))
    n_levels = torch.tensor([2.0, 5.0, 16.0])
    ranked = observation.discretized(x, n_levels, draws(1), (0.2, 1.0))
    assert [len(row.unique()) for row in ranked] == [2, 5, 16]
    wide = observation.by_width(x, n_levels, draws(1))
    assert [len(row.unique()) for row in wide] == [2, 5, 16]
    for out in (ranked, wide):  # monotone: a larger value never has a lower level
        assert (out.gather(1, x.argsort(1)).diff(dim=1) >= 0).all()


def test_levels_say_nothing_about_the_place_in_the_graph():
    adjacency = erdos_renyi(torch.full((6000,), 1.0), 8, draws())
    discrete = observation.discrete_variables(adjacency, draws())
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
    edges, common = observation.marginal_graph(adjacency, torch.tensor([[0, 3, 4, 5]]))
    assert edges[0].nonzero().tolist() == [[0, 1], [0, 2], [1, 3]]
    assert common[0].nonzero().tolist() == [[1, 2], [2, 1]]  # 3 <- 2 <- 1 -> 4


def test_what_is_set_does_not_hear_its_causes_and_its_effects_hear_it():
    weights = torch.ones(1, 3, 3).triu(1)
    imposed = torch.full((1, 3, 100), torch.nan)
    imposed[0, 1, :50] = 0.0
    x = structural_data(draws().normal((1, 3, 100)), weights, range(3), MECHANISMS["lingam"], draws(), imposed=imposed)
    free = structural_data(draws().normal((1, 3, 100)), weights, range(3), MECHANISMS["lingam"], draws())
    assert x[0, 1, :50].unique().numel() == 1
    assert torch.equal(x[0, 0], free[0, 0])
    assert torch.equal(x[0, 1:, 50:], free[0, 1:, 50:])
    assert not torch.equal(x[0, 2, :50], free[0, 2, :50])


def test_some_variables_are_shown():
    shown = observation.choose_shown(50, 6, 4, draws())
    assert (shown.diff(dim=1) > 0).all()
    assert shown.unique().tolist() == list(range(6))


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


# -- graphs ------------------------------------------------------------------------------------------------------------


def test_erdos_renyi_has_its_edges_and_no_others():
    adjacency = erdos_renyi(torch.tensor([1.0, 3.0, 99.0]), 8, draws())
    assert adjacency.sum((1, 2)).tolist() == [8, 24, 28]
    assert not adjacency.tril().any()


@pytest.mark.parametrize("hubs_last", [True, False])
def test_scale_free_counts_and_direction(hubs_last):
    d, degree = 20, 2
    adjacency = scale_free(torch.full((50,), float(degree)), d, draws(), hubs_last=torch.full((50,), hubs_last))
    assert (adjacency.sum((1, 2)) == degree * d - degree * (degree + 1) // 2).all()
    assert not adjacency.tril().any()
    into, out = adjacency.sum(1).amax(1), adjacency.sum(2).amax(1)
    hub, other = (into, out) if hubs_last else (out, into)
    assert (other == degree).all()
    assert hub.float().mean() > 3 * degree


def test_scale_free_matches_the_simulator():
    ours = scale_free(torch.full((200,), 2.0), 15, draws())
    theirs = [
        simulate("sf", 15, 2, n_samples=2, random_state=k).graph.adjacency.to_numpy().sum(0).max() for k in range(200)
    ]
    other = [
        simulate("sf-degree", 15, 2, n_samples=2, random_state=k).graph.adjacency.to_numpy().sum(0).max()
        for k in range(200)
    ]
    mean = ours.sum(1).amax(1).float().mean()
    assert abs(mean - np.mean(theirs)) < 0.6
    assert mean - np.mean(other) > 1.0


# -- mechanisms --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sem", ["gp", "gp-scaled", "gp-additive", "mlp", "quadratic", "heteroscedastic", "steps"])
def test_mechanisms_match_the_simulator(sem):
    """The scale of the last variable of a full DAG, over many draws, agrees with exact draws."""
    n_sets, m = 300, 100
    adjacency = torch.ones(n_sets, 3, 3).triu(1)
    noise = torch.randn((n_sets, 3, m), generator=torch.Generator().manual_seed(0))
    ours = structural_data(noise, adjacency, range(3), MECHANISMS[sem], draws(1))[:, 2].numpy()
    theirs = []
    for seed in range(n_sets):
        dataset = simulate("er", 3, 1, sem, m, random_state=seed)
        child = int(dataset.graph.adjacency.to_numpy().sum(0).argmax())
        theirs.append(dataset.data.to_numpy()[:, child].std())
    log_scales = np.log(ours.std(1)), np.log(theirs)
    for figure in (np.mean, np.std):
        assert abs(figure(log_scales[0]) - figure(log_scales[1])) < 0.12


def test_sources_of_nonlinear_data_are_noise_alone():
    noise = torch.randn((5, 4, 20), generator=torch.Generator().manual_seed(0))
    for mechanism in MECHANISMS.values():
        assert (structural_data(noise, torch.zeros(5, 4, 4), range(4), mechanism, draws()) == noise).all()


def test_linear_solves_the_equations():
    weights = torch.randn((3, 5, 5), generator=torch.Generator().manual_seed(0)).triu(1)
    noise = torch.randn((3, 5, 10), generator=torch.Generator().manual_seed(1))
    x = linear_data(noise, weights, range(5))
    assert torch.allclose(x, weights.transpose(1, 2) @ x + noise, atol=1e-5)
