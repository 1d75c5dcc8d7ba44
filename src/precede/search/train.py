"""Algorithm 1 of the paper: actor-critic search over causal orders, for one run or for many of one size at once.

The loop yields records and does nothing else; :mod:`precede.search.run` says who may follow it. Implementation
details beside the paper's text, with their measured effect in ``docs/explanation/corl.md``:

1. Log-probabilities come from the very steps that draw the orders.
2. Rewards are not cached (lines 5-7): a batch of linear terms is one Cholesky factor; costly scores keep a table.
3. Returns are centered at every step and scaled over the batch before actor and critic see them.
4. The norm of the actor's gradient is clipped.
5. The critic values every state of a dense reward, and the initial state of an episodic one (:meth:`_values`).
   3 to 5 can be changed: :class:`precede.search.settings.Details`.
6. Of equal orders the first is kept (:mod:`precede.ties`).
7. Training ends after ``n_iterations``, at ``max_time``, or when nothing has moved for ``patience`` iterations
   (the paper: "not terminated").
8. On a GPU both halves of an iteration are CUDA graphs, and numbers are read in groups (:data:`READ_EVERY`).
9. The first axis of every tensor is the run. Runs share nothing but the launches of their kernels.
"""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from precede.arrays import IntArray
from precede.policy.actor import Drawn
from precede.policy.networks import with_initial_state
from precede.runtime import Deadline, OutOfTime, gumbel_noise, training_on
from precede.scores.protocol import BatchedScore, column_sums
from precede.search.cuda_graphs import Collect, RecordedIteration, Update
from precede.search.learner import Learner, Networks
from precede.search.rewards import Returns, standardized_returns
from precede.ties import TOLERANCE, first_best_tensor


class BestOrdering:
    """The best order of each run so far; of equal ones the first.

    Parameters
    ----------
    orders : (runs, n_variables) int64 tensor
        What stands before anything was scored (Algorithm 1 starts from a random ordering and minus infinity).
    """

    def __init__(self, orders: Tensor) -> None:
        self.orders = orders
        self.scores = torch.full((len(orders),), -torch.inf, dtype=torch.float64, device=orders.device)

    def known(self, run: int = 0) -> tuple[IntArray, float] | None:
        """A run's order and its score; None before anything was scored."""
        return None if math.isinf(self.score(run)) else (self.order(run), self.score(run))

    def score(self, run: int = 0) -> float:
        """Score of a run's order, minus infinity before anything was scored."""
        return float(self.scores[run])

    def order(self, run: int = 0) -> IntArray:
        """A run's order, whether or not anything was scored."""
        result: IntArray = self.orders[run].cpu().numpy()
        return result

    def take(self) -> IntArray:
        """The only run's order; what is offered from now on need not be better."""
        self.scores = torch.full_like(self.scores, -torch.inf)
        return self.order()

    def offer_one(self, order: IntArray, score: float) -> None:
        """Name an order that was found elsewhere, with its score, to the only run."""
        device = self.orders.device
        scores = torch.tensor([[score]], dtype=torch.float64, device=device)
        self.offer(torch.as_tensor(order, device=device)[None, None], scores)

    def offer(self, orders: Tensor, scores: Tensor, going_on: Tensor | None = None) -> None:
        """Keep the best of each run's batch where it is better than the one so far.

        Parameters
        ----------
        orders : (runs, batch, n_variables) int64 tensor
        scores : (runs, batch) float64 tensor
        going_on : (runs,) bool tensor, optional
            Runs that have ended keep what they have.
        """
        first = first_best_tensor(scores)[:, None]
        score = scores.gather(1, first)[:, 0]
        order = orders.gather(1, first[:, :, None].expand(-1, 1, orders.shape[2]))[:, 0]
        better = score > self.scores + TOLERANCE * self.scores.abs().nan_to_num(posinf=0.0)
        if going_on is not None:
            better = better & going_on
        self.scores = torch.where(better, score, self.scores)
        self.orders = torch.where(better[:, None], order, self.orders)


READ_EVERY = 10
"""Numbers stay on the device and are read in groups of this many iterations: a GPU never waits for the CPU."""

FIRST_AVERAGE, AVERAGE_WEIGHT = -1.0, 0.99
"""Of the moving average of returns, as in the authors' program."""


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
    learners : sequence of Learner
        Over as many variables, with the same settings and kind of score but for seed and data; a fit has one. Of
        several, the networks are copied.
    """

    def __init__(self, learners: Sequence[Learner]) -> None:
        first = learners[0]
        kinds = {(type(learner.score), learner.score.n_variables) for learner in learners}
        if len(kinds) > 1 or any(learner.settings != first.settings for learner in learners):
            raise TypeError("runs that train together have as many variables, the same settings and kind of score")
        self.learners, self.settings, self.device = list(learners), first.settings, first.device
        self.iteration, self.seconds = 0, 0.0
        scores = [learner.score for learner in learners]
        self.score = type(first.score).together(scores) if len(scores) > 1 else BatchedScore(scores)
        self.returns = Returns(self.score, self.settings.reward, self.settings.shaping, self.settings.gamma)
        settings, details = self.settings, self.settings.details
        self.actor = Networks([learner.actor for learner in learners], settings.actor_learning_rate, details)
        self.critic = Networks([learner.critic for learner in learners], settings.critic_learning_rate, details)
        self.average = torch.full((len(learners), 1, 1), FIRST_AVERAGE, device=self.device)
        units = [score.residual_units[settings.reward == "episodic"] for score in scores]
        self._units = torch.tensor(units, device=self.device, dtype=torch.float64)[:, None, None]
        self.before: Tensor | None = None
        if any(learner.before is not None for learner in learners):
            free = torch.zeros((first.score.n_variables,) * 2, device=self.device)
            self.before = torch.stack([free if learner.before is None else learner.before for learner in learners])
        start = torch.stack([learner.order for learner in learners])
        self.best, self.proposal, self.improved = BestOrdering(start), BestOrdering(start), BestOrdering(start)
        known = torch.tensor([[learner.order_score] for learner in learners], dtype=torch.float64, device=self.device)
        self.best.offer(start[:, None], known)
        self.prepare()

    def prepare(self) -> None:
        """Get ready to iterate, at the start and whenever optimizer states were replaced."""
        self.collect: Collect[Drawn] = self._collect
        self.update: Update[Drawn] = self._update
        # another thread's work would end a recording: autograd has one thread for all of them
        if self.device.type == "cuda" and threading.current_thread() is threading.main_thread():
            with training_on(self.device):
                recorded = RecordedIteration(self._collect, self._update)
            self.collect, self.update = recorded.collect, recorded.update
        self._going_on = self._unfinished()

    def step(self) -> Tensor:
        """The body of Algorithm 1's loop; gives the numbers of each run's record, (runs, 8), on the device."""
        # lines 2-4: draw a batch of samples, encode them, and place one variable after another
        batch, d = self.settings.batch_size, self.learners[0].score.n_variables
        inputs = torch.stack([learner.inputs.draw(batch) for learner in self.learners])
        noise = torch.stack([gumbel_noise((batch, d, d), learner.generator) for learner in self.learners])
        drawn, orders = self.collect(inputs, noise)
        # lines 5-8: their rewards
        terms = self.score.terms(orders)
        sums = column_sums(orders.flatten(0, 1), terms.flatten(0, 1)).view(orders.shape[:2])
        totals = self.score.total(sums)
        # line 9: update the actor and the critic
        learned = self.update(drawn, orders, self._returns(orders, terms))
        # lines 10-12: keep the best ordering
        self.best.offer(orders, totals, self._going_on)
        self.proposal.offer(orders, totals)
        return torch.cat([torch.stack([totals.mean(1), totals.amax(1), self.best.scores]), learned.double()]).T

    def _returns(self, orders: Tensor, terms: Tensor) -> Tensor:
        """Returns (runs, batch, n_variables) in the sequence of placing."""
        turned = self.learners[0].actor.turned
        returns = self.returns(turned(orders), turned(terms))
        return returns / self._units if self.settings.details.return_unit == "residuals" else returns

    def _collect(self, inputs: Tensor, noise: Tensor) -> tuple[Drawn, Tensor]:
        """Encode, and draw an order for each member of the batch."""
        drawn: Drawn = self.actor(inputs, noise, self.before)
        return drawn, drawn.orders.detach()

    def _update(self, drawn: Drawn, orders: Tensor, returns: Tensor) -> Tensor:
        """Policy gradient with the critic as baseline (Section 4.2); gives entropy, losses and gradient norms."""
        details = self.settings.details
        targets = standardized_returns(returns) if details.standardize_returns else returns.float()
        if details.moving_average:
            self.average.lerp_(targets.mean((1, 2), keepdim=True), 1 - AVERAGE_WEIGHT)
            targets = targets - self.average
        values = self._values(drawn.states.detach(), self.learners[0].actor.turned(orders))
        critic_losses = (values - targets).square().mean((1, 2))
        largest = details.largest_gradient if details.clip_each_tensor else None
        critic_gradients = self.critic.descend(critic_losses, largest)
        advantages = targets - values.detach()
        gain = advantages * drawn.log_probabilities + self.settings.entropy_bonus * drawn.entropies
        actor_losses = -gain.sum(2).mean(1)
        actor_gradients = self.actor.descend(actor_losses, details.largest_gradient)
        entropies = drawn.entropies.mean((1, 2))
        return torch.stack([entropies, actor_losses, critic_losses, actor_gradients, critic_gradients]).detach()

    def _values(self, states: Tensor, placed: Tensor) -> Tensor:
        """What the critic expects at every step of placing, (runs, batch, n_variables)."""
        runs, batch, d = placed.shape
        asked = self.settings.details.critic
        if not (self.settings.reward == "dense" if asked == "by-reward" else asked == "every-state"):
            initial: Tensor = self.critic(states.mean(2))
            return initial[:, :, None].expand(placed.shape)
        values: Tensor = self.critic(with_initial_state(states)).expand(runs, batch, d + 1)
        start = torch.full_like(placed[..., :1], d)  # the initial state, then that of every variable but the last
        return values.gather(2, torch.cat([start, placed[..., :-1]], dim=2))

    def run(self, deadline: Deadline | None = None) -> Iterator[list[IterationRecord | None]]:
        """Train until the iterations, the patience or the time is spent.

        Yields the record of each run for every iteration, None for runs that have ended. There is one at least, but
        for a deadline that was cancelled before, or that passed while a score took its time over the first orders. The
        whole state is settled, and may be saved, whenever ``record.iteration == trainer.iteration``.
        """
        deadline, earlier = (deadline or Deadline(None)).part(), self.seconds
        while not (self.finished or deadline.cancelled or (self.iteration and deadline.passed())):
            taking_part = [not learner.finished for learner in self.learners]  # to the end of the group
            numbers = self._group(deadline)
            if not numbers:
                return
            first = self.iteration - len(numbers) + 1
            self.seconds = earlier + deadline.elapsed()
            for k, rows in enumerate(torch.stack(numbers).tolist()):
                records = [IterationRecord(first + k, self.seconds, *row) for row in rows]
                for learner, record, takes_part in zip(self.learners, records, taking_part, strict=True):
                    if takes_part:
                        learner.iteration = record.iteration
                        learner.patience.see(record.iteration, record.best_score, record.mean_score)
                yield [record if part else None for record, part in zip(records, taking_part, strict=True)]
            if len(self.learners) > 1:
                self._going_on = self._unfinished()

    @property
    def finished(self) -> bool:
        """Whether the iterations or the patience of every run are spent."""
        return all(learner.finished for learner in self.learners)

    def _unfinished(self) -> Tensor:
        return torch.tensor([not learner.finished for learner in self.learners], device=self.device)

    def _group(self, deadline: Deadline) -> list[Tensor]:
        """Iterations up to the next multiple, so that a resumed run stops where an uninterrupted one would."""
        numbers: list[Tensor] = []
        while not numbers or (self.iteration % READ_EVERY and self.iteration < self.settings.n_iterations):
            if numbers and deadline.passed():
                break
            try:
                with training_on(self.device), self.score.within(deadline), restore_rng_on_timeout(self.learners):
                    numbers.append(self.step())
            except OutOfTime:
                break
            self.iteration += 1
        return numbers

    def imitate(self, order: IntArray) -> None:
        """Let the policy take a step towards an order that was found elsewhere."""
        actor, learner = self.learners[0].actor, self.learners[0]
        orders = torch.as_tensor(order, device=self.device)[None]
        log_probabilities, _ = actor.log_probabilities(actor.encoder(learner.inputs.draw(1)), orders, learner.before)
        self.actor.descend(-log_probabilities.sum(1).mean(), self.settings.details.largest_gradient)


@contextmanager
def restore_rng_on_timeout(learners: Sequence[Learner]) -> Iterator[None]:
    """Restore the random generators where scoring runs out of time: nothing was learned from what they drew."""
    generators = [generator for learner in learners for generator in learner.generators.values()]
    states = [generator.get_state() for generator in generators]
    try:
        yield
    except OutOfTime:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)
        raise
