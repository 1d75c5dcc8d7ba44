"""Randomness is passed, never global: one ``random_state`` at the edge, generators inside."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from precede.options import CountOrZero

RandomState = CountOrZero | np.random.Generator | None
"""What an estimator takes as ``random_state``: a seed, a generator of your own, or None for a fresh one."""

DRAWS = frozenset(
    f"{start}{name}"
    for name in ("uniform_", "normal_", "trunc_normal_", "orthogonal_")
    for start in ("", "kaiming_", "xavier_")
)
"""The functions of torch that the first weights of networks are drawn with."""


def numpy_rng(random_state: RandomState) -> np.random.Generator:
    """Turn what the user gave into a generator; a generator is used as it is."""
    return np.random.default_rng(random_state)


def torch_generator(rng: np.random.Generator, device: torch.device | str = "cpu") -> torch.Generator:
    """Make a torch generator whose seed is drawn from ``rng``."""
    return torch.Generator(device=device).manual_seed(int(rng.integers(2**62)))


def gumbel_noise(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Gumbel noise on the generator's device: the largest of logits with it added is a draw from their softmax."""
    return -torch.empty(shape, device=generator.device).exponential_(generator=generator).log_()


class initial_weights(TorchFunctionMode):
    """Within the block, networks draw their first weights from a generator of their own.

    ``nn.Module`` knows only torch's global generator. To seed that would disturb the caller and every other thread;
    this mode belongs to the thread that entered it.

    Examples
    --------
    >>> before = torch.get_rng_state()
    >>> with initial_weights(np.random.default_rng(0)):
    ...     layer = torch.nn.Linear(2, 1)
    >>> bool((torch.get_rng_state() == before).all())
    True
    """

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self.generator = torch_generator(rng)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if getattr(func, "__name__", "") in DRAWS:
            given["generator"] = self.generator
        return func(*args, **given)
