"""Training on TensorBoard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from typing import Any

from precede.errors import OptionError
from precede.search.train import IterationRecord, Trainer


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
