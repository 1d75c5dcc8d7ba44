"""Orders drawn by one product a step are those drawn step by step; on a GPU the kernel draws them too."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from precede.policy.decoders import LSTMDecoder, make_decoder
from precede.policy.sampling import PLACED, SharedDraw, draw_orders, step_by_step

GPU = [pytest.mark.cuda, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")]


def make_lstm(width: int = 12, pointer: str = "dot") -> LSTMDecoder:
    torch.manual_seed(0)
    decoder = make_decoder("lstm", width, pointer)
    assert isinstance(decoder, LSTMDecoder)
    for parameter in decoder.parameters():  # logits that differ, and biases that matter
        torch.nn.init.normal_(parameter, std=0.2)
    return decoder


def drawn_noise(batch: int, d: int, seed: int) -> Tensor:
    return -torch.empty(batch, d, d).exponential_(generator=torch.Generator().manual_seed(seed)).log()


def drawn_constraints(d: int, seed: int) -> Tensor:
    """A random order's pairs, one of four of them; ``before[i, j] = 1``: i must be placed before j."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(d, generator=generator)
    pairs = torch.triu((torch.rand(d, d, generator=generator) < 0.25).float(), 1)
    return torch.zeros(d, d).index_put_((order[:, None], order[None, :]), pairs)


@pytest.mark.parametrize("d", [1, 2, 7, 30])
@pytest.mark.parametrize("constrained", [False, True])
def test_one_product_draws_the_orders_of_many_steps(d: int, constrained: bool) -> None:
    decoder = make_lstm().double()
    for seed in range(10):
        states = torch.randn(1, d, 12, generator=torch.Generator().manual_seed(seed)).double()
        noise = drawn_noise(9, d, seed).double()
        before = drawn_constraints(d, seed).double() if constrained else None
        given = noise.clone()
        orders = draw_orders(decoder, states, noise, before)[0]
        assert torch.equal(orders, step_by_step(decoder, states, noise, before))
        assert torch.equal(noise, given)
        assert torch.equal(orders.sort(1).values, torch.arange(d).expand(9, d))


def test_the_orders_depend_on_what_was_drawn_before() -> None:
    """An LSTM that forgot its steps, or a pointer that ignored it, would pass no test against itself."""
    decoder, states = make_lstm().double(), torch.randn(1, 6, 12, generator=torch.Generator().manual_seed(1)).double()
    orders = draw_orders(decoder, states, drawn_noise(400, 6, 2).double())[0]
    logits = decoder.logits(states, orders)[:, 3].detach()
    assert float(logits.std(0).min()) > 0.1


def test_equal_logits_take_the_first_variable() -> None:
    decoder = make_lstm()
    for parameter in decoder.pointer.parameters():
        torch.nn.init.zeros_(parameter)
    orders = draw_orders(decoder, torch.ones(1, 5, 12), torch.zeros(3, 5, 5))[0]
    assert torch.equal(orders, torch.arange(5).expand(3, 5))


@pytest.mark.parametrize(
    ("name", "pointer", "shared"), [("mlp", "dot", True), ("lstm", "additive", True), ("lstm", "dot", False)]
)
def test_other_decoders_go_step_by_step(name: str, pointer: str, shared: bool) -> None:
    torch.manual_seed(0)
    decoder = make_decoder(name, 12, pointer)
    states, noise = torch.randn(1 if shared else 4, 6, 12), drawn_noise(4, 6, 0)
    assert torch.equal(draw_orders(decoder, states, noise)[0], step_by_step(decoder, states, noise))


def test_a_placed_variable_stays_placed() -> None:
    d = 40
    before = torch.triu(torch.ones(d, d), 1)
    decoder = make_lstm()
    with torch.no_grad():
        draw = SharedDraw(decoder, torch.randn(1, d, 12), drawn_noise(2, d, 0), before)
        assert torch.equal(draw.finish(), torch.arange(d).expand(2, d))
    assert int(draw.obstacles.min()) > PLACED - d


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=GPU)])
@pytest.mark.parametrize("d", [1, 2, 9])
def test_a_trace_gives_the_gradients_of_the_whole_way(device: str, d: int) -> None:
    """On a GPU, with a trace from its kernel, as the CPU finds them without one."""
    states = torch.randn(1, d, 12, generator=torch.Generator().manual_seed(d)).double()
    noise, weights = drawn_noise(6, d, 3).double(), drawn_noise(6, d, 4).double()
    found = []
    orders = draw_orders(make_lstm().double(), states, noise)[0]
    precise = torch.float64 if device == "cpu" else torch.float32
    for traced, where, kind in ((False, "cpu", torch.float64), (True, device, precise)):
        decoder = make_lstm().to(where, kind)
        own = states.to(where, kind, copy=True).requires_grad_()  # a leaf of its own
        drawn, trace = draw_orders(decoder, own.detach(), noise.to(where, kind), traced=traced)
        assert torch.equal(drawn.cpu(), orders)
        assert (trace is not None) == traced
        logits = decoder.logits(own, drawn, trace)
        (logits.square() * weights.to(where, kind)).sum().backward()
        found.append([logits.detach(), own.grad, *(parameter.grad for parameter in decoder.parameters())])
    for here, there in zip(*found, strict=True):
        tolerance = 1e-9 if device == "cpu" else 1e-3
        largest = float(here.abs().max())
        torch.testing.assert_close(there.cpu().double(), here, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.parametrize(("d", "batch"), [(1, 3), (2, 4), (7, 5), (100, 64), (130, 16)])
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("device", [pytest.param("cuda", marks=GPU)])
def test_cuda_kernel_draws_the_orders_of_the_cpu(device: str, d: int, batch: int, constrained: bool) -> None:
    decoder = make_lstm()
    states = torch.randn(1, d, 12, generator=torch.Generator().manual_seed(d))
    noise = drawn_noise(batch, d, d)
    before = drawn_constraints(d, d) if constrained else None
    here = draw_orders(decoder, states, noise, before)[0]
    there, _ = draw_orders(
        decoder.to(device), states.to(device), noise.to(device), None if before is None else before.to(device)
    )
    there = there.cpu()
    assert torch.equal(there.sort(1).values, torch.arange(d).expand(batch, d))
    same = (here == there).all(1).float().mean()
    assert float(same) >= 0.9  # rounding may turn a choice, and then the rest of that order
    if before is not None:
        position = there.argsort(1)
        first, second = before.nonzero().T
        assert (position[:, first] < position[:, second]).all()
