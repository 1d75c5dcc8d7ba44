"""The actor: encoder and decoder together, a distribution over causal orders."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from precede.policy.decoders import DecoderName, PointerName, make_decoder
from precede.policy.encoders import EncoderName, NormalizationName, make_encoder
from precede.policy.recurrence import Trace
from precede.policy.sampling import draw_orders


class Actor(nn.Module):
    r"""Policy :math:`\pi_\phi(\Pi) = \prod_t \pi_\phi(a_t \mid \hat s_t)` over orders (Figure 2 of the paper).

    Parameters
    ----------
    n_inputs : int
        Length of each variable's input.
    encoder, decoder, pointer, normalization : str
        The architecture.
    """

    def __init__(
        self,
        n_inputs: int,
        encoder: EncoderName = "transformer",
        decoder: DecoderName = "lstm",
        pointer: PointerName = "dot",
        normalization: NormalizationName = "layer",
    ) -> None:
        super().__init__()
        self.encoder = make_encoder(encoder, n_inputs, normalization)
        self.decoder = make_decoder(decoder, self.encoder.width, pointer)

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
        return draw_orders(self.decoder, states, noise, before)[0]

    def sample_traced(self, states: Tensor, noise: Tensor, before: Tensor | None = None) -> tuple[Tensor, Trace | None]:
        """The same, and what spares :meth:`log_probabilities` the way back over the orders where there is such."""
        return draw_orders(self.decoder, states, noise, before, traced=True)

    @torch.no_grad()
    def most_likely_order(self, inputs: Tensor, before: Tensor | None = None) -> Tensor:
        """Greedy decode of one data set: the likeliest variable at every step.

        It is given as (1, n_variables, n_inputs), or as several looks, whose states are averaged.
        """
        d = inputs.shape[1]
        states = self.encoder(inputs).mean(0, keepdim=True)
        return self.sample(states, torch.zeros((1, d, d), device=inputs.device), before)[0]

    def log_probabilities(
        self, states: Tensor, orders: Tensor, before: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, Tensor]:
        """Log-probability of every choice of given orders, and the entropy of every choice, in one parallel pass.

        A trace comes from :meth:`sample_traced`, with these states and weights.

        Returns
        -------
        log_probabilities, entropies : (batch, n_variables) tensors
        """
        logits = self.decoder.logits(states, orders, trace)
        allowed = admissible(orders, before)
        logits = logits.masked_fill(~allowed, -torch.inf).log_softmax(-1)
        chosen = logits.gather(2, orders[:, :, None])[:, :, 0]
        entropies = -(logits.exp() * logits.masked_fill(~allowed, 0.0)).sum(-1)
        return chosen, entropies


def admissible(orders: Tensor, before: Tensor | None = None) -> Tensor:
    """Which variables may be chosen at each step of given orders, (batch, steps, n_variables) bool."""
    d = orders.shape[1]
    position = orders.argsort(1)
    steps = torch.arange(d, device=orders.device)
    waiting = position[:, None, :] >= steps[:, None]
    if before is None:
        return waiting
    return waiting & (waiting.to(before.dtype) @ before == 0)
