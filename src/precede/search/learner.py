"""One run of Algorithm 1: what it judges orders by, what it looks at, its networks and its random numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map

from precede.arrays import FloatArray
from precede.knowledge import Constraints
from precede.policy.actor import make_critic
from precede.policy.inputs import ResampledInputs
from precede.policy.prediction import Pretrained
from precede.runtime import Deadline, initial_weights, torch_generator
from precede.scores.protocol import OrderScore
from precede.search.settings import Details, PatienceName, TrainingSettings

SMOOTHING = 0.02
"""Weight of an iteration in the smoothed mean: about the last fifty count."""

SHRINKAGE = 0.05
"""The mean has moved when its distance from the best score is so much shorter than at the last move."""


@dataclass
class Patience:
    """Count the iterations since training moved.

    Parameters
    ----------
    limit : int or None
        Iterations without a move after which training ends; None waits forever.
    on : "best" or "mean"
        A move is a better best score; or that, or the smoothed mean of the batches has come closer to the best score.
        A policy goes on learning while its best draw stands still.
    best, last_move, mean, distance : float
        What has been noticed.
    """

    limit: int | None
    on: PatienceName = "best"
    best: float = -math.inf
    last_move: int = 0
    mean: float = -math.inf
    distance: float = math.inf

    def expect(self, best_score: float) -> None:
        """Let only what is better than this count as a move."""
        self.best = max(self.best, best_score)

    def see(self, iteration: int, best_score: float, mean_score: float) -> None:
        """Take notice of a finished iteration."""
        self.mean = mean_score if math.isinf(self.mean) else self.mean + SMOOTHING * (mean_score - self.mean)
        distance = best_score - self.mean
        closer = self.on == "mean" and distance < (1 - SHRINKAGE) * self.distance
        if best_score > self.best or closer:
            self.best, self.last_move, self.distance = best_score, iteration, distance

    def spent(self, iteration: int) -> bool:
        return self.limit is not None and iteration - self.last_move >= self.limit

    def state(self) -> list[float]:
        """What has been noticed, as plain numbers; the limit is no part of it."""
        return [self.best, self.last_move, self.mean, self.distance]

    def restore(self, state: list[float]) -> None:
        """Go back to what :meth:`state` gave."""
        self.best, last_move, self.mean, self.distance = state
        self.last_move = int(last_move)


class Learner:
    """A run before and while it is trained by :class:`precede.search.train.Trainer`.

    Parameters
    ----------
    score : OrderScore
    values : (n_samples, n_variables) array
        What the encoder draws its rows from.
    settings : TrainingSettings
    constraints : Constraints
        Orders that break them are never sampled.
    rng : numpy Generator
        Seeds everything.
    pretrained : Pretrained, optional
        A policy to start from; its architecture takes the place of the settings'.
    within : Deadline, optional
        Until when that policy must have looked at the data.

    Raises
    ------
    OutOfTime
        It has not.
    """

    def __init__(
        self,
        score: OrderScore,
        values: FloatArray,
        settings: TrainingSettings,
        constraints: Constraints,
        rng: np.random.Generator,
        pretrained: Pretrained | None = None,
        within: Deadline | None = None,
    ) -> None:
        self.score, self.settings, self.device = score, settings, score.device
        self.iteration = 0
        self.patience = Patience(settings.patience, settings.details.patience_on)
        self.generator = torch_generator(rng, self.device)
        # a pretrained policy sees what it was trained on, and its network takes the place of the settings'
        architecture = settings.architecture if pretrained is None else pretrained.architecture
        scales = score.assumes.equal_variances
        self.inputs = architecture.inputs(values, rng, self.device, scales=scales)
        if pretrained is not None and scales:
            pretrained = replace(pretrained, states=None)  # those of a look without them
        self._first_weights = initial_weights(rng)
        with self._first_weights:
            actor = architecture.build() if pretrained is None else pretrained.started_on(self.inputs, within)
        self.actor = actor.to(self.device)
        self.before: torch.Tensor | None = None
        if constraints.before.any():
            self.before = torch.tensor(constraints.before, dtype=torch.float32, device=self.device)
        start = constraints.nearest_order(rng.permutation(score.n_variables))
        self.order = torch.tensor(start, device=self.device)
        self.order_score = -np.inf
        if pretrained is not None:  # the order that it finds most likely is the one to beat
            self.order = self.actor.most_likely_order(self.inputs.draw(1), self.before)
            with score.within(within):
                self.order_score = float(score.totals(self.order[None])[0])

    @cached_property
    def critic(self) -> nn.Module:
        """Made for the training: an order that a policy finds likely needs none."""
        with self._first_weights:
            return make_critic(self.actor.width, self.settings.details.width).to(self.device)

    @property
    def finished(self) -> bool:
        """Whether the iterations or the patience are spent."""
        return self.iteration >= self.settings.n_iterations or self.patience.spent(self.iteration)

    @property
    def generators(self) -> dict[str, torch.Generator]:
        """What orders and rows are drawn by."""
        rows = {"rows": self.inputs.generator} if isinstance(self.inputs, ResampledInputs) else {}
        return {"orders": self.generator, **rows}


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
