"""Observers of training: what may be done with its records while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from typing import Any, Protocol

from precede.errors import OptionError
from precede.runtime.deadline import Deadline
from precede.runtime.progress import ProgressBar, logger
from precede.search.train import IterationRecord, Trainer


class Observer(Protocol):
    """Progress bar, TensorBoard, checkpoint, or anything of your own."""

    def see(self, record: IterationRecord, trainer: Trainer) -> None:
        """After every iteration."""

    def finish(self, trainer: Trainer) -> None:
        """After the last one; not where training was interrupted."""


class ProgressObserver:
    """Show best and mean score on a progress bar."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar

    def see(self, record: IterationRecord, trainer: Trainer) -> None:
        self._bar.update(record.iteration, best_score=record.best_score, mean_score=record.mean_score)

    def finish(self, trainer: Trainer) -> None:
        """Nothing more to show."""


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
                observer.see(record, trainer)
    except KeyboardInterrupt:
        logger.warning("interrupted after %d iterations; the best order so far is kept", trainer.iteration)
        return records, True
    if within is not None and within.cancelled:
        return records, True
    for observer in observers:
        observer.finish(trainer)
    return records, False


class TensorBoard:
    """Scalars for TensorBoard; without a folder it does nothing."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    @classmethod
    @contextmanager
    def opened(cls, folder: str | None) -> Iterator[TensorBoard]:
        """Open the folder's event file and close it at the end."""
        if folder is None:
            yield cls(None)
            return
        try:
            writer = import_module("torch.utils.tensorboard").SummaryWriter(folder)
        except ImportError:
            raise OptionError(f"tensorboard={folder!r} needs the package tensorboard: install it first.") from None
        try:
            yield cls(writer)
        finally:
            writer.close()

    def see(self, record: IterationRecord, trainer: Trainer) -> None:
        """One point on each curve."""
        if self._writer is None:
            return
        for name, value in asdict(record).items():
            if name != "iteration":
                self._writer.add_scalar(name, value, record.iteration)

    def finish(self, trainer: Trainer) -> None:
        """The file is closed with its context."""
