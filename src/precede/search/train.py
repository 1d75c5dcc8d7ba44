"""Algorithm 1 of the paper: actor-critic search over causal orders.

The loop yields records and does nothing else; :mod:`precede.search.observers` says who may follow it. Implementation
details beside the paper's text, with their measured effect in ``docs/explanation/corl.md``:

1. Orders are drawn without gradient; one pass over the finished orders gives every log-probability (:meth:`_update`),
   without the LSTM's steps where drawing has taken them.
2. Rewards are not cached (lines 5-7): a batch of linear terms is one Cholesky factor; costly scores keep a table.
3. Returns are centered at every step and scaled over the batch before actor and critic see them.
4. The norm of the actor's gradient is clipped.
5. The critic values every state of a dense reward, and the initial state of an episodic one (:meth:`_values`).
   3 to 5 can be changed: :class:`precede.search.settings.Details`.
6. Of equal orders the first is kept (:mod:`precede.search.best`).
7. Training ends after ``n_iterations``, at ``max_time``, or when nothing has moved for ``patience`` iterations
   (the paper: "not terminated").
8. On a GPU both halves of an iteration are CUDA graphs, and numbers are read in groups (:data:`READ_EVERY`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from precede.arrays import FloatArray, IntArray
from precede.knowledge import Constraints
from precede.policy.decoders import select_states, visited_states, with_initial_state
from precede.policy.inputs import ResampledInputs
from precede.policy.pretrained import Pretrained
from precede.policy.recurrence import Trace
from precede.runtime.deadline import Deadline, OutOfTime
from precede.runtime.device import training_on
from precede.runtime.randomness import gumbel_noise, torch_generator
from precede.scores.protocol import OrderScore, column_sums
from precede.search.best import BestOrdering, first_best_order
from precede.search.cuda_graphs import new_iteration
from precede.search.learner import Learner, make_inputs, make_networks
from precede.search.patience import Patience
from precede.search.rewards import Returns, standardized_returns
from precede.search.settings import TrainingSettings

READ_EVERY = 10
"""Numbers stay on the device and are read in groups of this many iterations: a GPU never waits for the CPU."""

Collected = tuple[Tensor, Trace | None]
"""States, and what drawing from them went through."""


@dataclass(frozen=True)
class IterationRecord:
    """One iteration: scores of the batch, best score so far, how sure the policy is, and how it learns.

    The losses are those of Section 4.2 before the step, the gradients their norms before they are clipped.
    """

    iteration: int
    seconds: float
    mean_score: float
    batch_best: float
    best_score: float
    entropy: float
    actor_loss: float
    critic_loss: float
    actor_gradient: float
    critic_gradient: float


class Trainer:
    """State of Algorithm 1: networks, and BestScore and BestOrdering.

    Beside those are the best order since the last proposal, and the best that a search has made of proposals.

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
        self.iteration, self.seconds = 0, 0.0
        self.patience = Patience(settings.patience, settings.details.patience_on)
        self.returns = Returns(score, settings.reward, settings.shaping, settings.gamma)
        self.generator = torch_generator(rng, self.device)
        scales = score.assumes.equal_variances
        self.inputs = make_inputs(values, settings, rng, self.device, pretrained, scales)
        if scales and pretrained is not None:
            pretrained = replace(pretrained, states=None)  # those of a look without them
        self.actor, self.critic = make_networks(self.inputs, settings, rng, self.device, pretrained, within)
        self.learners = {
            "actor": Learner(self.actor, settings.actor_learning_rate),
            "critic": Learner(self.critic, settings.critic_learning_rate),
        }
        self.before: Tensor | None = None
        if constraints.before.any():
            self.before = torch.tensor(constraints.before, dtype=torch.float32, device=self.device)
        start = constraints.nearest_order(rng.permutation(score.n_variables))
        self.best = BestOrdering(torch.tensor(start, device=self.device))
        self.proposal = BestOrdering(self.best.order)
        self.improved = BestOrdering(self.best.order)
        if pretrained is not None:  # the order that it finds most likely is the one to beat
            order = self.actor.most_likely_order(self.inputs.draw(1), self.before)[None]
            with score.within(within):
                self.best.offer(order, score.totals(order))
        self.prepare()

    def prepare(self) -> None:
        """Get ready to iterate, at the start and whenever optimizer states were replaced."""
        self._iteration = new_iteration(self.device, self._collect, self._update)

    def offer(self, order: IntArray, score: float) -> None:
        """Name an order that was found elsewhere, with its score: it stays BestOrdering until a better one comes."""
        self.best.offer_one(order, score)

    def take_proposal(self) -> IntArray:
        """The best order that the policy itself has drawn since the last call."""
        order: IntArray = self.proposal.order.cpu().numpy()
        self.proposal = BestOrdering(self.best.order)
        return order

    def imitate(self, order: IntArray) -> None:
        """Let the policy take a step towards an order that was found elsewhere."""
        orders = torch.as_tensor(order, device=self.device)[None]
        states = self.actor.encoder(self.inputs.draw(1))
        log_probabilities, _ = self.actor.log_probabilities(states, orders, self.before)
        self.learners["actor"].descend(-log_probabilities.sum(1).mean(), self.settings.details.largest_gradient)

    def run(self, within: Deadline | None = None) -> Iterator[IterationRecord]:
        """Train until the iterations, the patience or the time is spent; yield a record per iteration.

        There is one record at least, but for a deadline that was cancelled before, or that passed while the score took
        its time over the first orders. The whole state is settled, and may be saved, whenever
        ``record.iteration == trainer.iteration``.
        """
        deadline, earlier = Deadline(self.settings.max_time, within), self.seconds
        while not (self.finished or deadline.cancelled or (self.iteration and deadline.passed())):
            numbers = self._group(deadline)
            if not numbers:
                return
            first = self.iteration - len(numbers) + 1
            self.seconds = earlier + deadline.elapsed()
            for k, row in enumerate(torch.stack(numbers).tolist()):
                record = IterationRecord(first + k, self.seconds, *row)
                self.patience.see(record.iteration, record.best_score, record.mean_score)
                yield record

    @property
    def finished(self) -> bool:
        """Whether the iterations or the patience are spent."""
        return self.iteration >= self.settings.n_iterations or self.patience.spent(self.iteration)

    def _group(self, deadline: Deadline) -> list[Tensor]:
        """Iterations up to the next multiple, so that a resumed run stops where an uninterrupted one would."""
        numbers: list[Tensor] = []
        while not numbers or (self.iteration % READ_EVERY and self.iteration < self.settings.n_iterations):
            if numbers and deadline.passed():
                break
            try:
                with training_on(self.device), self.score.within(deadline), undrawn_when_late([self]):
                    numbers.append(self.step())
            except OutOfTime:
                break
            self.iteration += 1
        return numbers

    @property
    def generators(self) -> dict[str, torch.Generator]:
        """What orders and rows are drawn by."""
        rows = {"rows": self.inputs.generator} if isinstance(self.inputs, ResampledInputs) else {}
        return {"orders": self.generator, **rows}

    def step(self) -> Tensor:
        """The body of Algorithm 1's loop; gives the numbers of a record, on the device."""
        batch, d = self.settings.batch_size, self.score.n_variables
        # lines 2-8: encode a batch of samples, collect a batch of orders and their rewards
        noise = gumbel_noise((batch, d, d), self.generator)
        orders = self._iteration.collect(self.inputs.draw(batch), noise)
        terms = self.score.terms(orders)
        totals = self.score.total(column_sums(orders, terms))
        # line 9: update the actor and the critic
        learned = self._iteration.update(self.returns(orders, terms))
        # lines 10-12: keep the best ordering
        first = first_best_order(orders, totals)
        self.best.challenge(*first)
        self.proposal.challenge(*first)
        return torch.cat([torch.stack([totals.mean(), totals.max(), self.best.score]), learned.double()])

    def _collect(self, inputs: Tensor, noise: Tensor) -> tuple[Collected, Tensor]:
        """Encode, and draw an order for each row of the noise."""
        states = self.actor.encoder(inputs)
        orders, trace = self.actor.sample_traced(states.detach(), noise, self.before)
        return (states, trace), orders

    def _update(self, collected: Collected, orders: Tensor, returns: Tensor) -> Tensor:
        """Policy gradient with the critic as baseline (Section 4.2); gives entropy, losses and gradient norms."""
        states, trace = collected
        details = self.settings.details
        targets = standardized_returns(returns) if details.standardize_returns else returns.float()
        values = self._values(states.detach(), orders)
        critic_loss = torch.nn.functional.mse_loss(values, targets)
        critic_gradient = self.learners["critic"].descend(critic_loss)
        advantages = targets - values.detach()
        log_probabilities, entropies = self.actor.log_probabilities(states, orders, self.before, trace)
        gain = advantages * log_probabilities + self.settings.entropy_bonus * entropies
        actor_loss = -gain.sum(1).mean()
        actor_gradient = self.learners["actor"].descend(actor_loss, details.largest_gradient)
        return torch.stack([entropies.mean(), actor_loss, critic_loss, actor_gradient, critic_gradient]).detach()

    def _values(self, states: Tensor, orders: Tensor) -> Tensor:
        """What the critic expects at every step, (batch, n_variables)."""
        if not self.settings.values_every_state:
            initial: Tensor = self.critic(states.mean(1))
            return initial[:, None].expand(orders.shape)
        return select_states(self.critic(with_initial_state(states))[..., None], visited_states(orders))[..., 0]

    @property
    def best_order(self) -> IntArray:
        """BestOrdering so far."""
        order: IntArray = self.best.order.cpu().numpy()
        return order

    @property
    def best_score(self) -> float:
        """BestScore so far."""
        return float(self.best.score)


@contextmanager
def undrawn_when_late(trainers: Sequence[Trainer]) -> Iterator[None]:
    """A step in which a score may run out of time: then nothing was learned, as if no orders had been drawn."""
    generators = [generator for trainer in trainers for generator in trainer.generators.values()]
    states = [generator.get_state() for generator in generators]
    try:
        yield
    except OutOfTime:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)
        raise
