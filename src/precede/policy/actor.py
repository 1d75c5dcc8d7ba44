"""The actor, a distribution over causal orders, with draws from a trained one; and the critic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from precede.arrays import FloatArray, IntArray
from precede.errors import OptionError
from precede.options import Count
from precede.policy import networks
from precede.policy.inputs import FixedInputs, InputsName, ResampledInputs, RowScale, Told, Views
from precede.policy.moments import MomentsEncoder
from precede.runtime import gumbel_noise, torch_generator
from precede.scores.protocol import OrderScore


class Drawn(NamedTuple):
    """A batch of orders from a policy, with all that learning needs of how they were drawn.

    Parameters
    ----------
    states : (1 or batch, n_variables, width) tensor
    orders : (batch, n_variables) int64 tensor
        Causes first.
    log_probabilities, entropies : (batch, n_variables) tensors
        Of every choice, in the sequence of placing.
    """

    states: Tensor
    orders: Tensor
    log_probabilities: Tensor
    entropies: Tensor


Steps = tuple[list[Tensor], list[Tensor], Tensor]
"""What the pointer was asked at each step, which variables it could not choose, and the keys of all."""


Inputs = FixedInputs | ResampledInputs | Views


@dataclass(frozen=True)
class Architecture:
    """What a policy is built from, and what it looks at.

    Parameters
    ----------
    encoder, decoder, pointer, normalization : str
        The encoder and the decoder by name, how the decoder points, and how a transformer normalizes.
    n_samples : int
        Rows that the encoder sees; the most rows for an encoder that takes any number.
    rows : {"fixed", "resample"}
        Which rows a transformer sees: the same ones throughout, standardized, with their scales beside them; or, as in
        the paper, rows drawn anew for each order.
    row_scale : {"asinh", "common", "none"}
        How resampled rows are scaled: see :class:`precede.policy.inputs.ResampledInputs`.
    width, heads : int
        Of states and decoder, and of the transformer's attention.
    glimpse : bool
        Whether the pointer is asked after :class:`precede.policy.networks.Glimpse`.
    sinks_first : bool
        Whether variables are placed from the last of the order to the first.
    """

    encoder: networks.EncoderName
    decoder: networks.DecoderName
    pointer: networks.PointerName
    n_samples: Count
    normalization: networks.NormalizationName = "layer"
    rows: InputsName = "fixed"
    row_scale: RowScale = "asinh"
    width: Count = networks.WIDTH
    heads: Count = networks.HEADS
    glimpse: bool = False
    sinks_first: bool = False

    def build(self) -> Actor:
        """Make the network, its weights not yet trained."""
        return Actor(self.n_samples + (self.rows == "fixed"), self)

    def inputs(
        self,
        values: FloatArray,
        rng: np.random.Generator,
        device: torch.device,
        *,
        scales: bool = False,
        told: Told | None = None,
    ) -> Inputs:
        """Show the policy a data set (n_samples, n_variables), in the form it was trained on.

        ``scales`` shows the columns' scales to an encoder that can do without: they mean something where noise
        variances are equal. ``told`` is heard by that encoder alone.
        """
        if self.encoder == "moments":
            return Views(values, self.n_samples, rng, device, scales=scales, told=told)
        if self.rows == "resample":
            return ResampledInputs(values, self.n_samples, torch_generator(rng, device), device, self.row_scale)
        return FixedInputs(values, self.n_samples, rng, device)


class Actor(nn.Module):
    r"""Policy :math:`\pi_\phi(\Pi) = \prod_t \pi_\phi(a_t \mid \hat s_t)` over orders (Figure 2 of the paper).

    Parameters
    ----------
    n_inputs : int
        Length of each variable's input.
    built : Architecture
    """

    def __init__(self, n_inputs: int, built: Architecture) -> None:
        super().__init__()
        self.sinks_first = built.sinks_first
        self.encoder = make_encoder(built.encoder, n_inputs, built.normalization, built.width, built.heads)
        self.width = {"null": n_inputs, "moments": MomentsEncoder.width}.get(built.encoder, built.width)
        self.decoder = networks.DECODERS[built.decoder](self.width, built.pointer, built.width)
        self.glimpse = networks.Glimpse(self.width, built.width) if built.glimpse else None

    def forward(self, inputs: Tensor, noise: Tensor, before: Tensor | None = None) -> Drawn:
        """Encode inputs (1 or batch, n_variables, n_inputs), and draw orders as :meth:`sample` does, with gradients."""
        states = self.encoder(inputs)
        placed, steps = self._place(states, noise, before)
        return Drawn(states, self.turned(placed), *_of_choices(placed, self._logits(*steps)))

    def look(self, inputs: Tensor, told: Told | None = None) -> tuple[Tensor, Tensor | None]:
        """States of inputs, and where the encoder has them, logits of pairs (``EdgeHead``)."""
        if isinstance(self.encoder, MomentsEncoder):
            return self.encoder.states_and_edges(inputs, told)
        return self.encoder(inputs), None

    @torch.no_grad()
    def sample(self, states: Tensor, noise: Tensor, before: Tensor | None = None) -> Tensor:
        """Draw orders by Gumbel-max, one variable after another; greedy where the noise is zero.

        Parameters
        ----------
        states : (1 or batch, n_variables, width) tensor
            From the encoder; one set of states is shared by the batch.
        noise : (batch, n_variables, n_variables) tensor
            Gumbel noise of each step and variable, drawn beforehand so that this function is deterministic.
        before : (n_variables, n_variables) float tensor, optional
            ``before[i, j] = 1``: i must be placed before j.

        Returns
        -------
        orders : (batch, n_variables) int64 tensor
        """
        return self.turned(self._place(states, noise, before)[0])

    @torch.no_grad()
    def most_likely_order(self, inputs: Tensor, before: Tensor | None = None) -> Tensor:
        """Greedy decode of one data set: the likeliest variable at every step.

        It is given as (1, n_variables, n_inputs), or as several looks, whose states are averaged.
        """
        d = inputs.shape[1]
        states = self.encoder(inputs).mean(0, keepdim=True)
        return self.sample(states, torch.zeros((1, d, d), device=inputs.device), before)[0]

    def log_probabilities(self, states: Tensor, orders: Tensor, before: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Log-probability of every choice of given orders, and the entropy of every choice, in the sequence of placing.

        Returns
        -------
        log_probabilities, entropies : (batch, n_variables) tensors
        """
        return _of_choices(self.turned(orders), self.logits(states, orders, before))

    def logits(self, states: Tensor, orders: Tensor, before: Tensor | None = None) -> Tensor:
        """Logits (batch, steps, n_variables) on the way through given orders; minus infinity for no choice."""
        return self._logits(*self._place(states, self.turned(orders), before)[1])

    def turned(self, orders: Tensor) -> Tensor:
        """From causes first to the sequence of placing, and back."""
        return orders.flip(-1) if self.sinks_first else orders

    def _place(self, states: Tensor, by: Tensor, before: Tensor | None) -> tuple[Tensor, Steps]:
        """The one way from states to orders, step by step.

        ``by`` is what is placed, (batch, n_variables), or the noise under which the likeliest is, (batch, n_variables,
        n_variables).
        """
        d, batch = states.shape[1], len(by)
        memory = self.decoder.begin(states, batch)
        glimpsed = None if self.glimpse is None else self.glimpse.pointer.keys(states)
        last = torch.full((batch,), d, device=states.device)
        placed = torch.zeros((batch, d), dtype=torch.bool, device=states.device)
        steps: Steps = [], [], memory.keys
        orders = []
        for t in range(d):
            barred = placed
            if before is not None:
                waits_for = before.T if self.sinks_first else before  # .T: effects are placed before their causes
                barred = placed | ((~placed).to(before.dtype) @ waits_for > 0)
            asked = self.decoder.step(memory, last)
            if self.glimpse is not None and glimpsed is not None:
                asked = self.glimpse(asked, glimpsed, states, barred)
            steps[0].append(asked)
            steps[1].append(barred)
            last = by[:, t]
            if by.ndim == 3:
                with torch.no_grad():  # a choice has no gradient
                    last = (self._logits([asked], [barred], memory.keys)[:, 0] + last).argmax(1)
            orders.append(last)
            placed = placed.scatter(1, last[:, None], True)
        return torch.stack(orders, 1), steps

    def _logits(self, asked: list[Tensor], barred: list[Tensor], keys: Tensor) -> Tensor:
        """Logits (batch, steps, n_variables): of all steps at once, so that their gradient is taken at once too."""
        logits: Tensor = self.decoder.pointer(torch.stack(asked, 1), keys)
        return logits.masked_fill(torch.stack(barred, 1), -torch.inf)


def _of_choices(orders: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of every choice, (batch, n_variables) each."""
    logs = logits.log_softmax(-1)
    chosen = logs.gather(2, orders[:, :, None])[:, :, 0]
    entropies = -(logs.exp() * logs.masked_fill(logits == -torch.inf, 0.0)).sum(-1)
    return chosen, entropies


def make_critic(width_in: int, width: int = networks.WIDTH) -> nn.Module:
    r"""Value :math:`V_{\phi_v}(\hat s)` of states, (..., width_in) to (...): what return is to be expected.

    It has 512, 256 and 1 units (Appendix A.2): twice the network's width, and once. The paper's appendix gives CORL-1 a
    value for every state and CORL-2 one for the initial state, while Section 4.2 implies the reverse.
    :meth:`precede.CORL.paper` follows the appendix; by default a dense reward, which has a return at every step, gets
    :math:`V(\hat s_t)`, and an episodic one :math:`V(\hat s_0)`. The two were not told apart by experiment
    (``docs/results/paper-details.md``).
    """
    return nn.Sequential(*networks.perceptron(width_in, (2 * width, width, 1)), nn.Flatten(-2))


def make_encoder(
    name: networks.EncoderName,
    n_inputs: int,
    normalization: networks.NormalizationName = "layer",
    width: int = networks.WIDTH,
    heads: int = networks.HEADS,
) -> nn.Module:
    """Build an encoder that maps (batch, n_variables, n_inputs) to (batch, n_variables, width).

    "null" takes the data themselves for states; "mlp" passes each variable by itself through 256, 512 and 256 units
    (Appendix A.2), or as many as the width says; "lstm" passes the variables in column order through an LSTM, the only
    one that sees it. Only the transformer normalizes as it is told, and has heads.

    Examples
    --------
    >>> import torch
    >>> make_encoder("mlp", 64)(torch.zeros(2, 5, 64)).shape
    torch.Size([2, 5, 256])
    """
    match name:
        case "null":
            return nn.Identity()
        case "mlp":
            return networks.perceptron(n_inputs, (width, 2 * width, width))
        case "lstm":
            return networks.LSTM(n_inputs, width)
        case "transformer":
            if width % heads:
                raise OptionError(f"heads={heads} cannot be used: they must divide the width, which is {width}.")
            return networks.TransformerEncoder(n_inputs, normalization, width, heads)
        case "moments":  # takes any number of rows
            return MomentsEncoder()


MOST_AT_ONCE = 1024


@dataclass(frozen=True)
class TrainedPolicy:
    """A trained actor with what it reads and the score that it was trained for; can be pickled."""

    actor: Actor
    inputs: Inputs
    before: Tensor | None
    score: OrderScore

    @torch.no_grad()
    def draw(self, n_orders: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray, FloatArray]:
        """Draw orders; give their log-probabilities under the policy and their scores.

        Returns
        -------
        orders : (n_orders, n_variables) int array
        log_probabilities, scores : (n_orders,) float arrays
        """
        d, device = self.score.n_variables, self.score.device
        generator = torch_generator(rng, device)
        parts: list[tuple[Tensor, Tensor, Tensor]] = []
        for start in range(0, n_orders, MOST_AT_ONCE):
            batch = min(MOST_AT_ONCE, n_orders - start)
            states = self.actor.encoder(self.inputs.draw(batch, generator))
            noise = gumbel_noise((batch, d, d), generator)
            orders = self.actor.sample(states, noise, self.before)
            chosen, _ = self.actor.log_probabilities(states, orders, self.before)
            parts.append((orders, chosen.double().sum(1), self.score.totals(orders)))
        drawn, log_probabilities, scores = (torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True))
        return drawn, log_probabilities, scores
