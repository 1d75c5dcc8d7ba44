"""The two parts of an iteration that lie on a GPU, recorded as CUDA graphs: collect orders, and update the networks.

An iteration's thousands of small kernels then cost two launches.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

WARM_UP = 3
"""Iterations that run as they are before the recording, so that libraries and optimizers allocate what they need."""

Kept = TypeVar("Kept")
Collect = Callable[[Tensor, Tensor], tuple[Kept, Tensor]]
Update = Callable[[Kept, Tensor, Tensor], Tensor]


class RecordedIteration(Generic[Kept]):
    """``collect(inputs, noise) -> kept, orders`` and ``update(kept, orders, returns) -> numbers`` for fixed shapes.

    Between the two the orders are scored. The graphs read and write parameters and optimizer states where they lie:
    whoever replaces those needs a new one. The first graph leaves its activations for the backward pass of the second,
    so both share one pool of memory.
    """

    def __init__(self, collect: Collect[Kept], update: Update[Kept]) -> None:
        self._collect, self._update = collect, update
        self._stream = torch.cuda.Stream()  # autograd works on the stream of the forward pass: one for everything
        self._kept: Any = None
        self._runs = 0
        self._collecting, self._updating = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()

    def collect(self, inputs: Tensor, noise: Tensor) -> tuple[Kept, Tensor]:
        """As it is at first, then recorded, then replayed."""
        if self._runs < WARM_UP:
            with self._aside():
                return self._collect(inputs, noise)
        if self._runs == WARM_UP:
            self._inputs, self._noise = inputs.clone(), noise.clone()
            with self._recording(self._collecting):
                self._kept, self._orders = self._collect(self._inputs, self._noise)
        else:
            self._inputs.copy_(inputs)
            self._noise.copy_(noise)
        self._collecting.replay()
        return self._kept, self._orders.clone()

    def update(self, kept: Kept, orders: Tensor, returns: Tensor) -> Tensor:
        """Learn from the returns of the orders just collected: those of the graph, once there is one."""
        self._runs += 1
        if self._runs <= WARM_UP:
            with self._aside():
                return self._update(kept, orders, returns)
        if self._runs == WARM_UP + 1:
            self._returns = returns.clone()
            with self._recording(self._updating, self._collecting.pool()):
                self._number = self._update(self._kept, self._orders, self._returns)
            self._kept = None  # its history is spent
        else:
            self._returns.copy_(returns)
        self._updating.replay()
        return self._number.clone()

    @contextmanager
    def _recording(self, graph: torch.cuda.CUDAGraph, pool: Any = None) -> Iterator[None]:
        """Record into the graph; a thread that allocates memory of the GPU meanwhile does not end the recording."""
        gc.collect()  # a graph of an earlier fit that is destroyed now would end the recording
        with torch.cuda.graph(graph, pool, self._stream, capture_error_mode="thread_local"):
            yield

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Run on this iteration's own stream, before and after the current one."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            yield
        torch.cuda.current_stream().wait_stream(self._stream)
