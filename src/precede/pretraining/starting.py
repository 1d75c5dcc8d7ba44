"""Start a policy from the weights of an earlier edition."""

from __future__ import annotations

from safetensors.torch import load_file
from torch import Tensor, nn

from precede.errors import OptionError


def copy_what_fits(path: str, actor: nn.Module) -> None:
    """Take over weights by name; a layer that has got more inputs starts with zeros for the new ones.

    So a network that sees further features starts as the function that it was without them.

    Raises
    ------
    OptionError
        No weight fits.
    """
    old, new = load_file(path), actor.state_dict()
    fitting = {name: widened(old[name], tensor) for name, tensor in new.items() if fits(old.get(name), tensor)}
    if not fitting:
        raise OptionError(f"start={path!r} has no weight that fits this network.")
    actor.load_state_dict(new | fitting)


def fits(old: Tensor | None, new: Tensor) -> bool:
    """Whether the shapes agree but for the number of inputs, the last axis of a layer's weight."""
    if old is None or old.ndim != new.ndim:
        return False
    return old.shape == new.shape or (old.ndim == 2 and len(old) == len(new) and old.shape[1] < new.shape[1])


def widened(old: Tensor, new: Tensor) -> Tensor:
    """The old weight, and zeros for inputs that it did not have."""
    result = new.new_zeros(new.shape)
    result[..., : old.shape[-1]] = old
    return result
