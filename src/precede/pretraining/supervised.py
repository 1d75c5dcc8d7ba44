"""Supervised pretraining of a policy on simulated tasks (Section 4.2).

The loop prints nothing and writes no file: it yields records, and others listen.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from precede.errors import OptionError, check_positive
from precede.policy.actor import Actor
from precede.policy.edges import edge_loss
from precede.policy.encoders import TransformerBlock
from precede.policy.moments import MomentsBlock, MomentsEncoder
from precede.policy.pretrained import in_todays_shapes
from precede.pretraining.curriculum import Curriculum, Tasks, through_asinh
from precede.pretraining.own_tables import OwnTables, read_tables, split
from precede.pretraining.settings import PretrainingSettings
from precede.pretraining.validation import ValidationSuite
from precede.runtime.deadline import Deadline
from precede.runtime.randomness import initial_weights, numpy_rng, torch_generator


def copy_what_fits(path: str, actor: Actor) -> None:
    """Take over weights by name; a network that sees further features starts as the function that it was without.

    What is not in the file, such as an answer that was not given, starts as it would anew.

    Raises
    ------
    OptionError
        No weight fits.
    """
    saved, new = load_file(path), actor.state_dict()
    old = in_todays_shapes(saved, actor)
    fitting = {name: old[name] for name in saved if name in new and old[name].shape == new[name].shape}
    if not fitting:
        raise OptionError(f"start={path!r} has no weight that fits this network.")
    actor.load_state_dict(new | fitting)


READ_EVERY = 20
"""Steps between records; the losses stay on the device until then. A multiple of :data:`BATCHES_AT_ONCE`."""

REFERENCE_SIZE = (30, 400)
"""Variables and samples for which ``tasks_per_step`` is meant; other sizes get as many tasks as cost the same."""

MOST_TASKS = 4
"""Small tasks come in batches of at most this many times ``tasks_per_step``."""

BATCHES_AT_ONCE = 4
"""Batches that are drawn together: the loops over variables cost launches, whatever the number of tasks."""

LARGEST_GRADIENT = 1.0
LOWEST_RATE = 0.02
"""Share of the learning rate at the end of the cosine."""


@dataclass(frozen=True)
class PretrainingRecord:
    """Some steps: mean losses, speed, and validation figures when there are new ones."""

    step: int
    seconds: float
    loss: float
    edge_loss: float
    learning_rate: float
    steps_per_second: float
    tasks_per_second: float
    generation_share: float
    peak_memory_gb: float
    validation: dict[str, float] = field(default_factory=dict)


def set_valued_loss(logits: Tensor, orders: Tensor, adjacency: Tensor) -> Tensor:
    r"""Mean over steps of :math:`-\log \sum_{j \in R_t} \pi(j \mid \hat s_t)`.

    :math:`R_t` are the variables not yet placed whose parents all are: many orders are valid, so any of them is right.

    Parameters
    ----------
    logits : (batch, steps, n_variables) tensor
    orders : (batch, n_variables) int64 tensor
        The prefixes behind the logits.
    adjacency : (batch, n_variables, n_variables) bool tensor
    """
    d = orders.shape[1]
    waiting = orders.argsort(1)[:, None, :] >= torch.arange(d, device=orders.device)[:, None]
    held_back = waiting.float() @ adjacency.float() > 0
    everyone = logits.masked_fill(~waiting, -torch.inf).logsumexp(2)
    ready = logits.masked_fill(~waiting | held_back, -torch.inf).logsumexp(2)
    return (everyone - ready).mean()


class Pretrainer:
    """State of the training: networks, optimizer, curriculum, running mean of the weights, best validated weights."""

    def __init__(self, settings: PretrainingSettings) -> None:
        check_positive("tasks_per_step", settings.tasks_per_step, integer=True)
        self.settings = settings
        self.device = torch.device(settings.device)
        rng = numpy_rng(settings.random_state)
        with initial_weights(rng):
            self.actor = settings.architecture.build()
        if settings.start is not None:
            copy_what_fits(settings.start, self.actor)
        self.actor.to(self.device)
        self.averaged = copy.deepcopy(self.actor)
        if settings.compile:
            compile_blocks(self.actor)
        self.generator = torch_generator(rng, self.device)
        own = settings.curriculum.tables
        train, kept = ([], []) if own is None else split(read_tables(Path(own)))
        self.curriculum = Curriculum(settings.curriculum, self.generator)
        if own is not None:
            self.curriculum = OwnTables(train, settings.curriculum, self.generator)
        self._drawn: list[Tasks] = []
        self.sizes = rng  # sizes of the batches come from here, on the CPU
        self.parameters = list(self.actor.parameters())
        self.optimizer = torch.optim.AdamW(
            self.parameters, settings.learning_rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay, fused=True
        )
        self.suite = ValidationSuite(settings.validation, settings.architecture, self.device, kept)
        self.step, self.seconds, self.tasks_seen = 0, 0.0, 0
        self.best: dict[str, float] = {}
        self.best_weights = copy.deepcopy(self.averaged.state_dict())
        self.validations_since_best = 0

    def run(self, max_time: float | None = None) -> Iterator[PretrainingRecord]:
        """Train until the settings' end, or for ``max_time`` seconds of this call; yield a record every few steps."""
        call = Deadline(max_time)
        last = time.perf_counter()
        since_validation = 0.0
        while not self._finished() and not call.passed():
            start_step, start_seconds, start_tasks = self.step, self.seconds, self.tasks_seen
            losses, drawing, timed = [], 0.0, 0.0
            for k in range(READ_EVERY):
                # a few steps of each group wait for the device, to measure what they are spent on
                figures, (drawn, whole) = self._train_step(wait=k < BATCHES_AT_ONCE)
                if k < BATCHES_AT_ONCE:
                    drawing, timed = drawing + drawn, timed + whole
                losses.append(figures)
                self.step += 1
                if self.settings.n_steps is not None and self.step >= self.settings.n_steps:
                    break
            loss, of_edges = torch.stack(losses).mean(0).tolist()
            last = self._count_seconds(last)
            spent = self.seconds - start_seconds
            since_validation += spent
            validation: dict[str, float] = {}
            if since_validation > self.settings.validate_every or self._finished() or call.passed():
                validation, since_validation = self.validate(), 0.0
                last = self._count_seconds(last)
            yield PretrainingRecord(
                self.step,
                self.seconds,
                loss,
                of_edges,
                self.optimizer.param_groups[0]["lr"],
                (self.step - start_step) / spent,
                (self.tasks_seen - start_tasks) / spent,
                drawing / timed,
                self._peak_memory(),
                validation,
            )

    def _count_seconds(self, since: float) -> float:
        now = time.perf_counter()
        self.seconds += now - since
        return now

    def validate(self) -> dict[str, float]:
        """Order TPR of the averaged policy on the suite; the best weights by the mean of its groups are kept."""
        figures = self.suite.evaluate(self.averaged)
        if not self.best or figures["overall"] > self.best["overall"]:
            self.best = {**figures, "step": float(self.step)}
            self.best_weights = copy.deepcopy(self.averaged.state_dict())
            self.validations_since_best = 0
        else:
            self.validations_since_best += 1
        return figures

    def best_actor(self) -> Actor:
        """The averaged policy as it was at its best validation."""
        actor = copy.deepcopy(self.averaged)
        actor.load_state_dict(self.best_weights)
        return actor

    def _finished(self) -> bool:
        patience = self.settings.patience
        return self._progress() >= 1 or (patience is not None and self.validations_since_best >= patience)

    def _progress(self) -> float:
        settings = self.settings
        by_steps = self.step / settings.n_steps if settings.n_steps else 0.0
        by_time = self.seconds / settings.max_time if settings.max_time else 0.0
        return max(by_steps, by_time)

    def _train_step(self, wait: bool) -> tuple[Tensor, tuple[float, float]]:
        """One update; returns the losses, and the seconds for making the tasks and for all (right if it waits)."""
        start = self._clock(wait)
        tasks = self._next_tasks()
        middle = self._clock(wait)
        rate = self.settings.learning_rate * min(1.0, (self.step + 1) / self.settings.warmup_steps)
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, self._progress())))
        for group in self.optimizer.param_groups:
            group["lr"] = rate * (LOWEST_RATE + (1 - LOWEST_RATE) * cosine)
        loss, of_edges = self._losses(tasks)
        self.optimizer.zero_grad(set_to_none=True)
        (loss + self.settings.edge_weight * of_edges).backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, LARGEST_GRADIENT)
        # a step with an infinite gradient is left out, decided on the device (as torch's GradScaler does)
        self.optimizer.found_inf = (~norm.isfinite()).float()  # type: ignore[attr-defined]
        self.optimizer.step()
        self._average()
        return torch.stack([loss.detach(), of_edges.detach()]), (middle - start, self._clock(wait) - start)

    def _next_tasks(self) -> Tasks:
        """Next batch; none is left over when a record is yielded, so checkpoints need not hold any."""
        if not self._drawn:
            self._drawn = self._draw().split(BATCHES_AT_ONCE)
        tasks = self._drawn.pop()
        self.tasks_seen += len(tasks.inputs)
        return tasks

    def _draw(self) -> Tasks:
        """Draw some batches at once, all of one size of tasks."""
        curriculum, (d_reference, n_reference) = self.settings.curriculum, REFERENCE_SIZE
        d = int(self.sizes.choice(curriculum.n_variables))
        n = int(self.sizes.choice(curriculum.n_samples))
        share = task_cost(d, curriculum.rows or n) / task_cost(d_reference, curriculum.rows or n_reference)
        batch = max(3, round(self.settings.tasks_per_step * min(1 / share, MOST_TASKS)))
        return self.curriculum.draw(batch * BATCHES_AT_ONCE, d, n)

    def _losses(self, tasks: Tasks) -> tuple[Tensor, Tensor]:
        of_edges = tasks.inputs.new_zeros(())
        inputs = through_asinh(tasks.inputs) if self.settings.architecture.rows == "resample" else tasks.inputs
        with self._half_precision():
            if isinstance(self.actor.encoder, MomentsEncoder):
                states, edges = self.actor.encoder.states_and_edges(inputs, tasks.told)
                of_edges = edge_loss(edges, tasks.edges, tasks.common)
            else:
                states = self.actor.encoder(inputs)
        logits = self.actor.logits(states.float(), tasks.orders)
        return set_valued_loss(logits, tasks.orders, tasks.adjacency), of_edges

    def _half_precision(self) -> AbstractContextManager[Any]:
        return torch.autocast("cuda", torch.bfloat16) if self.device.type == "cuda" else nullcontext()

    @torch.no_grad()
    def _average(self) -> None:
        decay = min(self.settings.average, (1 + self.step) / (10 + self.step))
        torch._foreach_lerp_(list(self.averaged.parameters()), list(self.actor.parameters()), 1 - decay)

    def _clock(self, wait: bool) -> float:
        if wait and self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _peak_memory(self) -> float:
        return torch.cuda.max_memory_allocated(self.device) / 2**30 if self.device.type == "cuda" else 0.0

    def state(self) -> dict[str, Any]:
        """Everything that a later run needs to continue as if nothing had happened."""
        return {
            "actor": self.actor.state_dict(),
            "averaged": self.averaged.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "sizes": self.sizes.bit_generator.state,
            "step": self.step,
            "seconds": self.seconds,
            "tasks_seen": self.tasks_seen,
            "best": self.best,
            "best_weights": self.best_weights,
            "validations_since_best": self.validations_since_best,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        for name in ("actor", "averaged", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        self.generator.set_state(state["generator"].cpu())
        self.sizes.bit_generator.state = state["sizes"]
        for name in ("step", "seconds", "tasks_seen", "best", "best_weights", "validations_since_best"):
            setattr(self, name, state[name])


def task_cost(n_variables: int, n_samples: int) -> float:
    """Relative work of a task: values, and pairs, each of which costs about as much as nine values."""
    return n_variables * (n_samples + 9 * n_variables)


def compile_blocks(actor: Actor) -> None:
    """Compile the blocks of the encoder in place; one compilation serves blocks of the same kind and any size."""
    import torch._dynamo  # slow to import, so only where it is asked for

    torch._dynamo.config.suppress_errors = True  # fall back to eager
    for module in actor.encoder.modules():
        if isinstance(module, MomentsBlock | TransformerBlock):
            module.compile(dynamic=True)


def pretrain(settings: PretrainingSettings) -> Iterator[tuple[PretrainingRecord, Pretrainer]]:
    """Pretrain a policy; yields each record with the trainer, whose ``best_actor`` can be saved at any time.

    Examples
    --------
    >>> from precede.pretraining.curriculum import CurriculumSettings
    >>> from precede.pretraining.settings import variant_settings
    >>> from precede.pretraining.validation import ValidationSettings
    >>> settings = variant_settings(
    ...     "default",
    ...     curriculum=CurriculumSettings((4,), (20,)),
    ...     validation=ValidationSettings(n_variables=5, n_samples=20, n_sets=2),
    ...     tasks_per_step=1,
    ...     n_steps=1,
    ... )
    >>> [record.step for record, _ in pretrain(settings)]
    [1]
    """
    trainer = Pretrainer(settings)
    for record in trainer.run():
        yield record, trainer
