"""Networks of one architecture, one for each run, that are called and trained as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map

from precede.search.settings import Details

DETAILS = Details()
MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What Adam keeps of each parameter."""


class Networks:
    """Networks side by side with one Adam; no run learns from another.

    Parameters
    ----------
    networks : sequence of nn.Module
        One for each run. A single one is trained itself; of several, the parameters are copied and lie in one tensor
        for each name, the first axis being the run, so that a step of all takes hardly longer on a GPU than one's.
    learning_rate : float
    details : Details
        Of Adam, and of how gradients are clipped.
    """

    def __init__(self, networks: Sequence[nn.Module], learning_rate: float, details: Details = DETAILS) -> None:
        self.network, self.n_runs = networks[0], len(networks)
        self.learning_rate, self.details = learning_rate, details
        self.parameters: dict[str, Tensor] = dict(self.network.named_parameters())
        if self.n_runs > 1:
            states = [dict(network.named_parameters()) for network in networks]
            self.parameters = {
                name: torch.stack([state[name].detach() for state in states]).requires_grad_() for name in states[0]
            }

    @cached_property
    def optimizer(self) -> torch.optim.Adam:
        """Made when first needed: a zero-shot order needs none."""
        parameters = list(self.parameters.values())
        recorded = parameters[0].is_cuda  # in a CUDA graph
        betas, epsilon = (0.9, self.details.adam_beta2), self.details.adam_epsilon
        return torch.optim.Adam(parameters, self.learning_rate, betas, epsilon, fused=True, capturable=recorded)

    def __call__(self, *inputs: Tensor | None) -> Any:
        """Each run's inputs through its own network; the first axis of what goes in and comes out is the run."""
        if self.n_runs == 1:
            own = (None if part is None else part[0] for part in inputs)
            return tree_map(lambda part: part[None], self.network(*own))
        axes = tuple(None if part is None else 0 for part in inputs)
        with sdpa_kernel(SDPBackend.MATH):  # the one kind of attention that vmap has on every device
            return vmap(self._of_run, in_dims=(0, *axes))(self.parameters, *inputs)

    def _of_run(self, parameters: dict[str, Tensor], *inputs: Tensor | None) -> Any:
        return functional_call(self.network, parameters, inputs)

    def descend(self, losses: Tensor, largest_gradient: float | None = None) -> Tensor:
        """One step down the gradients of the runs' losses, each clipped to a largest norm; gives the norms before."""
        self.optimizer.zero_grad(set_to_none=True)
        losses.sum().backward()
        gradients = [parameter.grad for parameter in self.parameters.values() if parameter.grad is not None]
        by_run = [gradient.view(self.n_runs, -1) for gradient in gradients]
        each = torch.stack([torch.linalg.vector_norm(gradient, dim=1) for gradient in by_run])
        norms: Tensor = torch.linalg.vector_norm(each, dim=0)
        if largest_gradient is not None:
            clipped = each if self.details.clip_each_tensor else norms.expand_as(each)
            shrink = (largest_gradient / (clipped + 1e-6)).clamp(max=1.0)
            for gradient, own in zip(by_run, shrink, strict=True):
                gradient.mul_(own[:, None])
        self.optimizer.step()
        return norms

    def state(self) -> dict[str, Tensor]:
        """What a later run needs to go on: weights by name, and Adam's moments by number of the parameter."""
        moments = {
            f"adam.{k}.{name}": tensor
            for k, parts in self.optimizer.state_dict()["state"].items()
            for name, tensor in parts.items()
        }
        return {**self.parameters, **moments}

    @torch.no_grad()
    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go back to what :meth:`state` gave; KeyError or RuntimeError where it is of another network."""
        moments: dict[int, dict[str, Tensor]] = {}
        for k, (name, parameter) in enumerate(self.parameters.items()):
            if state[name].shape != parameter.shape:
                raise RuntimeError(f"{name} has shape {tuple(state[name].shape)}, not {tuple(parameter.shape)}")
            parameter.copy_(state[name])
            prefix = f"adam.{k}."
            parts = {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
            if any(value.ndim and value.shape != parameter.shape for value in parts.values()):
                raise RuntimeError(f"the moments of {name} have another shape")
            if parts:
                moments[k] = {key: parts[key] for key in MOMENTS}
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
