"""The search for the best order: quick starts, polish, and reinforcement learning while it pays.

Every phase may be cut short by the deadline (a time limit, Ctrl-C, SIGTERM): the best order known is the result, and
it is never worse than any order that was scored. The record says who found what. Observers see the records of training.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.policy.actor import TrainedPolicy
from precede.policy.prediction import Pretrained
from precede.runtime import GRACE, Deadline, OutOfTime, all_threads, logger, one_thread
from precede.scores.policy_prior import PolicyScore
from precede.scores.protocol import OrderScore
from precede.search import local
from precede.search.checkpoint import CheckpointFile
from precede.search.exact import exact_order
from precede.search.learner import Learner
from precede.search.local import greedy_order
from precede.search.polish import default_restarts, do_without_policy, polish
from precede.search.record import SearchRecord
from precede.search.settings import SearchSettings
from precede.search.train import READ_EVERY, IterationRecord, Trainer
from precede.ties import exceeds


class Observer(Protocol):
    """What is called after every iteration: progress bar, TensorBoard, checkpoint, or a function of your own."""

    def __call__(self, record: IterationRecord, trainer: Trainer, /) -> None:
        """Look at the iteration's record, and at the training's state."""


def run_observed(
    trainer: Trainer, observers: Sequence[Observer], within: Deadline | None = None
) -> tuple[list[IterationRecord], bool]:
    """Run the loop before observers; Ctrl-C or a cancelled deadline ends it and keeps what it has found.

    Returns
    -------
    records : list of IterationRecord
    interrupted : bool
    """
    records: list[IterationRecord] = []
    try:
        for (record,) in trainer.run(within):  # a fit is one run
            if record is None:
                continue
            records.append(record)
            for observer in observers:
                observer(record, trainer)
    except KeyboardInterrupt:
        logger.warning("interrupted after %d iterations; the best order so far is kept", trainer.iteration)
        return records, True
    return records, within is not None and within.cancelled


@contextmanager
def tensorboard(folder: str) -> Iterator[list[Observer]]:
    """An observer that writes one point on each curve to a folder's event file, closed at the end."""
    try:
        writer = import_module("torch.utils.tensorboard").SummaryWriter(folder)
    except ImportError:
        raise OptionError(f"tensorboard={folder!r} needs the package tensorboard: install it first.") from None

    def see(record: IterationRecord, trainer: Trainer) -> None:
        for name, value in asdict(record).items():
            if name != "iteration":
                writer.add_scalar(name, value, record.iteration)

    try:
        yield [see]
    finally:
        writer.close()


SHARED_FROM = 64
"""Variables from which a training step on a CPU is shared between threads: below, its operations are too small."""

GREEDY_SHARE = 0.2
"""Part of the time left that the greedy order may take."""

LOOK_SHARE = 0.3
"""Part of the time left within which a pretrained policy must have looked at the data; else it is not asked."""


@dataclass(frozen=True)
class SearchResult:
    """The order that the search ended with, how it got there, and the policy, where one has looked at the data."""

    order: IntArray
    record: SearchRecord
    history: list[IterationRecord] = field(default_factory=list)
    policy: TrainedPolicy | None = None


@dataclass(eq=False)
class OrderSearch:
    """Search for the best order of a score.

    Parameters
    ----------
    score : OrderScore
    values : (n_samples, n_variables) array
        What the policy looks at.
    constraints : Constraints
    settings : SearchSettings
    rng : numpy Generator
    deadline : Deadline
    pretrained : Pretrained, optional
        A policy to start from: its order is polished beside the greedy one, and in training it learns from what polish
        makes of its proposals. Without one, a policy is trained from scratch, and learns from its own orders only.

    Notes
    -----
    More iterations never end lower: nothing that is done depends on how many there will be. Polish comes first, then
    the proposals of every :data:`~precede.search.train.READ_EVERY` iterations are polished, and the last, shorter group
    counts as it is.
    """

    score: OrderScore
    values: FloatArray
    constraints: Constraints
    settings: SearchSettings
    rng: np.random.Generator
    deadline: Deadline
    pretrained: Pretrained | None = None

    def __post_init__(self) -> None:
        self._learner: Learner | None = None
        self._starts: dict[str, tuple[IntArray, float]] = {}
        self._order: IntArray | None = None
        self._polished: float | None = None
        self._was_hurried = False
        self.record = SearchRecord(-math.inf, self.settings.kind, self.settings.why)

    def run(self, observers: Sequence[Observer] = (), checkpoint: CheckpointFile | None = None) -> SearchResult:
        """Search, with observers of the training, and a checkpoint to save it to and go on from."""
        history: list[IterationRecord] = []
        if self.settings.kind == "exact":
            self._exact()
            return self._result(history)
        self._phase(self._quick_starts, always=True)
        if not self._leaves_out_the_policy():
            self._look()
        if self.settings.polish or self._learner is None:
            self._phase(self._polish)
        if self._learner is None:
            return self._result(history)
        if checkpoint is not None:
            history += checkpoint.load_into(self.trainer)
            self._take_over(history)
        self._decide()
        if self.record.kind == "policy":
            history += self._train(observers, checkpoint)
            self._take_over(history)
        return self._result(history)

    # -- phases ------------------------------------------------------------------------------------------------

    def _phase(self, work: Callable[[], None], always: bool = False) -> None:
        """Do a piece of work while there is time; Ctrl-C ends it and everything after it."""
        if self.deadline.passed() and not always:
            return
        try:
            with self._threads(compiled=self.score.moves() is not None):
                work()
        except KeyboardInterrupt:
            logger.warning("interrupted; the best order so far is kept")
            self.deadline.cancel()

    def _threads(self, compiled: bool = False) -> Any:
        small = self.score.device.type == "cpu" and self.score.n_variables < SHARED_FROM
        return one_thread() if small or compiled else all_threads()

    def _exact(self) -> None:
        """Dynamic programming instead of a policy; the greedy order where it is cut short."""
        try:
            optimum = exact_order(self.score, self.constraints, self.deadline)
        except OutOfTime:
            self._was_hurried = True
            self._take("local", "exact search was cut short: a greedy order")
            order = greedy_order(self.score, self.constraints, self.deadline.with_grace(GRACE))
            self.record.greedy_score = self.score.score_of(order)
            self._offer(order, self.record.greedy_score)
        else:
            self.record.exact = True
            self._offer(optimum.order, optimum.score)

    def _quick_starts(self) -> None:
        """The greedy order, and the one that was given."""
        part = self.deadline.part(share=GREEDY_SHARE).with_grace(GRACE)
        order = greedy_order(self.score, self.constraints, part)
        score = self.score.score_of(order)
        self._start("greedy", order, score)
        self.record.greedy_score = None if part.passed() else score
        if self.settings.initial_order is not None and not self.deadline.passed():
            order = self.constraints.nearest_order(self.settings.initial_order)
            self._start("given", order, self.score.score_of(order))

    def _look(self) -> None:
        """Make the networks, and start from the order that a pretrained policy finds most likely, if there is time."""
        within = self.deadline.part(share=LOOK_SHARE)
        # the paper's result is the policy's own, so that it looks in any case
        limited = self.settings.polish and self.pretrained is not None and self._order is not None
        try:
            with self._threads():
                self._learner = learner = Learner(
                    self.score, self.values, self.settings.training, self.constraints, self.rng, self.pretrained,
                    within=within if limited else None,
                )  # fmt: skip
        except OutOfTime:
            self._was_hurried = True
            self._take("local", "it was cut short before the policy had looked at the data")
            return
        if self.pretrained is not None:
            order, score = learner.order.cpu().numpy(), learner.order_score
            self.record.policy_order, self.record.policy_score = order.tolist(), score
            self._start("policy", order, score)

    def _polish(self) -> None:
        """Climb from every start, with restarts where they are asked for."""
        score, restarts = self.score, self.settings.n_restarts
        if restarts is None:
            restarts = default_restarts(score)
        chases = score.identifies == "cpdag" and local.are_cheap(score.moves())
        first, *others = [order for order, _ in sorted(self._starts.values(), key=lambda start: -start[1])]
        found = polish(
            score, first, self.constraints, others=others, n_restarts=restarts,
            n_chases=restarts if chases else 0,
            rng=self.rng, deadline=self.deadline,
        )  # fmt: skip
        self._offer(found.order, found.score)
        self._polished = self.record.best_score
        self.record.polish_moves = found.n_moves
        self.record.polish_gain = self._polished - max(score for _, score in self._starts.values())
        self.record.climbs_agree = found.agreed if others and not self.deadline.passed() else None

    def _leaves_out_the_policy(self) -> bool:
        """Whether local search is all there is; what was asked for stands."""
        settings = self.settings
        if settings.kind == "policy":
            return False
        if settings.kind != "none" and settings.is_wide and do_without_policy(self.score):
            if settings.kind == "auto":
                self._take("local", "restarts of local search find as much in so wide a table, in less time")
            return True
        return self.pretrained is None or not settings.first_look

    def _decide(self) -> None:
        """Which search to take, and why; "auto" trains where local search leaves a question open and there is time."""
        if self.settings.kind != "auto":
            return
        if self.learner.iteration:
            self._take("policy", "the checkpoint's training is continued")
        elif isinstance(self.score, PolicyScore):
            self._take("local", "the score judges edges one by one, so that there is nothing to learn")
        elif self.deadline.passed():
            self._take("local", "no time was left to train")
        elif self.record.climbs_agree:
            self._take("local", "local searches from the policy's and from the greedy order agree")
        elif local.are_cheap(self.score.moves()):
            self._take("local", "its restarts find more than training does in the same time")
        else:
            self._take("policy", "local searches from different starts ended at different scores")

    def _take(self, kind: str, why: str) -> None:
        self.record.kind, self.record.why = kind, why

    def _train(self, observers: Sequence[Observer], checkpoint: CheckpointFile | None) -> list[IterationRecord]:
        """Algorithm 1, before its observers."""
        if self.settings.polish and self.pretrained is not None and self._order is not None:
            self.trainer.best.offer_one(*self.best)
            if self.trainer.iteration == 0:  # else a checkpoint has said what patience waits for
                self.learner.patience.expect(self.record.best_score)
        ours = [self._polish_proposals] if self.settings.polish else []
        saves = [] if checkpoint is None else [checkpoint.see]
        with self._threads():
            records, interrupted = run_observed(self.trainer, [*ours, *observers, *saves], self.deadline)
        if interrupted:
            self.deadline.cancel()
        elif checkpoint is not None:
            checkpoint.save(self.trainer)
        return records

    def _polish_proposals(self, record: IterationRecord, trainer: Trainer) -> None:
        """Polish the best order of each group of iterations; a pretrained policy learns from it."""
        if record.iteration != trainer.iteration or record.iteration % READ_EVERY:
            return  # in the middle of a group
        proposal = trainer.proposal.take()
        if self.deadline.passed():
            return
        found = polish(self.score, proposal, self.constraints, deadline=self.deadline)
        self.record.polish_moves = (self.record.polish_moves or 0) + found.n_moves
        if not self._offer(found.order, found.score):
            return
        trainer.improved.offer_one(*self.best)
        if self.pretrained is not None:
            trainer.best.offer_one(*self.best)
            trainer.imitate(trainer.best.order())

    def _take_over(self, history: Sequence[IterationRecord]) -> None:
        """Keep what training has found, now or before a checkpoint."""
        known = [] if self.record.policy_score is None else [self.record.policy_score]
        self.record.policy_score = max([*known, *(record.batch_best for record in history)], default=None)
        own, improved = self.trainer.best.known(), self.trainer.improved.known()
        if own is not None and self.pretrained is None:
            self.record.policy_order, self.record.policy_score = own[0].tolist(), own[1]
        for found in (own, improved):
            if found is not None:
                self._offer(*found)

    # -- the best so far ---------------------------------------------------------------------------------------

    def _start(self, name: str, order: IntArray, score: float) -> None:
        self._starts[name] = order, score
        if self.settings.polish or name == "policy":  # the paper's result is the policy's own
            self._offer(order, score)

    @property
    def learner(self) -> Learner:
        """The networks, once a policy has looked at the data."""
        assert self._learner is not None
        return self._learner

    @cached_property
    def trainer(self) -> Trainer:
        """The state of the training, made when there is any."""
        return Trainer([self.learner])

    @property
    def best(self) -> tuple[IntArray, float]:
        """Best order so far, and its score."""
        assert self._order is not None
        return self._order, self.record.best_score

    def _offer(self, order: IntArray, score: float) -> bool:
        better = self._order is None or exceeds(score, self.record.best_score)
        if better:
            self._order, self.record.best_score = order, score
        return better

    def _result(self, records: list[IterationRecord]) -> SearchResult:
        if self._order is None:  # nothing of its own: what was scored, or any order
            order = self.constraints.nearest_order(np.arange(self.score.n_variables))
            self._offer(*(self._starts.get("greedy") or (order, self.score.score_of(order))))
        order, best = self.best
        if self._polished is not None and records:
            self.record.rl_gain = best - self._polished
        learner, policy = self._learner, None
        if learner is not None:
            self.record.iterations = learner.iteration
            policy = TrainedPolicy(learner.actor, learner.inputs, learner.before, self.score)
        self.record.end(self.deadline, self._was_hurried or (self.deadline.passed() and not self.record.exact))
        return SearchResult(order, self.record, records, policy)
