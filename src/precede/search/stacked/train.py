"""Train many runs of one size at once; each is a :class:`precede.search.train.Trainer`, and keeps its own books."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from precede.policy.decoders import select_states, visited_states, with_initial_state
from precede.runtime.deadline import Deadline
from precede.runtime.device import training_on
from precede.runtime.randomness import gumbel_noise
from precede.scores.linear import CHUNK_ELEMENTS, LinearScore
from precede.scores.protocol import column_sums
from precede.search.adam import Adam
from precede.search.cuda_graphs import new_iteration
from precede.search.stacked.networks import Stack, StackedActor, StackedCritic
from precede.search.train import READ_EVERY, IterationRecord, Trainer


class TrainerStack:
    """Runs that take their steps together.

    Parameters
    ----------
    trainers : sequence of Trainer
        Before their first iteration, of one size, with the same settings but for seed and data: the networks of
        ``CORL.paper``, a linear score, no constraints. Random numbers, best order and patience stay theirs; their
        networks are copied and not trained themselves.
    """

    def __init__(self, trainers: Sequence[Trainer]) -> None:
        first = trainers[0]
        for trainer in trainers:
            same = trainer.settings == first.settings and trainer.score.n_variables == first.score.n_variables
            if not same or trainer.before is not None or not isinstance(trainer.score, LinearScore):
                raise TypeError("a stack takes runs of one size with the same settings and a linear score")
        self.trainers, self.settings, self.device = list(trainers), first.settings, first.device
        self.scores = [trainer.score for trainer in trainers if isinstance(trainer.score, LinearScore)]
        self.covariances = torch.stack([score.covariance for score in self.scores])
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

        Yields, for each iteration, the record of each run, None for those at an end.
        """
        while not all(trainer.finished for trainer in self.trainers) and not (self.iteration and within.passed()):
            numbers = [self._advance()]
            while self.iteration % READ_EVERY and self.iteration < self.settings.n_iterations:
                numbers.append(self._advance())
            read = torch.stack(numbers).tolist()
            seconds = within.elapsed()
            for k, rows in enumerate(read):
                iteration = self.iteration - len(read) + 1 + k
                yield [
                    self._see(trainer, IterationRecord(iteration, seconds, *row))
                    for trainer, row in zip(self.trainers, rows, strict=True)
                ]

    def _see(self, trainer: Trainer, record: IterationRecord) -> IterationRecord | None:
        if trainer.finished:
            return None
        trainer.patience.see(record.iteration, record.best_score, record.mean_score)
        trainer.iteration, trainer.seconds = record.iteration, record.seconds
        return record

    def _advance(self) -> Tensor:
        with training_on(self.device):
            numbers = self.step()
        self.iteration += 1
        return numbers

    def step(self) -> Tensor:
        """One iteration of every run, as :meth:`precede.search.train.Trainer.step`: (runs, 4) numbers."""
        batch, d = self.settings.batch_size, self.covariances.shape[1]
        inputs = torch.stack([trainer.inputs.draw(batch) for trainer in self.trainers])
        noise = torch.cat([gumbel_noise((batch, d, d), trainer.generator) for trainer in self.trainers])
        orders = self._iteration.collect(inputs, noise)
        terms = self.terms(orders)
        runs = list(zip(self.trainers, orders, terms, strict=True))
        entropies = self._iteration.update(torch.stack([trainer.returns(*pair) for trainer, *pair in runs]))
        numbers = []
        for (trainer, own, own_terms), entropy in zip(runs, entropies, strict=True):
            totals = trainer.score.total(column_sums(own, own_terms))
            best = trainer.best if not trainer.finished else None
            batch_best = totals.max() if best is None else best.offer(own, totals)
            numbers.append(torch.stack([totals.mean(), batch_best, trainer.best.score, entropy.double()]))
        return torch.stack(numbers)

    def terms(self, orders: Tensor) -> Tensor:
        """Terms of every run's orders, (runs, batch, n_variables): one batch of Cholesky factors for all of them."""
        runs, batch, d = orders.shape
        run = torch.arange(runs, device=orders.device).repeat_interleave(batch)
        size = max(1, CHUNK_ELEMENTS // d**2)
        pieces = []
        for which, part in zip(run.split(size), orders.flatten(0, 1).split(size), strict=True):
            matrices = self.covariances[which[:, None, None], part[:, :, None], part[:, None, :]]
            pieces.append(torch.linalg.cholesky_ex(matrices)[0].diagonal(dim1=1, dim2=2) ** 2)
        variances = torch.cat(pieces).view(orders.shape)
        return torch.stack([score.noise.terms(own) for score, own in zip(self.scores, variances, strict=True)])

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
        self._descend("critic", self.critic, ((values - targets) ** 2).mean((1, 2)).sum(), None)
        log_probabilities, entropies = self.actor.log_probabilities(states, orders)
        gain = (targets - values.detach()) * log_probabilities
        gain = gain + bonus * entropies if bonus else gain
        self._descend("actor", self.actor, -gain.sum(2).mean(1).sum(), details.largest_gradient)
        return entropies.detach().mean((1, 2))

    def _values(self, states: Tensor, orders: Tensor) -> Tensor:
        runs, batch, d = orders.shape
        if not self.settings.values_every_state:
            return self.critic(states.mean(2))[:, :, None].expand(orders.shape)
        values = self.critic(with_initial_state(states.flatten(0, 1)).view(runs, batch, d + 1, -1))
        visited = visited_states(orders.flatten(0, 1))
        return select_states(values.flatten(0, 1)[..., None], visited)[..., 0].view(orders.shape)

    def _descend(self, name: str, stack: Stack, loss: Tensor, largest_gradient: float | None) -> None:
        parameters = list(stack.parameters.values())
        for parameter in parameters:
            parameter.grad = None
        loss.backward()
        if largest_gradient is not None:
            gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
            norms = torch.stack([torch.linalg.vector_norm(gradient.flatten(1), dim=1) for gradient in gradients])
            shrink = (largest_gradient / (torch.linalg.vector_norm(norms, dim=0) + 1e-6)).clamp(max=1.0)
            for gradient in gradients:
                gradient.mul_(shrink.view(-1, *[1] * (gradient.dim() - 1)))
        self.optimizers[name].step()
