"""The moments encoder: any number of rows and columns, in any sequence, some cells missing; its features."""

import math
from dataclasses import replace

import pytest
import torch

from precede.knowledge import Constraints
from precede.policy.actor import make_encoder
from precede.policy.features import (
    binned_moments,
    classical_features,
    code_length,
    correlations,
    dependence_left,
    read_columns,
    responses,
    triples,
)
from precede.policy.inputs import Told
from precede.policy.moments import EdgeHead, answer_log_probabilities, edge_loss, ruled


@pytest.fixture
def encoder():
    torch.manual_seed(1)
    return make_encoder("moments", 0).eval()


def inputs_for(encoder, d=5, n=40):
    generator = torch.Generator().manual_seed(1)
    values = torch.randn((2, d, n), generator=generator, dtype=torch.float64).exp()
    values = (values - values.mean(2, keepdim=True)) / values.std(2, keepdim=True, correction=0)
    scale = torch.randn((2, d, 1), generator=generator, dtype=torch.float64)
    return torch.cat([values, scale], 2).to(next(encoder.parameters()).dtype)


@pytest.mark.parametrize(("d", "n"), [(3, 10), (7, 25), (4, 3)])
def test_any_size(encoder, d, n):
    states = encoder(inputs_for(encoder, d, n))
    assert states.shape == (2, d, encoder.width)
    assert states.isfinite().all()


def test_columns_permute_the_states(encoder):
    inputs = inputs_for(encoder)
    columns = torch.tensor([3, 0, 4, 1, 2])
    assert torch.allclose(encoder(inputs[:, columns]), encoder(inputs)[:, columns], atol=1e-4)


def test_the_sequence_of_samples_does_not_matter(encoder):
    inputs = inputs_for(encoder)
    rows = torch.cat([torch.randperm(40, generator=torch.Generator().manual_seed(0)), torch.tensor([40])])
    assert torch.allclose(encoder(inputs[:, :, rows]), encoder(inputs), atol=1e-4)


def test_scale_and_values_both_matter(encoder):
    inputs = inputs_for(encoder)
    rescaled = inputs.clone()
    rescaled[:, 0, -1] += 1
    other = inputs.clone()
    other[:, 0, :-1] = -other[:, 0, :-1].flip(1)
    for changed in (rescaled, other):
        assert (encoder(changed) - encoder(inputs)).abs().max() > 1e-3


def features_of(inputs, told=None):
    told = told or Told.nothing(inputs)
    return classical_features(read_columns(inputs, told), told)


def test_classical_features_are_the_textbook_ones():
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(5000, generator=generator)
    b = a + torch.randn(5000, generator=generator)
    c = b + torch.randn(5000, generator=generator)
    x = torch.stack([a, b, c])
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=0)
    pairs, variables = features_of(torch.cat([x, torch.zeros(3, 1)], 1)[None])
    assert pairs[0, 0, 1, 0] == pytest.approx(0.5**0.5, abs=0.03)  # correlation of a and b
    assert abs(pairs[0, 0, 2, 1]) < 0.05  # a and c given b
    assert pairs[0, 0, 1, 1] > 0.3  # a and b given c
    assert variables[0, 0, 1] == pytest.approx(0.5 * math.log(0.5), abs=0.05)  # Var(a | b, c) = Var(a) / 2
    collinear = features_of(torch.cat([x[:1], x[:1], x[1:]])[None])
    assert all(part.isfinite().all() for part in collinear)


def columns_of(*columns):
    x = torch.stack([torch.as_tensor(column, dtype=torch.float32) for column in columns])
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=0)
    return read_columns(inputs := torch.cat([x, torch.zeros(len(x), 1)], 1)[None], Told.nothing(inputs))


def test_ranks_ties_and_normal_scores():
    few = torch.tensor([0.0, 1.0, 1.0, 3.0])
    columns = columns_of(few, torch.tensor([5.0, -2.0, 0.5, 100.0]))
    assert columns.positions[0, 0].tolist() == pytest.approx([0.125, 0.5, 0.5, 0.875])
    assert columns.ties[0, 0].tolist() == pytest.approx([0, 0.5, 0.5, 0])
    assert columns.scores[0, 1].argsort().tolist() == [1, 2, 0, 3]
    bent = columns_of(few, torch.tensor([5.0, -2.0, 0.5, 100.0]).asinh())
    assert torch.allclose(columns.scores[0, 1], bent.scores[0, 1])  # a monotone transform changes nothing


def test_single_columns_are_described():
    generator = torch.Generator().manual_seed(0)
    free = torch.randn(400, generator=generator)
    columns = columns_of(free, (free > 0).float(), free.clamp_min(0.0))
    _, variables = classical_features(columns, Told.nothing(torch.zeros(1, 3, 401)))
    distinct, commonest, least, greatest, missing = variables[0, :, 6], *variables[0, :, 8:12].T
    assert distinct[0] == pytest.approx(1)
    assert distinct[1] == pytest.approx(math.log(2) / math.log(400), abs=1e-3)
    assert commonest[2] > 0.8
    assert least[2] == pytest.approx(0.5, abs=0.05)  # the share at the floor
    assert greatest[2] < 0.02
    assert (missing == 0).all()


def test_bins_show_curvature_and_heteroscedasticity_and_their_direction():
    generator = torch.Generator().manual_seed(0)
    cause = torch.randn(4000, generator=generator)
    noise = torch.randn(4000, generator=generator)
    parabola = columns_of(cause, cause.square() + 0.3 * noise)
    explained = binned_moments(parabola)[0][0]
    assert explained[0, 1] > 0.4 > 0.1 > explained[1, 0]
    spreading = columns_of(cause, cause + noise * (0.7 * cause).exp())
    scale_varies = binned_moments(spreading)[2][0]
    assert scale_varies[0, 1] > 2 * scale_varies[1, 0]


def test_third_columns_tell_chains_from_common_effects():
    generator = torch.Generator().manual_seed(0)
    a, b, c, other = torch.randn(4, 5000, generator=generator)
    chain = columns_of(a, a + b, a + b + c).values
    least, opened, closed = (part[0] for part in triples(torch.corrcoef(chain[0])[None]))
    assert least[0, 2] < 0.05 < 0.4 < least[0, 1]  # the middle one parts the ends
    assert closed[0, 1] > 0.4 > 0.2 > closed[1, 0]
    effect = columns_of(a, a + b + 0.3 * c, b).values
    least, opened, closed = (part[0] for part in triples(torch.corrcoef(effect[0])[None]))
    assert opened[0, 1] > 0.5 > 0.3 > opened[1, 0]
    pair = triples(torch.corrcoef(torch.stack([a, a + other]))[None])
    assert pair[0][0, 0, 1] > 0.6  # no third column
    assert all(part.abs().max() < 1e-4 for part in pair[1:])


def test_what_is_left_of_an_effect_does_not_depend_on_its_cause():
    generator = torch.Generator().manual_seed(0)
    a, b, c, hidden = torch.rand(4, 20_000, generator=generator) - 0.5
    columns = columns_of(c, c + a, c + 2 * a + b)  # beside a common cause that is seen, 1 -> 2
    both = torch.full((3, 3), 20_000.0)
    *_, sizes = (part[0] for part in dependence_left(correlations(columns.values, both)[-1]))
    assert sizes[1, 2].abs() < 0.02 < 0.1 < sizes[2, 1].abs()
    shared = columns_of(hidden + a, hidden + b)
    sizes = dependence_left(correlations(shared.values, both[:2, :2])[-1])[2][0]
    assert min(sizes[0, 1].abs(), sizes[1, 0].abs()) > 0.02  # neither way round


def test_codes_are_short_where_values_are_few():
    generator = torch.Generator().manual_seed(0)
    normal = torch.randn(5000, generator=generator)
    gaussian, uniform, coin = code_length(columns_of(normal, torch.rand(5000, generator=generator), normal > 0))[0]
    assert abs(gaussian) < 0.03
    assert -0.2 < uniform < -0.08  # exactly -0.18 in narrow bins
    assert coin == pytest.approx(math.log(2) + math.log(6 / 16) - 0.5 * math.log(2 * math.pi * math.e), abs=0.01)


def test_missing_cells_are_left_out(encoder):
    inputs = inputs_for(encoder, d=4, n=60)
    holes = inputs.clone()
    holes[:, 1, :20] = torch.nan
    states, edges = encoder.states_and_edges(holes)
    assert states.isfinite().all()
    assert edges.isfinite().all()
    columns = read_columns(holes, Told.nothing(holes))
    assert columns.n_seen[0].tolist() == [60, 40, 60, 60]
    pairs, variables = features_of(holes)
    assert variables[0, 1, 11] == pytest.approx(1 / 3)
    both = inputs[0, [0, 1], 20:60]
    assert pairs[0, 0, 1, 0] == pytest.approx(float((both[0] * both[1]).mean()), abs=1e-5)


def test_answers_exclude_each_other_and_the_loss_is_theirs():
    torch.manual_seed(0)
    logits = torch.randn(2, 5, 5, 2)
    logits[..., 1] = logits[..., 1] + logits[..., 1].mT
    edge, common, none = (part.exp() for part in answer_log_probabilities(logits))
    off = ~torch.eye(5, dtype=torch.bool)
    assert torch.allclose((edge + edge.mT + common + none)[:, off], torch.ones(2, 20))
    edges, shared = torch.zeros(2, 2, 5, 5)
    edges[:, 0, 1] = edges[0, 3, 2] = 1
    edges[1, 2, 4] = edges[1, 4, 2] = 0.5  # a direction that is open
    shared[:, 1, 4] = shared[:, 4, 1] = 1
    expected = 0.0
    for b in range(2):
        for i in range(5):
            for j in range(i + 1, 5):
                answers = torch.stack([edge[b, i, j], edge[b, j, i], common[b, i, j], none[b, i, j]]).log()
                shares = torch.stack([edges[b, i, j], edges[b, j, i], shared[b, i, j]])
                expected -= float((torch.cat([shares, 1 - shares.sum()[None]]) * answers).sum()) / 20
    assert float(edge_loss(logits, edges, shared)) == pytest.approx(expected, rel=1e-5)


def test_a_new_head_finds_common_causes_seldom_and_either_way_round():
    torch.manual_seed(0)
    logits = EdgeHead(8)(torch.randn(2, 5, 5, 8)).detach()
    assert torch.equal(logits[..., 1], logits[..., 1].mT)
    assert answer_log_probabilities(logits).common.exp().mean() < 0.05


def test_what_is_known_is_answered():
    logits = torch.zeros(1, 3, 3, 2)
    required, forbidden = torch.zeros(2, 1, 3, 3).bool()
    required[0, 0, 1] = forbidden[0, 2, 1] = True
    told = Told.nothing(torch.zeros(1, 3, 9))._replace(required=required, forbidden=forbidden)
    edge, common, none = (part.exp()[0] for part in answer_log_probabilities(ruled(logits, told)))
    assert edge[0, 1] == pytest.approx(1)
    assert edge[2, 1] == pytest.approx(0, abs=1e-9)
    assert edge[1, 2] == common[1, 2] == none[1, 2] == pytest.approx(1 / 3)
    assert common[0, 1] == pytest.approx(0, abs=1e-9)


def test_setting_a_cause_moves_its_effect_and_not_the_other_way():
    generator = torch.Generator().manual_seed(0)
    x, noise = torch.randn(2, 2000, generator=generator)
    was_set = torch.zeros(1, 2, 2000).bool()
    was_set[0, 0, :400], was_set[0, 1, 400:800] = True, True
    x = torch.where(was_set[0, 0], x + 2, x)
    y = torch.where(was_set[0, 1], 0.5 * noise - 2, x + 0.5 * noise)
    inputs = torch.stack([x, y])
    inputs = (inputs - inputs.mean(1, keepdim=True)) / inputs.std(1, keepdim=True)
    inputs = torch.cat([inputs, torch.zeros(2, 1)], 1)[None]
    told = Told.nothing(inputs)._replace(was_set=was_set)
    correlation, _, _, shift, *_ = responses(read_columns(inputs, told))
    assert correlation[0, 0, 1] > 0.8
    assert abs(correlation[0, 1, 0]) < 0.15
    assert shift[0, 0, 1] > 1
    assert abs(shift[0, 1, 0]) < 0.15
    pairs, variables = features_of(inputs, told)
    assert variables[0, :, 12].tolist() == pytest.approx([0.2, 0.2])
    assert (features_of(inputs)[0][..., 42:56] == 0).all()  # nothing was set: these say nothing
    assert (pairs[..., -14:] != 0).any()


def test_what_is_told_changes_the_answer_and_moves_with_the_columns(encoder):
    """A network that has learned to hear: its weights for what is told are not zero."""
    inputs = inputs_for(encoder)[:1].float()
    told = Told.about(
        inputs[0, :, :-1].T.numpy(),
        was_set=torch.rand(40, 5, generator=torch.Generator().manual_seed(0)).numpy() < 0.2,
        constraints=replace(Constraints.none(5), required=torch.eye(5).roll(1, 1).bool().numpy()),
        unordered=torch.tensor([True, False, False, False, True]).numpy(),
    )
    columns = torch.tensor([[3, 0, 4, 1, 2]])
    states = encoder.states_and_edges(inputs, told)[0]
    moved = encoder.states_and_edges(inputs[:, columns[0]], told.with_columns(columns))[0]
    assert torch.allclose(moved, states[:, columns[0]], atol=1e-4)
    for part in ("was_set", "required", "unordered"):
        less = told._replace(**{part: torch.zeros_like(getattr(told, part))})
        assert not torch.allclose(encoder.states_and_edges(inputs, less)[0], states, atol=1e-4), part
