"""Train many runs of one size at once; each is a :class:`precede.search.train.Trainer`, and keeps its own books."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from precede.policy.decoders import select_states, visited_states, with_initial_state
from precede.runtime.deadline import Deadline, OutOfTime
from precede.runtime.device import training_on
from precede.runtime.randomness import gumbel_noise
from precede.scores.protocol import column_sums
from precede.search.adam import Adam
from precede.search.cuda_graphs import new_iteration
from precede.search.rewards import Returns
from precede.search.stacked.networks import Stack, StackedActor, StackedCritic
from precede.search.train import READ_EVERY, IterationRecord, Trainer, undrawn_when_late
from precede.ties import TOLERANCE, first_best_tensor


class TrainerStack:
    """Runs that take their steps together.

    Parameters
    ----------
    trainers : sequence of Trainer
        Before their first iteration, over as many variables, with the same settings and kind of score but for seed and
        data: the networks of ``CORL.paper``, no constraints. Random numbers, best order and patience stay theirs; their
        networks are copied and not trained themselves.
    """

    def __init__(self, trainers: Sequence[Trainer]) -> None:
        first = trainers[0]
        kinds = {(type(trainer.score), trainer.score.n_variables) for trainer in trainers}
        same = all(trainer.settings == first.settings and trainer.before is None for trainer in trainers)
        if not same or len(kinds) > 1:
            raise TypeError("a stack takes runs of as many variables with the same settings and kind of score")
        self.trainers, self.settings, self.device = list(trainers), first.settings, first.device
        self.scores = type(first.score).together([trainer.score for trainer in trainers])
        self.returns = Returns(self.scores, self.settings.reward, self.settings.shaping, self.settings.gamma)
        self.best_scores = torch.stack([trainer.best.score for trainer in trainers])
        self.best_orders = torch.stack([trainer.best.order for trainer in trainers])
        self.going_on = self._going_on()
        self.actor = StackedActor([trainer.actor for trainer in trainers])
        self.critic = StackedCritic([trainer.critic for trainer in trainers])
        self.optimizers = {
            "actor": Adam(self.actor.parameters.values(), self.settings.actor_learning_rate),
            "critic": Adam(self.critic.parameters.values(), self.settings.critic_learning_rate),
        }
        self.iteration = 0
        self._iteration = new_iteration(self.device, self._collect, self._update)

    def run(self, within: Deadline) -> Iterator[list[IterationRecord | None]]:
        """Train until every run has spent its iterations or its patience, or the time is over.

        Yields, for each iteration, the record of each run, None for those that have ended.
        """
        while not all(trainer.finished for trainer in self.trainers) and not (self.iteration and within.passed()):
            taking_part = [not trainer.finished for trainer in self.trainers]  # to the end of the group, as alone
            numbers = self._group(within)
            if not numbers:
                return
            read = torch.stack(numbers).tolist()
            seconds = within.elapsed()
            for k, rows in enumerate(read):
                iteration = self.iteration - len(read) + 1 + k
                yield [
                    _seen(trainer, IterationRecord(iteration, seconds, *row)) if takes_part else None
                    for trainer, takes_part, row in zip(self.trainers, taking_part, rows, strict=True)
                ]
            self._settle()

    def _settle(self) -> None:
        """Write each run's best order into its own books; from now on, runs that have ended keep theirs."""
        for trainer, order, score in zip(self.trainers, self.best_orders, self.best_scores, strict=True):
            trainer.best.order, trainer.best.score = order.clone(), score.clone()
        self.going_on = self._going_on()

    def _going_on(self) -> Tensor:
        return torch.tensor([not trainer.finished for trainer in self.trainers], device=self.device)

    def _group(self, within: Deadline) -> list[Tensor]:
        """As :meth:`precede.search.train.Trainer._group`."""
        numbers: list[Tensor] = []
        while not numbers or (self.iteration % READ_EVERY and self.iteration < self.settings.n_iterations):
            if numbers and within.passed():
                break
            limit = within if self.iteration else None  # every run has one record at least
            try:
                with training_on(self.device), self.scores.within(limit), undrawn_when_late(self.trainers):
                    numbers.append(self.step())
            except OutOfTime:
                break
            self.iteration += 1
        return numbers

    def step(self) -> Tensor:
        """One iteration of every run, as :meth:`precede.search.train.Trainer.step`: (runs, 8) numbers."""
        batch, d = self.settings.batch_size, self.best_orders.shape[1]
        inputs = torch.stack([trainer.inputs.draw(batch) for trainer in self.trainers])
        noise = torch.cat([gumbel_noise((batch, d, d), trainer.generator) for trainer in self.trainers])
        orders = self._iteration.collect(inputs, noise)
        terms = self.scores.terms(orders)
        sums = column_sums(orders.flatten(0, 1), terms.flatten(0, 1)).view(orders.shape[:2])
        totals = self.scores.total(sums)
        learned = self._iteration.update(self.returns(orders, terms))
        self._keep_best(orders, totals)
        return torch.cat([torch.stack([totals.mean(1), totals.amax(1), self.best_scores]), learned.double()]).T

    def _keep_best(self, orders: Tensor, totals: Tensor) -> None:
        """As :meth:`precede.search.best.BestOrdering.offer`, for every run that goes on."""
        first = first_best_tensor(totals)
        rows = torch.arange(len(totals), device=totals.device)
        scores, before = totals[rows, first], self.best_scores
        better = scores > before + TOLERANCE * before.abs().nan_to_num(posinf=0.0)
        better &= self.going_on
        self.best_scores = torch.where(better, scores, before)
        self.best_orders = torch.where(better[:, None], orders[rows, first], self.best_orders)

    def _collect(self, inputs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        states = self.actor.encode(inputs)
        return states, self.actor.sample(states.detach(), noise)

    def _update(self, states: Tensor, orders: Tensor, returns: Tensor) -> Tensor:
        """As :meth:`precede.search.train.Trainer._update`; losses of the runs are added, no parameter is shared."""
        details, bonus = self.settings.details, self.settings.entropy_bonus
        targets = returns.float()
        if details.standardize_returns:
            centered = returns - returns.mean(1, keepdim=True)
            scale = centered.flatten(1).std(1).clamp_min(1e-12)
            targets = (centered / scale[:, None, None]).float()
        values = self._values(states.detach(), orders)
        critic_losses = ((values - targets) ** 2).mean((1, 2))
        critic_gradients = self._descend("critic", self.critic, critic_losses, None)
        log_probabilities, entropies = self.actor.log_probabilities(states, orders)
        gain = (targets - values.detach()) * log_probabilities
        gain = gain + bonus * entropies if bonus else gain
        actor_losses = -gain.sum(2).mean(1)
        actor_gradients = self._descend("actor", self.actor, actor_losses, details.largest_gradient)
        entropy = entropies.mean((1, 2))
        return torch.stack([entropy, actor_losses, critic_losses, actor_gradients, critic_gradients]).detach()

    def _values(self, states: Tensor, orders: Tensor) -> Tensor:
        runs, batch, d = orders.shape
        if not self.settings.values_every_state:
            return self.critic(states.mean(2))[:, :, None].expand(orders.shape)
        values = self.critic(with_initial_state(states.flatten(0, 1)).view(runs, batch, d + 1, -1))
        visited = visited_states(orders.flatten(0, 1))
        return select_states(values.flatten(0, 1)[..., None], visited)[..., 0].view(orders.shape)

    def _descend(self, name: str, stack: Stack, losses: Tensor, largest_gradient: float | None) -> Tensor:
        """One step of every run; gives the norms of their gradients."""
        parameters = list(stack.parameters.values())
        for parameter in parameters:
            parameter.grad = None
        losses.sum().backward()
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        each = torch.stack([torch.linalg.vector_norm(gradient.flatten(1), dim=1) for gradient in gradients])
        norms: Tensor = torch.linalg.vector_norm(each, dim=0)
        if largest_gradient is not None:
            shrink = (largest_gradient / (norms + 1e-6)).clamp(max=1.0)
            for gradient in gradients:
                gradient.mul_(shrink.view(-1, *[1] * (gradient.dim() - 1)))
        self.optimizers[name].step()
        return norms


def _seen(trainer: Trainer, record: IterationRecord) -> IterationRecord:
    """The record, once its run has taken notice of it."""
    trainer.patience.see(record.iteration, record.best_score, record.mean_score)
    trainer.iteration, trainer.seconds = record.iteration, record.seconds
    return record
