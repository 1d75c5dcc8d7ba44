"""A step of drawing orders in one kernel (Triton comes with torch for CUDA)."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from precede.policy.decoders import LOGIT_CLIP
from precede.policy.encoders import WIDTH
from precede.policy.sampling import PLACED, SharedDraw


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit(do_not_specialize=["t"])
def _place(
    product, inputs, shift, noise, before, obstacles, orders, hidden, cell, t, d, stride, CLIP: tl.constexpr,
    PLACED: tl.constexpr, WIDTH: tl.constexpr, COLUMNS: tl.constexpr,
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
    tl.store(cell + n * WIDTH + w, level)
    tl.store(hidden + n * WIDTH + w, leave * _tanh(level))


def place_next(draw: SharedDraw, product: Tensor, t: int) -> None:
    """Position t of every order, as :class:`precede.policy.sampling.SharedDraw` has it; hidden and cell in place."""
    batch, d = draw.orders.shape
    _place[(batch,)](
        product, draw.inputs, draw.shift, draw.noise, draw.before, draw.obstacles, draw.orders, draw.hidden, draw.cell,
        t, d, product.shape[1], CLIP=LOGIT_CLIP, PLACED=PLACED, WIDTH=WIDTH, COLUMNS=triton.next_power_of_2(d),
        num_warps=4,
    )  # fmt: skip
