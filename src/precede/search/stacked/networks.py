"""The networks of ``CORL.paper`` for many runs: transformer with batch normalization, LSTM decoder, additive pointer.

Parameters have the names that they have in :class:`precede.policy.actor.Actor` and
:class:`precede.policy.critic.Critic`, and one axis more, the first: the run.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from precede.policy.actor import Actor, admissible
from precede.policy.critic import Critic
from precede.policy.decoders import AdditivePointer, LSTMDecoder, select_states, visited_states, with_initial_state
from precede.policy.encoders import BLOCKS, HEADS, WIDTH, BatchNorm, TransformerEncoder
from precede.policy.recurrence import Recurrence, lstm_cell
from precede.search.stacked.operations import NormalizedBatch, PointerLogits, linear


class Stack:
    """The parameters of networks of one architecture, each as one tensor over all runs."""

    def __init__(self, networks: Sequence[nn.Module]) -> None:
        states = [dict(network.named_parameters()) for network in networks]
        self.n_runs = len(states)
        self.parameters = {
            name: torch.stack([state[name].detach() for state in states]).requires_grad_() for name in states[0]
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.parameters[name]

    def layer(self, name: str, inputs: Tensor) -> Tensor:
        """A fully connected layer by its name."""
        return linear(inputs, self[f"{name}.weight"], self[f"{name}.bias"])

    def norm(self, name: str, inputs: Tensor) -> Tensor:
        """A batch normalization by its name."""
        result: Tensor = NormalizedBatch.apply(inputs, self[f"{name}.weight"], self[f"{name}.bias"])  # type: ignore[no-untyped-call]
        return result


class StackedActor(Stack):
    """Policies over orders of as many data sets of one size.

    Parameters
    ----------
    actors : sequence of Actor
        With a transformer that normalizes by batch, an LSTM decoder and an additive pointer; they are copied.
    """

    def __init__(self, actors: Sequence[Actor]) -> None:
        first = actors[0]
        if not (
            isinstance(first.encoder, TransformerEncoder)
            and isinstance(first.encoder.norm_embedding, BatchNorm)
            and isinstance(first.decoder, LSTMDecoder)
            and isinstance(first.decoder.pointer, AdditivePointer)
        ):
            raise TypeError("only the networks of CORL.paper can be stacked")
        super().__init__(actors)

    def encode(self, inputs: Tensor) -> Tensor:
        """States (runs, batch, n_variables, 256) of inputs (runs, batch, n_variables, n_inputs)."""
        runs, batch, d, _ = inputs.shape
        states = self.norm("encoder.norm_embedding", self.layer("encoder.embed", inputs))
        for k in range(BLOCKS):
            name = f"encoder.blocks.{k}"
            split = self.layer(f"{name}.project", states).view(runs * batch, d, 3, HEADS, WIDTH // HEADS)
            query, key, value = split.permute(2, 0, 3, 1, 4)
            attended = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(states.shape)
            states = self.norm(f"{name}.norm_attention", states + self.layer(f"{name}.merge", attended))
            hidden = self.layer(f"{name}.forward_layers.0", states).relu_()
            states = self.norm(f"{name}.norm_forward", states + self.layer(f"{name}.forward_layers.2", hidden))
        return states

    @torch.no_grad()
    def sample(self, states: Tensor, noise: Tensor) -> Tensor:
        """Orders (runs, batch, n_variables) by Gumbel-max, as :meth:`precede.policy.actor.Actor.sample`."""
        runs, batch, d, _ = states.shape
        gates = self._gates(states).flatten(0, 1)
        hidden, cell = self._start(states)
        key = self._keys(states)
        recurrent = self["decoder.lstm.weight_hh_l0"].transpose(1, 2)
        vector = self["decoder.pointer.vector.weight"][:, 0]
        orders = torch.full((runs * batch, d), d, device=states.device)
        placed = torch.zeros((runs * batch, d), dtype=torch.uint8, device=states.device)
        last = orders[:, 0].clone()
        for t in range(d):
            entering = select_states(gates, last[:, None]).view(runs, batch, -1)
            hidden, cell, _ = lstm_cell(torch.baddbmm(entering, hidden, recurrent), cell)
            query = self.layer("decoder.pointer.query", hidden).flatten(0, 1)
            self._choose(query, key, vector, noise, placed, orders, t)
            last = orders[:, t]
        return orders.view(runs, batch, d)

    @staticmethod
    def _choose(
        query: Tensor, key: Tensor, vector: Tensor, noise: Tensor, placed: Tensor, orders: Tensor, t: int
    ) -> None:
        """Write step t of the orders, and mark its variables as placed."""
        if query.is_cuda:
            from precede.search.stacked.kernels import choose_next

            return choose_next(query, key, vector, noise, placed, orders, t)
        logits = PointerLogits.apply(query[:, :, None], key, vector)[:, 0] + noise[:, t]  # type: ignore[no-untyped-call]
        orders[:, t] = logits.masked_fill(placed.bool(), -torch.inf).argmax(1)
        placed.scatter_(1, orders[:, t : t + 1], 1)
        return None

    def log_probabilities(self, states: Tensor, orders: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of every choice of given orders, and its entropy, (runs, batch, n_variables) each."""
        runs, batch, d, _ = states.shape
        flat = orders.flatten(0, 1)
        entering = select_states(self._gates(states).flatten(0, 1), visited_states(flat))
        steps = entering.view(runs, batch, d, -1).permute(2, 0, 1, 3).contiguous()
        outputs = Recurrence.apply(steps, self["decoder.lstm.weight_hh_l0"], *self._start(states))  # type: ignore[no-untyped-call]
        query = self.layer("decoder.pointer.query", outputs.permute(1, 2, 0, 3).reshape(runs, batch, d, -1))
        query = query.flatten(0, 1).transpose(1, 2).contiguous()
        vector = self["decoder.pointer.vector.weight"][:, 0]
        logits: Tensor = PointerLogits.apply(query, self._keys(states), vector)  # type: ignore[no-untyped-call]
        allowed = admissible(flat)
        logits = logits.masked_fill(~allowed, -torch.inf).log_softmax(-1)
        chosen = logits.gather(2, flat[:, :, None])[:, :, 0]
        entropies = -(logits.detach().exp() * logits.detach().masked_fill(~allowed, 0.0)).sum(-1)
        return chosen.view(runs, batch, d), entropies.view(runs, batch, d)

    def _gates(self, states: Tensor) -> Tensor:
        """What each state, and the initial one as the last, sends to the gates: (runs, batch, d + 1, 1024)."""
        runs, batch = states.shape[:2]
        inputs = with_initial_state(states.flatten(0, 1)).view(runs, batch, -1, states.shape[-1])
        bias = self["decoder.lstm.bias_ih_l0"] + self["decoder.lstm.bias_hh_l0"]
        return linear(inputs, self["decoder.lstm.weight_ih_l0"], bias)

    def _start(self, states: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell = torch.tanh(self.layer("decoder.initial", states.mean(2))).chunk(2, dim=-1)
        return hidden.contiguous(), cell.contiguous()

    def _keys(self, states: Tensor) -> Tensor:
        return self.layer("decoder.pointer.key", states).flatten(0, 1).transpose(1, 2).contiguous()


class StackedCritic(Stack):
    """What the critics of all runs expect of states."""

    def __init__(self, critics: Sequence[Critic]) -> None:
        super().__init__(critics)

    def __call__(self, states: Tensor) -> Tensor:
        """(runs, ..., 256) to (runs, ...)."""
        hidden = self.layer("layers.0", states).relu_()
        hidden = self.layer("layers.2", hidden).relu_()
        return self.layer("layers.4", hidden)[..., 0]
