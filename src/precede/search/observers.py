"""Observers of training: what may be done with its records while it runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from typing import Protocol

from precede.errors import OptionError
from precede.runtime.deadline import Deadline
from precede.runtime.progress import logger
from precede.search.train import IterationRecord, Trainer


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
