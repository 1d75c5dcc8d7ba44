"""Randomness is passed, never global: one ``random_state`` at the edge, generators inside."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from precede.options import CountOrZero

RandomState = CountOrZero | np.random.Generator | None
"""What an estimator takes as ``random_state``: a seed, a generator of one's own, or None for a fresh one."""


def numpy_rng(random_state: RandomState) -> np.random.Generator:
    """Turn what the user gave into a generator; a generator is used as it is."""
    return np.random.default_rng(random_state)


def torch_generator(rng: np.random.Generator, device: torch.device | str = "cpu") -> torch.Generator:
    """Make a torch generator whose seed is drawn from ``rng``."""
    return torch.Generator(device=device).manual_seed(int(rng.integers(2**62)))


@contextmanager
def seeded_torch(rng: np.random.Generator) -> Iterator[None]:
    """Seed torch's global generator within the block only (``nn.Module`` initialises from it)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**62)))
        yield
