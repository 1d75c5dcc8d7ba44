"""The two parts of an iteration that lie on the device: collect orders, and update the networks.

On a CPU they are function calls. On a GPU they are recorded as CUDA graphs: an iteration's thousands of small kernels
cost two launches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import torch
from torch import Tensor

from precede.runtime.device import training_on

WARM_UP = 3
"""Iterations that run as they are before the recording, so that libraries and optimizers allocate what they need."""

Kept = TypeVar("Kept")
Collect = Callable[[Tensor, Tensor], tuple[Kept, Tensor]]
Update = Callable[[Kept, Tensor, Tensor], Tensor]


def new_iteration(device: torch.device, collect: Collect[Kept], update: Update[Kept]) -> EagerIteration[Kept]:
    """The two parts of an iteration as the device likes them."""
    if device.type != "cuda":
        return EagerIteration(collect, update)
    with training_on(device):
        return GraphedIteration(collect, update)


class EagerIteration(Generic[Kept]):
    """Call ``collect(inputs, noise) -> kept, orders``, later ``update(kept, orders, returns)`` with what was kept.

    That is the states, and whatever else the first part knows. Between the two the orders are scored. Gradients flow
    from the update back through the states.
    """

    def __init__(self, collect: Collect[Kept], update: Update[Kept]) -> None:
        self._collect, self._update = collect, update
        self._kept: Kept | None = None
        self._orders: Tensor | None = None

    def collect(self, inputs: Tensor, noise: Tensor) -> Tensor:
        """Orders of the batch."""
        self._kept, self._orders = self._collect(inputs, noise)
        return self._orders

    def update(self, returns: Tensor) -> Tensor:
        """Learn from the returns of the orders just collected; gives what the update gives."""
        assert self._kept is not None and self._orders is not None  # noqa: PT018
        return self._update(self._kept, self._orders, returns)


class GraphedIteration(EagerIteration[Kept]):
    """The same for fixed shapes on a GPU, recorded once and replayed.

    The graphs read and write parameters and optimizer states where they lie: whoever replaces those needs a new one.
    The first graph leaves its activations for the backward pass of the second, so both share one pool of memory.
    """

    def __init__(self, collect: Collect[Kept], update: Update[Kept]) -> None:
        super().__init__(collect, update)
        self._stream = torch.cuda.Stream()  # autograd works on the stream of the forward pass: one for everything
        self._runs = 0
        self._collecting, self._updating = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()

    def collect(self, inputs: Tensor, noise: Tensor) -> Tensor:
        if self._runs < WARM_UP:
            with self._aside():
                return super().collect(inputs, noise)
        if self._runs == WARM_UP:
            self._inputs, self._noise = inputs.clone(), noise.clone()
            with torch.cuda.graph(self._collecting, stream=self._stream):
                super().collect(self._inputs, self._noise)
        else:
            self._inputs.copy_(inputs)
            self._noise.copy_(noise)
        self._collecting.replay()
        assert self._orders is not None
        return self._orders.clone()

    def update(self, returns: Tensor) -> Tensor:
        self._runs += 1
        if self._runs <= WARM_UP:
            with self._aside():
                return super().update(returns)
        if self._runs == WARM_UP + 1:
            self._returns = returns.clone()
            with torch.cuda.graph(self._updating, pool=self._collecting.pool(), stream=self._stream):
                self._number = super().update(self._returns)
            self._kept = None  # its history is spent
        else:
            self._returns.copy_(returns)
        self._updating.replay()
        return self._number.clone()

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Run on this iteration's own stream, before and after the current one."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            yield
        torch.cuda.current_stream().wait_stream(self._stream)
