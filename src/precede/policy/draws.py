"""Orders drawn from a trained policy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.policy.actor import Actor
from precede.policy.inputs import FixedInputs, ResampledInputs
from precede.policy.views import Views
from precede.runtime.randomness import gumbel_noise, torch_generator
from precede.scores.protocol import OrderScore

MOST_AT_ONCE = 1024


@dataclass(frozen=True)
class TrainedPolicy:
    """A trained actor with what it reads and the score that it was trained for; can be pickled."""

    actor: Actor
    inputs: FixedInputs | ResampledInputs | Views
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
