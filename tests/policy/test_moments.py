"""The moments encoder: any number of rows and columns, in any sequence, some cells missing; its features."""

import math

import pytest
import torch

from precede.policy.edges import EdgeHead, edge_log_probabilities, edge_loss
from precede.policy.encoders import make_encoder
from precede.policy.features import binned_moments, classical_features, read_columns


@pytest.fixture
def encoder():
    torch.manual_seed(0)
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


def test_classical_features_are_the_textbook_ones():
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(5000, generator=generator)
    b = a + torch.randn(5000, generator=generator)
    c = b + torch.randn(5000, generator=generator)
    x = torch.stack([a, b, c])
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=0)
    pairs, variables = classical_features(read_columns(torch.cat([x, torch.zeros(3, 1)], 1)[None]))
    assert pairs[0, 0, 1, 0] == pytest.approx(0.5**0.5, abs=0.03)  # correlation of a and b
    assert abs(pairs[0, 0, 2, 1]) < 0.05  # a and c given b
    assert pairs[0, 0, 1, 1] > 0.3  # a and b given c
    assert variables[0, 0, 1] == pytest.approx(0.5 * math.log(0.5), abs=0.05)  # Var(a | b, c) = Var(a) / 2
    collinear = classical_features(read_columns(torch.cat([x[:1], x[:1], x[1:]])[None]))
    assert all(part.isfinite().all() for part in collinear)


def columns_of(*columns):
    x = torch.stack([torch.as_tensor(column, dtype=torch.float32) for column in columns])
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, correction=0)
    return read_columns(torch.cat([x, torch.zeros(len(x), 1)], 1)[None])


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
    _, variables = classical_features(columns_of(free, (free > 0).float(), free.clamp_min(0.0)))
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


def test_missing_cells_are_left_out(encoder):
    inputs = inputs_for(encoder, d=4, n=60)
    holes = inputs.clone()
    holes[:, 1, :20] = torch.nan
    states, edges = encoder.states_and_edges(holes)
    assert states.isfinite().all()
    assert edges.isfinite().all()
    columns = read_columns(holes)
    assert columns.n_seen[0].tolist() == [60, 40, 60, 60]
    pairs, variables = classical_features(columns)
    assert variables[0, 1, 11] == pytest.approx(1 / 3)
    both = inputs[0, [0, 1], 20:60]
    assert pairs[0, 0, 1, 0] == pytest.approx(float((both[0] * both[1]).mean()), abs=1e-5)


def test_edge_probabilities_exclude_each_other_and_the_loss_is_theirs():
    torch.manual_seed(0)
    logits = EdgeHead(8)(torch.randn(2, 5, 5, 8)).detach()
    there, none = (part.exp() for part in edge_log_probabilities(logits))
    off = ~torch.eye(5, dtype=torch.bool)
    assert torch.allclose((there + there.transpose(1, 2) + none)[:, off], torch.ones(2, 20))
    adjacency = torch.zeros(2, 5, 5, dtype=torch.bool)
    adjacency[:, 0, 1] = adjacency[0, 3, 2] = True
    expected = [
        float((there if adjacency[b, i, j] else there.transpose(1, 2) if adjacency[b, j, i] else none)[b, i, j].log())
        for b in range(2)
        for i in range(5)
        for j in range(i + 1, 5)
    ]
    assert float(edge_loss(logits, adjacency)) == pytest.approx(-sum(expected) / len(expected))
