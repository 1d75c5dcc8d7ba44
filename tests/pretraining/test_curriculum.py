"""Batched tasks: graphs, mechanisms against the one-at-a-time simulator, units, orders."""

import pytest
import torch

from precede.pretraining.curriculum import (
    PAPER_CURRICULUM,
    SHARES,
    Curriculum,
    CurriculumSettings,
    ancestors,
    family_data,
    standardized_inputs,
    training_orders,
)
from precede.pretraining.world import world_data
from precede.simulation.draws import Draws, unit_rows
from precede.simulation.graphs import erdos_renyi


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def draws(seed=0):
    return Draws(generator(seed))


def curriculum(seed=0, **settings):
    return Curriculum(CurriculumSettings(**({"world": 0.0} | settings)), generator(seed))


def is_valid(order, adjacency):
    position = order.argsort()
    return all(position[i] < position[j] for i, j in adjacency.nonzero())


def test_ancestors_is_the_transitive_closure():
    chain = torch.diag(torch.ones(6), 1)[None].bool()
    assert (ancestors(chain)[0] == torch.ones(7, 7).triu(1).bool()).all()


def test_training_orders_are_valid_but_for_the_corrupted_third():
    adjacency = erdos_renyi(torch.full((30,), 2.0), 12, draws())
    orders = training_orders(adjacency, draws(1))
    assert (orders.sort(1).values == torch.arange(12)).all()
    valid = [is_valid(order, graph) for order, graph in zip(orders, adjacency, strict=True)]
    assert all(valid[0::3])
    assert all(valid[1::3])
    assert not all(valid[2::3])


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


def test_families_have_their_noise_and_units():
    """Sources are the noise alone: Gaussian for all but "lingam", whose shapes are not."""
    x = family_data(torch.zeros(100, 3, 3), 3000, draws())
    excess = (unit_rows(x) ** 4).mean((1, 2)) - 3
    assert excess[:30].abs().max() < 0.5
    assert excess[50:].abs().max() < 0.5
    assert excess[30:50].abs().median() > 0.5


def test_world_data_is_standardized_and_children_depend_on_parents():
    adjacency = erdos_renyi(torch.full((60,), 1.0), 6, draws(1))
    x, unordered, _ = world_data(adjacency, 500, draws(3))
    assert x.isfinite().all()
    assert torch.allclose(x.mean(2)[~unordered], torch.zeros(1), atol=1e-3)
    assert torch.equal(x[unordered], x[unordered].round())  # the places of levels
    ranks = unit_rows(x.argsort(2).argsort(2).float())
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
    tasks = Curriculum(CurriculumSettings(world=world), generator()).draw(40, 6, 50)
    assert tasks.inputs.shape == (40, 6, 51)
    distinct = torch.tensor([min(len(column.unique()) for column in task[:, :-1]) for task in tasks.inputs])
    assert (distinct < 20).any() == (world > 0)  # only the wide prior has levels


def test_small_tables_hide_more_of_the_system():
    """One to eight further variables, in half of the tasks: two columns are a glimpse."""
    curriculum = Curriculum(CurriculumSettings(), generator())
    assert {curriculum._n_hidden(2) for _ in range(60)} == {1, 2, 4, 8}
    hidden = [curriculum._n_hidden(30) for _ in range(40)]
    assert 1 <= min(hidden) < 5
    assert 8 < max(hidden) <= 12
    assert curriculum.draw(40, n_variables=2, n_samples=50).inputs.shape == (40, 2, 51)


@pytest.mark.parametrize("hidden", [0.0, 1.0])
def test_the_families_hide_variables_in_a_share_of_their_tasks(hidden):
    tasks = Curriculum(CurriculumSettings(world=0.0, hidden=hidden), generator()).draw(60, 10, 50)
    assert tasks.common.any() == (hidden > 0)
    assert (tasks.edges == 0.5).any() == (hidden == 0)  # no class is named where something is hidden


def test_noise_inside_a_mechanism_needs_none_beside_it(monkeypatch):
    """x -> y with next to nothing added: y is a function of x, unless the noise is an argument of that function."""
    from precede.pretraining import world

    for name in ("HETEROSCEDASTIC_SHARE", "DISTORTED_SHARE", "DERIVED_SHARE", "BATCHES_SHARE"):
        monkeypatch.setattr(world, name, 0.0)
    monkeypatch.setattr(world, "discrete_variables", lambda adjacency, source: torch.zeros(adjacency.shape[:2]).bool())
    monkeypatch.setattr(world, "_noise_sizes", lambda batch, d, source: torch.full((batch, d), 1e-3))
    jumps = {}
    for share in (0.0, 1.0):
        monkeypatch.setattr(world, "INSIDE_SHARE", share)
        x, y = world_data(torch.ones(200, 2, 2).triu(1).bool(), 1000, draws()).x.unbind(1)
        along = y.gather(1, x.argsort(1))
        jumps[share] = along.diff(dim=1).abs().median(1).values.mean()
    assert jumps[0.0] < 0.05
    assert jumps[1.0] > 0.3
