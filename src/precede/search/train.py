"""Algorithm 1 of the paper: actor-critic search over causal orders.

The loop prints nothing, plots nothing and writes no file: it yields records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.deadline import Deadline
from precede.device import training_on
from precede.knowledge import Constraints
from precede.policy.actor import Actor
from precede.policy.critic import Critic
from precede.policy.decoders import DecoderName, PointerName, select_states, visited_states, with_initial_state
from precede.policy.encoders import EncoderName, NormalizationName
from precede.policy.inputs import FixedInputs, InputsName, ResampledInputs
from precede.policy.pretrained import Pretrained
from precede.randomness import seeded_torch, torch_generator
from precede.scores.protocol import OrderScore
from precede.search.cuda_graphs import GraphedIteration, Iteration
from precede.search.rewards import (
    RewardName,
    ShapingName,
    bound_rewards,
    episodic_rewards,
    plain_rewards,
    returns_to_go,
)

READ_EVERY = 10
"""Figures stay on the device and are read in groups of this many iterations: a GPU never waits for the CPU."""

LARGEST_GRADIENT = 1.0
"""Norm at which gradients are clipped."""


@dataclass(frozen=True)
class TrainingSettings:
    """How the policy is trained; the defaults of the public options live in :class:`precede.CORL`."""

    reward: RewardName
    shaping: ShapingName
    encoder: EncoderName
    decoder: DecoderName
    pointer: PointerName
    normalization: NormalizationName
    inputs: InputsName
    n_iterations: int
    batch_size: int
    n_samples: int
    gamma: float
    entropy_bonus: float
    actor_learning_rate: float
    critic_learning_rate: float
    patience: int | None
    max_time: float | None


@dataclass(frozen=True)
class Record:
    """One iteration: scores of the batch, best score so far, and how sure the policy is."""

    iteration: int
    seconds: float
    mean_score: float
    batch_best: float
    best_score: float
    entropy: float

    FIGURES = 4  # those computed on the device


class Trainer:
    """State of Algorithm 1: networks, optimisers, and BestScore and BestOrdering.

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
    """

    def __init__(
        self,
        score: OrderScore,
        values: FloatArray,
        settings: TrainingSettings,
        constraints: Constraints,
        rng: np.random.Generator,
        pretrained: Pretrained | None = None,
    ) -> None:
        self.score, self.settings = score, settings
        self.device = score.device
        self.iteration = 0
        self.seconds = 0.0
        self._known_best, self._last_move = -np.inf, 0
        self.generator = torch_generator(rng, self.device)
        if pretrained is not None:
            self.inputs: FixedInputs | ResampledInputs = pretrained.architecture.inputs(values, rng, self.device)
        elif settings.inputs == "fixed":
            self.inputs = FixedInputs(values, settings.n_samples, rng, self.device)
        else:
            rows = torch_generator(rng, self.device)
            self.inputs = ResampledInputs(values, settings.n_samples, rows, self.device)
        with seeded_torch(rng):
            if pretrained is None:
                architecture = settings.encoder, settings.decoder, settings.pointer, settings.normalization
                self.actor = Actor(self.inputs.n_inputs, *architecture)
            else:
                self.actor = pretrained.started_on(self.inputs.draw(1))
            self.critic = Critic(self.actor.encoder.width)
        self.actor.to(self.device)
        self.critic.to(self.device)
        self.before: Tensor | None = None
        if constraints.before.any():
            self.before = torch.tensor(constraints.before, dtype=torch.float32, device=self.device)
        self.bounds = score.bounds() if settings.shaping == "bound" and settings.reward == "dense" else None
        d = score.n_variables
        start = constraints.nearest_order(rng.permutation(d))  # Algorithm 1 starts from a random ordering
        self._best_order = torch.tensor(start, device=self.device)
        self._best_score = torch.full((), -torch.inf, dtype=torch.float64, device=self.device)
        if pretrained is not None:  # the order that it finds most likely is the one to beat
            self._best_order = self.actor.most_likely_order(self.inputs.draw(1), self.before)
            self._best_score = score.total(score.terms(self._best_order[None]).sum(1))[0]
        self._iteration = self._new_iteration()

    # made when first needed: torch's first optimiser of a process costs over a second, which a zero-shot order does
    # not have to spend

    @cached_property
    def actor_optimizer(self) -> torch.optim.Adam:
        """Of the actor."""
        return self._adam(self.actor, self.settings.actor_learning_rate)

    @cached_property
    def critic_optimizer(self) -> torch.optim.Adam:
        """Of the critic."""
        return self._adam(self.critic, self.settings.critic_learning_rate)

    def _adam(self, network: torch.nn.Module, rate: float) -> torch.optim.Adam:
        return torch.optim.Adam(network.parameters(), rate, fused=True, capturable=self.device.type == "cuda")

    def run(self) -> Iterator[Record]:
        """Train until the iterations, the patience or the time is spent; yield a record per iteration, one at least.

        Everything that :meth:`state` holds is settled whenever ``record.iteration == trainer.iteration``.
        """
        settings, deadline, earlier = self.settings, Deadline(self.settings.max_time), self.seconds
        while not self.finished and (self.iteration == 0 or not deadline.passed()):
            figures = [self._advance()]
            # groups end at multiples, so that a resumed run stops where an uninterrupted one would
            while self.iteration % READ_EVERY and self.iteration < settings.n_iterations and not deadline.passed():
                figures.append(self._advance())
            first = self.iteration - len(figures) + 1
            self.seconds = earlier + deadline.elapsed()
            for k, row in enumerate(torch.stack(figures).tolist()):
                record = Record(first + k, self.seconds, *row)
                if record.best_score > self._known_best:
                    self._known_best, self._last_move = record.best_score, record.iteration
                yield record

    @property
    def finished(self) -> bool:
        """Whether the iterations or the patience are spent."""
        settings = self.settings
        waited = self.iteration - self._last_move
        return self.iteration >= settings.n_iterations or (
            settings.patience is not None and waited >= settings.patience
        )

    def _advance(self) -> Tensor:
        with training_on(self.device):
            figures = self.step()
        self.iteration += 1
        return figures

    def step(self) -> Tensor:
        """One pass through the body of Algorithm 1's loop; returns the device-side figures of a record."""
        batch, d = self.settings.batch_size, self.score.n_variables
        # lines 2-8: encode a batch of samples, collect a batch of orders and their rewards
        noise = -torch.empty((batch, d, d), device=self.device).exponential_(generator=self.generator).log_()
        orders = self._iteration.collect(self.inputs.draw(batch), noise)
        terms = self.score.terms(orders)
        totals = self.score.total(terms.sum(1))
        # line 9: update the actor and the critic
        entropy = self._iteration.update(self._returns(orders, terms))
        # lines 10-12: keep the best ordering
        batch_best, k = totals.max(0)
        better = batch_best > self._best_score
        self._best_order = torch.where(better, orders[k], self._best_order)
        self._best_score = torch.maximum(batch_best, self._best_score)
        return torch.stack([totals.mean(), batch_best, self._best_score, entropy.double()])

    def _new_iteration(self) -> Iteration:
        if self.device.type != "cuda":
            return Iteration(self._collect, self._update)
        with training_on(self.device):
            return GraphedIteration(self._collect, self._update)

    def _collect(self, inputs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Encode, and draw an order for each row of the noise."""
        states = self.actor.encoder(inputs)
        return states, self.actor.sample(states.detach(), noise, self.before)

    def _update(self, states: Tensor, orders: Tensor, returns: Tensor) -> Tensor:
        """Policy gradient with the critic as baseline (Section 4.2); gives the mean entropy of a choice."""
        advantages = self._update_critic(states.detach(), orders, returns)
        log_probabilities, entropies = self.actor.log_probabilities(states, orders, self.before)
        gain = advantages * log_probabilities + self.settings.entropy_bonus * entropies
        loss = -gain.sum(1).mean()
        self.actor_optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.actor.parameters(), LARGEST_GRADIENT)
        self.actor_optimizer.step()
        return entropies.detach().mean()

    def _returns(self, orders: Tensor, terms: Tensor) -> Tensor:
        """Return of every step, (batch, n_variables), of the reward that the settings name."""
        settings = self.settings
        if settings.reward == "episodic":
            # every choice of the order is paid its score (Section 4.2, CORL-1)
            return returns_to_go(episodic_rewards(self.score, terms), 1.0)
        if self.bounds is not None:
            return returns_to_go(bound_rewards(self.score, orders, terms, self.bounds), settings.gamma)
        return returns_to_go(plain_rewards(terms), settings.gamma)

    def _update_critic(self, states: Tensor, orders: Tensor, returns: Tensor) -> Tensor:
        """Fit the critic to the returns and take its prediction off them.

        Returns are first centred at each step and scaled over the batch, since their size differs between data sets
        by orders of magnitude and the critic's learning rate is fixed.
        """
        centred = returns - returns.mean(0)
        targets = (centred / centred.std().clamp_min(1e-12)).float()
        if self.settings.reward == "episodic":
            values = self.critic(states.mean(1))[:, None].expand(len(orders), orders.shape[1])
        else:
            values = select_states(self.critic(with_initial_state(states))[..., None], visited_states(orders))[..., 0]
        loss = torch.nn.functional.mse_loss(values, targets)
        self.critic_optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.critic_optimizer.step()
        advantages: Tensor = targets - values.detach()
        return advantages

    @property
    def best_order(self) -> IntArray:
        """BestOrdering so far."""
        order: IntArray = self._best_order.cpu().numpy()
        return order

    @property
    def best_score(self) -> float:
        """BestScore so far."""
        return float(self._best_score)

    def state(self) -> dict[str, Tensor]:
        """Everything that a later run needs to go on as if nothing had happened, as named tensors.

        What follows from the data, the settings and the seed is left out: the later trainer is built from the same.
        """
        tensors = {
            "iteration": torch.tensor(self.iteration),
            "last_move": torch.tensor(self._last_move),
            "seconds": torch.tensor(self.seconds, dtype=torch.float64),
            "best_order": self._best_order,
            "best_score": self._best_score,
        }
        tensors |= {f"generator.{name}": generator.get_state() for name, generator in self._generators().items()}
        for name, module, optimizer in self._learners():
            tensors |= {f"{name}.{key}": value for key, value in module.state_dict().items()}
            for k, moments in optimizer.state_dict()["state"].items():
                tensors |= {f"{name}_optimizer.{k}.{key}": value for key, value in moments.items()}
        return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go back to what :meth:`state` gave; KeyError or RuntimeError where it is of another network."""
        for name, generator in self._generators().items():
            generator.set_state(state[f"generator.{name}"])
        for name, module, optimizer in self._learners():
            module.load_state_dict(_under(f"{name}.", state))
            moments: dict[int, dict[str, Tensor]] = {}
            for key, value in _under(f"{name}_optimizer.", state).items():
                k, _, moment = key.partition(".")
                moments.setdefault(int(k), {})[moment] = value
            optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        self.iteration, self._last_move = int(state["iteration"]), int(state["last_move"])
        self.seconds = float(state["seconds"])
        self._best_order = state["best_order"].to(self.device)
        self._best_score = state["best_score"].to(self.device)
        if self.iteration:
            now = self.score.total(self.score.terms(self._best_order[None]).sum(1))[0]
            if not torch.isclose(now, self._best_score, rtol=1e-6):  # max_time has cut the score's table elsewhere
                self._best_score = now
        self._known_best = self.best_score
        self._iteration = self._new_iteration()  # the optimisers' states are others now

    def _generators(self) -> dict[str, torch.Generator]:
        rows = {} if isinstance(self.inputs, FixedInputs) else {"rows": self.inputs.generator}
        return {"orders": self.generator, **rows}

    def _learners(self) -> list[tuple[str, torch.nn.Module, torch.optim.Optimizer]]:
        return [("actor", self.actor, self.actor_optimizer), ("critic", self.critic, self.critic_optimizer)]


def _under(prefix: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
