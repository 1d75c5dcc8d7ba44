"""Orders drawn from a decoder, one variable after another, by Gumbel-max.

Where all orders share one set of states, an LSTM with a dot pointer needs one product of matrices a step
(:class:`SharedDraw`); on a GPU all the rest of a step is one kernel. Every other decoder goes :func:`step_by_step`.
"""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor
from torch.nn import functional as F

from precede.policy.decoders import LOGIT_CLIP, Decoder, DotPointer, LSTMDecoder, with_initial_state
from precede.policy.encoders import WIDTH
from precede.policy.recurrence import Trace, plain_lstm_cell

PLACED = 2**30
"""Obstacles before a variable that is placed: more than the others can ever take away."""


@torch.no_grad()
def draw_orders(
    decoder: Decoder, states: Tensor, noise: Tensor, before: Tensor | None = None, *, traced: bool = False
) -> tuple[Tensor, Trace | None]:
    """Orders as :meth:`precede.policy.actor.Actor.sample` describes them; if asked, a trace where there is one."""
    has_kernel = not noise.is_cuda or find_spec("triton") is not None  # torch for Windows comes without
    if isinstance(decoder, LSTMDecoder) and isinstance(decoder.pointer, DotPointer) and len(states) == 1 and has_kernel:
        draw = SharedDraw(decoder, states, noise, before, traced=traced)
        return draw.finish(), draw.trace if traced else None
    return step_by_step(decoder, states, noise, before), None


@torch.no_grad()
def step_by_step(decoder: Decoder, states: Tensor, noise: Tensor, before: Tensor | None = None) -> Tensor:
    """The same for any decoder, by its ``begin`` and ``step``."""
    batch, d, _ = noise.shape
    memory = decoder.begin(states, batch)
    last = torch.full((batch,), d, device=noise.device)
    noise = noise.clone()  # becomes -inf, at all later steps, for variables that are placed
    orders = []
    for t in range(d):
        logits = decoder.step(memory, last) + noise[:, t]
        if before is not None:
            waiting = (noise[:, t] > -torch.inf).to(before.dtype)
            logits = logits.masked_fill(waiting @ before > 0, -torch.inf)
        last = logits.argmax(1)
        orders.append(last)
        noise[:, t + 1 :].scatter_(2, last[:, None, None].expand(batch, d - t - 1, 1), -torch.inf)
    return torch.stack(orders, 1)


class SharedDraw:
    r"""A batch of orders in the making, from states that they share.

    Before their tanh, the logits after a step are affine in its hidden state h, and so are the gates of the next:

    .. math:: [W h,\; K h + b], \qquad K = \text{keys} \cdot W_q / \sqrt{256}, \quad b = \text{keys} \cdot b_q /
        \sqrt{256}

    with W the recurrent weights, and :math:`W_q, b_q` the pointer's query layer. One product gives both; what the
    chosen variable sends to the gates is a row of a table.

    Parameters
    ----------
    decoder : LSTMDecoder
        With a dot pointer.
    states : (1, n_variables, width) tensor
    noise : (batch, n_variables, n_variables) tensor
    before : (n_variables, n_variables) tensor, optional
        ``before[i, j] = 1``: i must be placed before j.
    traced : bool
        Keep what the LSTM goes through.
    """

    def __init__(
        self, decoder: LSTMDecoder, states: Tensor, noise: Tensor, before: Tensor | None, *, traced: bool = False
    ) -> None:
        pointer = decoder.pointer
        assert isinstance(pointer, DotPointer)
        batch, d, _ = noise.shape
        self.noise = noise.contiguous()
        keys = pointer.key(states[0]) / WIDTH**0.5
        self.shift = keys @ pointer.query.bias
        self.inputs = decoder.gates(with_initial_state(states))[0]  # of each state, and of the initial one at the end
        # a number of rows that a GPU's units for products of matrices can take as it is
        together = torch.cat([decoder.recurrent, keys @ pointer.query.weight])
        self.weight = F.pad(together, (0, 0, 0, -len(together) % 8)).T
        self.orders = torch.empty((batch, d), dtype=torch.int64, device=noise.device)
        # how many variables must still be placed before each one
        self.before = noise.new_zeros((d, d), dtype=torch.int32) if before is None else before.int().contiguous()
        self.obstacles = self.before.sum(0, dtype=torch.int32).repeat(batch, 1)
        hidden, cell = decoder.start(states, 1)
        first = plain_lstm_cell(self.inputs[d:] + hidden @ decoder.recurrent.T, cell)
        # row t comes out of step t; without a trace there is one row, which every step overwrites
        n_rows = d + 1 if traced else 1
        self.hiddens, self.cells, self.opened = (part.new_empty((n_rows, batch, part.shape[1])) for part in first)
        self.hiddens[0], self.cells[0], self.opened[0] = first

    def finish(self) -> Tensor:
        """The orders, (batch, n_variables)."""
        batch, d = self.orders.shape
        product = self.hiddens.new_empty((batch, self.weight.shape[1]))
        for t in range(d):
            torch.mm(self.hiddens[self.row(t)], self.weight, out=product)
            self._place(product, t)
        return self.orders

    def row(self, t: int) -> int:
        """Where hidden state, cell and gates of step t lie."""
        return min(t, len(self.hiddens) - 1)

    @property
    def trace(self) -> Trace:
        """What the LSTM went through; the step after the last choice has no use."""
        return Trace(self.hiddens[:-1], self.cells[:-1], self.opened[:-1])

    def _place(self, product: Tensor, t: int) -> None:
        """Choose the variable at position t of each order, and take the LSTM's step that follows from it."""
        if product.is_cuda:
            from precede.policy.kernels import place_next

            return place_next(self, product, t)
        d = self.orders.shape[1]
        logits = LOGIT_CLIP * torch.tanh(product[:, 4 * WIDTH : 4 * WIDTH + d] + self.shift) + self.noise[:, t]
        chosen = logits.masked_fill_(self.obstacles > 0, -torch.inf).argmax(1)
        self.orders[:, t] = chosen
        self.obstacles -= self.before[chosen]
        self.obstacles.scatter_(1, chosen[:, None], PLACED)
        gates = self.inputs[chosen] + product[:, : 4 * WIDTH]
        now, then = self.row(t), self.row(t + 1)
        self.hiddens[then], self.cells[then], self.opened[then] = plain_lstm_cell(gates, self.cells[now])
        return None
