"""Batched tasks: graphs, mechanisms against the one-at-a-time simulator, units, orders."""

import numpy as np
import pytest
import torch

from precede.data.simulate import simulate
from precede.pretraining import batched_equations as equations
from precede.pretraining import graphs
from precede.pretraining.curriculum import PAPER_CURRICULUM, Curriculum, CurriculumSettings
from precede.pretraining.drawing import Draws
from precede.pretraining.families import SHARES, non_gaussian, random_weights


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def curriculum(seed=0, **settings):
    return Curriculum(CurriculumSettings(**({"world": 0.0} | settings)), generator(seed))


def is_valid(order, adjacency):
    position = order.argsort()
    return all(position[i] < position[j] for i, j in adjacency.nonzero())


def test_erdos_renyi_has_its_edges_and_no_others():
    adjacency = graphs.erdos_renyi(torch.tensor([1.0, 3.0, 99.0]), 8, generator())
    assert adjacency.sum((1, 2)).tolist() == [8, 24, 28]
    assert not adjacency.tril().any()


@pytest.mark.parametrize("hubs_last", [True, False])
def test_scale_free_counts_and_direction(hubs_last):
    d, degree = 20, 2
    adjacency = graphs.scale_free(torch.full((50,), float(degree)), d, torch.full((50,), hubs_last), generator())
    assert (adjacency.sum((1, 2)) == degree * d - degree * (degree + 1) // 2).all()
    assert not adjacency.tril().any()
    into, out = adjacency.sum(1).amax(1), adjacency.sum(2).amax(1)
    hub, other = (into, out) if hubs_last else (out, into)
    assert (other == degree).all()
    assert hub.float().mean() > 3 * degree


def test_scale_free_matches_the_simulator():
    ours = graphs.scale_free(torch.full((200,), 2.0), 15, torch.ones(200, dtype=torch.bool), generator())
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


def test_ancestors_is_the_transitive_closure():
    chain = torch.diag(torch.ones(6), 1)[None].bool()
    assert (graphs.ancestors(chain)[0] == torch.ones(7, 7).triu(1).bool()).all()


def test_training_orders_are_valid_but_for_the_corrupted_third():
    adjacency = graphs.erdos_renyi(torch.full((30,), 2.0), 12, generator())
    orders = graphs.training_orders(adjacency, generator(1))
    assert (orders.sort(1).values == torch.arange(12)).all()
    valid = [is_valid(order, graph) for order, graph in zip(orders, adjacency, strict=True)]
    assert all(valid[0::3])
    assert all(valid[1::3])
    assert not all(valid[2::3])


@pytest.mark.parametrize("sem", ["gp", "gp-additive", "mlp", "quadratic"])
def test_mechanisms_match_the_simulator(sem):
    """The scale of the last variable of a full DAG, over many draws, agrees with precede.data.equations."""
    n_sets, m = 300, 100
    adjacency = torch.ones(n_sets, 3, 3).triu(1)
    noise = torch.randn((n_sets, 3, m), generator=generator())
    batched = {
        "gp": equations.gp_joint,
        "gp-additive": equations.gp_additive,
        "mlp": equations.mlp,
        "quadratic": equations.quadratic,
    }
    weights = adjacency * random_weights(n_sets, 3, Draws(generator(2)))
    ours = batched[sem](noise, adjacency, weights, generator(1))[:, 2].numpy()
    theirs = []
    for seed in range(n_sets):
        dataset = simulate("er", 3, 1, sem, m, random_state=seed)
        child = int(dataset.graph.adjacency.to_numpy().sum(0).argmax())
        theirs.append(dataset.data.to_numpy()[:, child].std())
    log_scales = np.log(ours.std(1)), np.log(theirs)
    for figure in (np.mean, np.std):
        assert abs(figure(log_scales[0]) - figure(log_scales[1])) < 0.12


def test_sources_of_nonlinear_data_are_noise_alone():
    noise = torch.randn((5, 4, 20), generator=generator())
    for mechanism in (equations.gp_joint, equations.gp_additive, equations.mlp, equations.quadratic):
        assert (mechanism(noise, torch.zeros(5, 4, 4), torch.zeros(5, 4, 4), generator()) == noise).all()


def test_linear_solves_the_equations():
    weights = torch.randn((3, 5, 5), generator=generator()).triu(1)
    noise = torch.randn((3, 5, 10), generator=generator(1))
    x = equations.linear(noise, weights)
    assert torch.allclose(x, weights.transpose(1, 2) @ x + noise, atol=1e-5)


def test_non_gaussian_noise_has_variance_one():
    noise = non_gaussian(torch.randn((200, 2, 2000), generator=generator()), Draws(generator(1)))
    assert abs(noise.square().mean() - 1) < 0.05
    excess = (noise**4).mean((1, 2)) - 3
    assert excess.min() < -0.5
    assert excess.max() > 1


def test_tasks_are_standardized_and_their_scales_are_those_asked_for():
    tasks = curriculum(standardized=1.0).draw(12, 8, 60)
    rows, scale = tasks.inputs[:, :, :-1], tasks.inputs[:, :, -1]
    assert torch.allclose(rows.mean(2), torch.zeros(12, 8), atol=1e-4)
    assert torch.allclose(rows.square().mean(2), torch.ones(12, 8), atol=1e-3)
    assert (scale == 0).all()
    raw = curriculum(standardized=0.0).draw(12, 8, 60).inputs[:, :, -1]
    assert (raw.abs().amax(1) > 0).all()
    assert torch.allclose(raw.mean(1), torch.zeros(12), atol=1e-4)


def test_columns_orders_and_graphs_stay_together():
    """Neighbors are correlated, others less so: shuffling must not break that."""
    tasks = curriculum(3, degrees=(1.0, 1.0)).draw(60, 6, 400)
    rows, adjacency = tasks.inputs[:, :, :-1], tasks.adjacency
    correlation = (rows @ rows.transpose(1, 2) / 400).abs()
    off = ~torch.eye(6, dtype=torch.bool)
    related = (adjacency | adjacency.transpose(1, 2)) & off
    assert correlation[related].mean() > 2 * correlation[~related & off].mean()
    valid = [is_valid(order, graph) for order, graph in zip(tasks.orders, adjacency, strict=True)]
    assert all(valid[0::3])
    assert all(valid[1::3])


def test_rows_limits_what_is_seen():
    tasks = Curriculum(PAPER_CURRICULUM, generator()).draw(6, 30, 400)
    assert tasks.inputs.shape == (6, 30, 257)
    assert (tasks.adjacency.sum((1, 2)) >= 57).all()


def test_split_keeps_tasks_together():
    tasks = curriculum().draw(8, 5, 20)
    parts = tasks.split(4)
    assert [len(part.inputs) for part in parts] == [2, 2, 2, 2]
    assert (torch.cat([part.adjacency for part in parts]) == tasks.adjacency).all()
    assert (parts[1].orders == tasks.orders[2:4]).all()


def test_same_seed_same_tasks_and_shares_add_up():
    first, second = (curriculum(7).draw(9, 5, 20) for _ in range(2))
    assert (first.inputs == second.inputs).all()
    assert (first.orders == second.orders).all()
    assert sum(SHARES.values()) == pytest.approx(1)
