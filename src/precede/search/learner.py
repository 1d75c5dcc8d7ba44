"""The networks that Algorithm 1 trains, and how each of them takes a step."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray
from precede.policy.actor import Actor
from precede.policy.critic import Critic
from precede.policy.inputs import FixedInputs, ResampledInputs
from precede.policy.pretrained import Inputs, Pretrained
from precede.runtime.deadline import Deadline
from precede.runtime.randomness import initial_weights, torch_generator
from precede.search.adam import Adam
from precede.search.settings import TrainingSettings


class Learner:
    """A network with its Adam."""

    def __init__(self, network: torch.nn.Module, learning_rate: float) -> None:
        self.network, self.learning_rate = network, learning_rate

    @cached_property
    def optimizer(self) -> Adam:
        """Made when first needed: a zero-shot order needs none."""
        return Adam(self.network.parameters(), self.learning_rate)

    def descend(self, loss: Tensor, largest_gradient: float | None = None) -> Tensor:
        """One step down the gradient of the loss, its norm clipped where a largest one is given; gives the norm."""
        self.network.zero_grad(set_to_none=True)
        loss.backward()
        limit = math.inf if largest_gradient is None else largest_gradient
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit)
        self.optimizer.step()
        return norm


def make_inputs(
    values: FloatArray,
    settings: TrainingSettings,
    rng: np.random.Generator,
    device: torch.device,
    pretrained: Pretrained | None,
    scales: bool = False,
) -> Inputs:
    """What the encoder sees of the data; a pretrained policy sees what it was trained on, and ``scales`` if asked."""
    if pretrained is not None:
        return pretrained.architecture.inputs(values, rng, device, scales=scales)
    if settings.inputs == "fixed":
        return FixedInputs(values, settings.n_samples, rng, device)
    generator = torch_generator(rng, device)
    return ResampledInputs(values, settings.n_samples, generator, device, settings.details.row_scale)


def make_networks(
    inputs: Inputs,
    settings: TrainingSettings,
    rng: np.random.Generator,
    device: torch.device,
    pretrained: Pretrained | None,
    within: Deadline | None = None,
) -> tuple[Actor, Critic]:
    """Actor and critic, with random weights or with those of a pretrained policy, which must look within a time."""
    with initial_weights(rng):
        if pretrained is None:
            architecture = settings.encoder, settings.decoder, settings.pointer, settings.normalization
            actor = Actor(inputs.n_inputs, *architecture)
        else:
            actor = pretrained.started_on(inputs.draw(1), within)
        critic = Critic(actor.encoder.width)
    return actor.to(device), critic.to(device)
