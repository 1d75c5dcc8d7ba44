"""Progress of long work: a bar on a terminal, one log line a minute elsewhere, nothing when silent."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

logger = logging.getLogger("precede")

SECONDS_BETWEEN_LOG_LINES = 60.0


@dataclass(frozen=True)
class Step:
    """How far some work has come.

    Parameters
    ----------
    label : str
        What is being done.
    done : int
    total : int or None
    figures : dict
        What people watch: best score, loss.
    """

    label: str
    done: int
    total: int | None
    figures: dict[str, float | str]


_listeners: list[Callable[[object], None]] = []


@contextmanager
def subscribe(listener: Callable[[object], None]) -> Iterator[None]:
    """Let a function hear all news of the fits inside: every :class:`Step`, and the graph as soon as there is one.

    Examples
    --------
    >>> from precede import baselines, simulate
    >>> heard = []
    >>> with subscribe(heard.append):
    ...     found = baselines.EqVar().fit(simulate(n_variables=3, degree=1, random_state=0).data)
    >>> bool((heard[-1].edges == found.graph_.edges).all())
    True
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def emit(news: object) -> None:
    """Tell every listener something."""
    for listener in _listeners:
        listener(news)


class ProgressBar:
    """Show the steps of a loop; a context manager.

    Parameters
    ----------
    label : str
        What is being done, in a word or two.
    total : int or None
        Number of steps, None when unknown.
    verbose : bool
        False shows nothing at all.
    """

    def __init__(self, label: str, total: int | None, verbose: bool) -> None:
        self.label, self.total, self.verbose = label, total, verbose
        self._bar: Progress | None = None
        self._last_line = time.perf_counter()

    def __enter__(self) -> ProgressBar:
        if self.verbose and sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[figures]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.label, total=self.total, figures="")
        return self

    def update(self, step: int, **figures: float | str) -> None:
        """Say that ``step`` steps are done, with the figures that people watch (best score, loss)."""
        emit(Step(self.label, step, self.total, figures))
        if not self.verbose:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=step, figures=_figures(figures))
        elif time.perf_counter() - self._last_line > SECONDS_BETWEEN_LOG_LINES:
            self._last_line = time.perf_counter()
            of = f"/{self.total}" if self.total else ""
            logger.info("%s: %d%s %s", self.label, step, of, _figures(figures))

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _figures(figures: dict[str, float | str]) -> str:
    return "  ".join(
        f"{name.replace('_', ' ')} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in figures.items()
    )
