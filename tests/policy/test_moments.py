"""Encoders that take any number of rows and columns, in any sequence."""

import math

import pytest
import torch

from precede.policy import alternating
from precede.policy.alternating import attend
from precede.policy.encoders import make_encoder
from precede.policy.moments import classical_features


@pytest.fixture(params=["alternating", "moments"])
def encoder(request):
    torch.manual_seed(0)
    return (
        make_encoder(request.param, 0).double().eval()
        if request.param == "alternating"
        else make_encoder(request.param, 0)
    )


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
    pairs, variables = classical_features(torch.cat([x, torch.zeros(3, 1)], 1)[None])
    assert pairs[0, 0, 1, 0] == pytest.approx(0.5**0.5, abs=0.03)  # correlation of a and b
    assert abs(pairs[0, 0, 2, 1]) < 0.05  # a and c given b
    assert pairs[0, 0, 1, 1] > 0.3  # a and b given c
    assert variables[0, 0, 1] == pytest.approx(0.5 * math.log(0.5), abs=0.05)  # Var(a | b, c) = Var(a) / 2
    collinear = classical_features(torch.cat([x[:1], x[:1], x[1:]])[None])
    assert all(part.isfinite().all() for part in collinear)


def test_attention_is_cut_to_the_longest_grid_and_never_cudnns(monkeypatch):
    query, key, value = torch.randn((3, 10, 2, 4, 8), generator=torch.Generator().manual_seed(0)).requires_grad_()
    whole = attend(query, key, value)
    calls = []
    plain = alternating.F.scaled_dot_product_attention

    def watched(*parts):
        calls.append((len(parts[0]), torch.backends.cuda.cudnn_sdp_enabled()))
        return plain(*parts)

    monkeypatch.setattr(alternating.F, "scaled_dot_product_attention", watched)
    monkeypatch.setattr(alternating, "LARGEST_GRID", 7)
    before = torch.backends.cuda.cudnn_sdp_enabled()
    cut = attend(query, key, value)
    assert calls == [(3, False)] * 3 + [(1, False)]
    assert torch.backends.cuda.cudnn_sdp_enabled() == before
    assert torch.allclose(cut, whole, atol=1e-6)
    cut.sum().backward()
