"""Sampling as one CUDA graph: d steps of small kernels cost one launch instead of thousands."""

from __future__ import annotations

import torch
from torch import Tensor

from precede.policy.actor import Actor

WARM_UP = 3  # runs before the capture, so that libraries allocate what they need


class GraphedSampler:
    """``actor.sample`` for fixed shapes on a GPU, recorded once and replayed.

    The graph reads the actor's parameters where they lie, so it follows every update that an optimiser makes in place.

    Parameters
    ----------
    actor : Actor
        On a CUDA device.
    states, noise : Tensor
        Examples that fix the shapes.
    before : Tensor or None
        As in :meth:`Actor.sample`.
    """

    def __init__(self, actor: Actor, states: Tensor, noise: Tensor, before: Tensor | None) -> None:
        self._states, self._noise = states.clone(), noise.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                actor.sample(self._states, self._noise, before)
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._orders = actor.sample(self._states, self._noise, before)

    def __call__(self, states: Tensor, noise: Tensor) -> Tensor:
        """Orders for new states and noise of the recorded shapes."""
        self._states.copy_(states)
        self._noise.copy_(noise)
        self._graph.replay()
        return self._orders.clone()
