"""What simulated tasks tell: interventions, knowledge, the directions that follow, and wide-prior tables with them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede.graph.dags import class_of, cpdag
from precede.policy.inputs import Told
from precede.pretraining import world
from precede.pretraining.curriculum import Curriculum, CurriculumSettings
from precede.pretraining.world import draw_knowledge, imposed_values, shared_over_class, told_directions, world_data
from precede.simulation.draws import Draws
from precede.simulation.graphs import erdos_renyi


def draws(seed=0):
    return Draws(torch.Generator().manual_seed(seed))


def graphs(n, degree, d=7, seed=0):
    return erdos_renyi(torch.full((n,), degree), d, draws(seed))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 2.5))
def test_directions_that_nothing_tells_are_those_of_the_class(seed, degree):
    adjacency = graphs(6, degree, seed=seed)
    directed = told_directions(adjacency, Told.nothing(torch.zeros(6, 7, 2)))
    for edges, found in zip(adjacency.numpy(), directed.numpy(), strict=True):
        pattern = cpdag(edges) != 0
        assert np.array_equal(found, pattern & ~pattern.T)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_is_known_directs_no_more_than_it_may(seed):
    """Meek's fourth rule may direct a few more where edges are known."""
    adjacency = graphs(6, 1.5, seed=seed)
    told = Told.nothing(torch.zeros(6, 7, 2))
    required, forbidden = draw_knowledge(adjacency, draws(seed + 1))
    directed = told_directions(adjacency, told._replace(required=required, forbidden=forbidden))
    for k, edges in enumerate(adjacency.numpy()):
        pattern = class_of(edges, (required | forbidden.mT)[k].numpy() & edges) != 0
        assert not (directed[k].numpy() & ~(pattern & ~pattern.T)).any()
        assert directed[k][required[k]].all()


def test_shares_are_a_half_either_way_where_nothing_is_told():
    chain = torch.diag(torch.ones(2), 1)[None].bool()
    told = Told.nothing(torch.zeros(1, 3, 30))
    shares = shared_over_class(chain, told_directions(chain, told))
    assert shares[0].tolist() == [[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]]
    told.was_set[0, 1, :10] = True  # both edges of the middle one
    assert torch.equal(shared_over_class(chain, told_directions(chain, told)), chain.float())


def test_knowledge_is_right_and_tiers_go_along_the_order():
    adjacency = graphs(400, 1.5, d=12)
    required, forbidden = draw_knowledge(adjacency, draws(1))
    assert not (required & ~adjacency).any()
    assert not (forbidden & adjacency).any()
    assert not forbidden.diagonal(dim1=1, dim2=2).any()
    said = (required | forbidden).any(2).any(1).float().mean()
    assert 0.35 < said < 0.6
    assert required.any(2).any(1).float().mean() > 0.1


def test_pairs_are_told_less_often():
    shares = [draw_knowledge(graphs(600, 0.5, d=d), draws(1))[1].any(2).any(1).float().mean().item() for d in (2, 10)]
    assert shares[0] < 0.3 * shares[1]
    sets = [(~imposed_values(600, d, 30, draws(2)).isnan()).any(2).any(1).float().mean().item() for d in (2, 10)]
    assert sets[0] < 0.4 * sets[1]


def test_interventions_set_one_or_two_variables_of_a_row():
    imposed = imposed_values(200, 10, 100, draws())
    was_set = ~imposed.isnan()
    assert was_set.sum(1).max() == 2
    share = was_set.any(1).float().mean(1)
    assert 0.1 < (share > 0).float().mean() < 0.4
    assert share.max() <= 0.75


def test_tasks_keep_what_is_told_with_the_columns():
    tasks = Curriculum(CurriculumSettings(world=0.0), torch.Generator().manual_seed(0)).draw(60, 10, 200)
    told = tasks.told
    assert not (told.required & ~tasks.adjacency).any()
    assert not (told.forbidden & tasks.adjacency).any()
    assert (tasks.edges[told.required] == 1).all()
    total = tasks.edges + tasks.edges.mT
    assert torch.equal(total > 0, tasks.adjacency | tasks.adjacency.mT)
    assert (tasks.edges == 0.5).any()  # linear Gaussian, standardized
    # a variable that was set does not hear its causes in those rows: its correlation with them is lower there
    x, rows = tasks.inputs[:, :, :-1], told.was_set
    here, there = [], []
    for k, i, j in tasks.adjacency.nonzero().tolist():
        free, was_set = ~rows[k, j] & ~rows[k, i], rows[k, j] & ~rows[k, i]
        if min(free.sum(), was_set.sum()) > 20:
            here.append(torch.corrcoef(x[k, [i, j]][:, free])[0, 1].abs())
            there.append(torch.corrcoef(x[k, [i, j]][:, was_set])[0, 1].abs())
    assert torch.stack(here).nanmean() > 1.5 * torch.stack(there).nanmean()


def test_hidden_causes_are_an_answer_only_where_there_is_no_edge():
    tasks = Curriculum(CurriculumSettings(world=1.0), torch.Generator().manual_seed(0)).draw(60, 10, 50)
    assert tasks.common.any()
    assert torch.equal(tasks.common, tasks.common.mT)
    assert not (tasks.common.bool() & (tasks.adjacency | tasks.adjacency.mT)).any()


@pytest.mark.parametrize("error", [0.0, 1.0])
def test_computed_columns_are_functions_of_their_parents(monkeypatch, error):
    monkeypatch.setattr(world, "DERIVED_SHARE", 1.0)
    monkeypatch.setattr(world, "EXACT_SHARE", 1 - error)
    monkeypatch.setattr(world, "DERIVED", {"sum": 1.0})
    monkeypatch.setattr(world, "discrete_variables", lambda adjacency, source: torch.zeros(adjacency.shape[:2]).bool())
    monkeypatch.setattr(world, "BATCHES_SHARE", 0.0)
    x, _, _ = world_data(torch.ones(300, 3, 3).triu(1).bool(), 400, draws())
    total = x[:, 0] + x[:, 1]
    total = (total - total.mean(1, keepdim=True)) / total.std(1, correction=0, keepdim=True)
    exact = ((x[:, 2] - total).abs().amax(1) < 1e-3).float().mean()
    assert (exact > 0.05) == (error == 0.0)


def test_rows_that_follow_each_other_remember(monkeypatch):
    """Only the first tasks' do, and batches shift only the last ones' variables."""
    x, unordered, shifted = world_data(torch.zeros(50, 3, 3).bool(), 500, draws(3))
    memory = (x[:, :, 1:] * x[:, :, :-1]).mean(2).abs().masked_fill(unordered, 0.0).mean(1)
    assert memory[:5].mean() > 0.3 > 0.1 > memory[5:].mean()
    assert not shifted[:46].any()
    assert shifted[46:].any()
