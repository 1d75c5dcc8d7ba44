"""A step of drawing orders, and a step of an LSTM, in one kernel each (Triton comes with torch for CUDA)."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from precede.policy.decoders import LOGIT_CLIP
from precede.policy.encoders import WIDTH
from precede.policy.sampling import PLACED, SharedDraw

BLOCK = 512


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit(do_not_specialize=["t"])
def _place(
    product, inputs, shift, noise, before, obstacles, orders, cell, hidden_out, cell_out, opened, t, d, stride,
    CLIP: tl.constexpr, PLACED: tl.constexpr, WIDTH: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """One order: the largest logit with its noise among the variables without obstacles, then the LSTM's step."""
    n = tl.program_id(0).to(tl.int64)
    row = product + n * stride
    j = tl.arange(0, COLUMNS)
    inside = j < d
    raw = tl.load(row + 4 * WIDTH + j, mask=inside, other=0.0) + tl.load(shift + j, mask=inside, other=0.0)
    logits = CLIP * _tanh(raw) + tl.load(noise + (n * d + t) * d + j, mask=inside, other=0.0)
    ahead = tl.load(obstacles + n * d + j, mask=inside, other=1)
    chosen = tl.argmax(tl.where(ahead == 0, logits, float("-inf")), axis=0)
    chosen = tl.minimum(chosen, d - 1).to(tl.int64)  # should all be NaN, no address outside is touched
    tl.store(orders + n * d + t, chosen)
    ahead -= tl.load(before + chosen * d + j, mask=inside, other=0)
    tl.store(obstacles + n * d + j, tl.where(j == chosen, PLACED, ahead), mask=inside)
    w = tl.arange(0, WIDTH)
    entering = inputs + chosen * (4 * WIDTH) + w
    enter = tl.sigmoid(tl.load(row + w) + tl.load(entering))
    forget = tl.sigmoid(tl.load(row + WIDTH + w) + tl.load(entering + WIDTH))
    content = _tanh(tl.load(row + 2 * WIDTH + w) + tl.load(entering + 2 * WIDTH))
    leave = tl.sigmoid(tl.load(row + 3 * WIDTH + w) + tl.load(entering + 3 * WIDTH))
    level = forget * tl.load(cell + n * WIDTH + w) + enter * content
    tl.store(cell_out + n * WIDTH + w, level)
    tl.store(hidden_out + n * WIDTH + w, leave * _tanh(level))
    out = opened + n * (4 * WIDTH) + w
    tl.store(out, enter)
    tl.store(out + WIDTH, forget)
    tl.store(out + 2 * WIDTH, content)
    tl.store(out + 3 * WIDTH, leave)


@triton.jit
def _cell(gates, cell, hidden_out, cell_out, opened, n_numbers, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Numbers of all orders' cells in a row; their four gates lie WIDTH apart."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n_numbers
    g = i // WIDTH * (4 * WIDTH) + i % WIDTH
    enter = tl.sigmoid(tl.load(gates + g, mask=inside))
    forget = tl.sigmoid(tl.load(gates + g + WIDTH, mask=inside))
    content = _tanh(tl.load(gates + g + 2 * WIDTH, mask=inside))
    leave = tl.sigmoid(tl.load(gates + g + 3 * WIDTH, mask=inside))
    level = forget * tl.load(cell + i, mask=inside) + enter * content
    tl.store(cell_out + i, level, mask=inside)
    tl.store(hidden_out + i, leave * _tanh(level), mask=inside)
    tl.store(opened + g, enter, mask=inside)
    tl.store(opened + g + WIDTH, forget, mask=inside)
    tl.store(opened + g + 2 * WIDTH, content, mask=inside)
    tl.store(opened + g + 3 * WIDTH, leave, mask=inside)


@triton.jit
def _cell_gradient(
    opened, before, after, of_hidden, of_cell, of_gates, out, n_numbers, WIDTH: tl.constexpr, BLOCK: tl.constexpr
):
    """The same numbers' gradients; ``out`` is that of the cell before."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n_numbers
    g = i // WIDTH * (4 * WIDTH) + i % WIDTH
    enter = tl.load(opened + g, mask=inside)
    forget = tl.load(opened + g + WIDTH, mask=inside)
    content = tl.load(opened + g + 2 * WIDTH, mask=inside)
    leave = tl.load(opened + g + 3 * WIDTH, mask=inside)
    level = _tanh(tl.load(after + i, mask=inside))
    upstream = tl.load(of_hidden + i, mask=inside)
    total = tl.load(of_cell + i, mask=inside) + upstream * leave * (1.0 - level * level)
    tl.store(of_gates + g, total * content * enter * (1.0 - enter), mask=inside)
    past = tl.load(before + i, mask=inside)
    tl.store(of_gates + g + WIDTH, total * past * forget * (1.0 - forget), mask=inside)
    tl.store(of_gates + g + 2 * WIDTH, total * enter * (1.0 - content * content), mask=inside)
    tl.store(of_gates + g + 3 * WIDTH, upstream * level * leave * (1.0 - leave), mask=inside)
    tl.store(out + i, total * forget, mask=inside)


def place_next(draw: SharedDraw, product: Tensor, t: int) -> None:
    """Position t of every order and the step after it, as :class:`precede.policy.sampling.SharedDraw` has them."""
    batch, d = draw.orders.shape
    now, then = draw.row(t), draw.row(t + 1)
    _place[(batch,)](
        product, draw.inputs, draw.shift, draw.noise, draw.before, draw.obstacles, draw.orders,
        draw.cells[now], draw.hiddens[then], draw.cells[then], draw.opened[then], t, d, product.shape[1],
        CLIP=LOGIT_CLIP, PLACED=PLACED, WIDTH=WIDTH, COLUMNS=triton.next_power_of_2(d), num_warps=4,
    )  # fmt: skip


def cell_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`precede.policy.recurrence.lstm_cell`."""
    hidden, level, opened = torch.empty_like(cell), torch.empty_like(cell), torch.empty_like(gates)
    grid = (triton.cdiv(cell.numel(), BLOCK),)
    _cell[grid](gates, cell, hidden, level, opened, cell.numel(), WIDTH=cell.shape[-1], BLOCK=BLOCK)
    return hidden, level, opened


def cell_gradient(
    opened: Tensor, before: Tensor, after: Tensor, of_hidden: Tensor, of_cell: Tensor, of_gates: Tensor
) -> Tensor:
    """As :func:`precede.policy.recurrence.lstm_cell_gradient`."""
    out = torch.empty_like(before)
    grid = (triton.cdiv(before.numel(), BLOCK),)
    numbers = before.numel()
    _cell_gradient[grid](
        opened, before, after, of_hidden, of_cell, of_gates, out, numbers, WIDTH=before.shape[-1], BLOCK=BLOCK
    )
    return out
