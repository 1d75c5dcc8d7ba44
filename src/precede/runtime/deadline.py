"""How long code runs, and what is seen of it meanwhile.

A search ends by a time limit, Ctrl-C or SIGTERM; whatever comes first, the best order known is kept. Progress is a bar
on a terminal, one log line a minute elsewhere, nothing when silent.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

GRACE = 3.0
"""Seconds after which even the least that makes a result (a table of single parents, a greedy order) ends."""


class OutOfTime(Exception):
    """Work was given up when its deadline passed; nothing came of it."""


class Deadline:
    """A limit on wall-clock seconds; ``None`` passes only when it is cancelled.

    Parameters
    ----------
    max_time : float or None
        Seconds from now on.
    parent : Deadline, optional
        Passes at the latest when this one does.
    clock : callable
        Seconds since some moment.

    Examples
    --------
    >>> whole = Deadline(None)
    >>> part = whole.part(60.0)
    >>> part.passed()
    False
    >>> whole.cancel()
    >>> part.passed()
    True
    """

    def __init__(
        self,
        max_time: float | None,
        parent: Deadline | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.max_time, self._clock = max_time, clock
        self.start = clock()
        self._parent = parent
        self._cancelled = False

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self.start

    def remaining(self) -> float | None:
        """Seconds that are left, 0 at least; None without a limit."""
        own = None if self.max_time is None else max(0.0, self.max_time - self.elapsed())
        if self.cancelled:
            return 0.0
        above = None if self._parent is None else self._parent.remaining()
        return own if above is None else above if own is None else min(own, above)

    def passed(self) -> bool:
        """Whether the time is over, or somebody said stop."""
        return self.remaining() == 0.0

    def check(self) -> None:
        """Give up where the time is over.

        Raises
        ------
        OutOfTime
        """
        if self.passed():
            raise OutOfTime

    def cancel(self) -> None:
        """Let it pass now."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether somebody said stop, here or above."""
        return self._cancelled or (self._parent is not None and self._parent.cancelled)

    def part(self, max_time: float | None = None, *, share: float | None = None) -> Deadline:
        """A deadline within this one: this many seconds from now, or a share of what is left."""
        left = self.remaining()
        if share is not None:
            max_time = None if left is None else share * left
        return Deadline(max_time, self, self._clock)

    def with_grace(self, seconds: float) -> Deadline:
        """A deadline that passes this many seconds after this one was seen to pass: to finish what is cheap."""
        return _Grace(self, seconds, self._clock)


class _Grace(Deadline):
    """Seconds from the moment at which another deadline has passed."""

    def __init__(self, other: Deadline, seconds: float, clock: Callable[[], float]) -> None:
        super().__init__(None, None, clock)
        self._other, self._grace = other, seconds
        self._own: Deadline | None = None

    def remaining(self) -> float | None:
        left = self._other.remaining()
        if self._own is None and left == 0.0:
            self._own = Deadline(self._grace, clock=self._clock)
        if self._own is not None:
            return self._own.remaining()
        return None if left is None else left + self._grace


class Signals:
    """What a block hears of Ctrl-C and SIGTERM.

    Parameters
    ----------
    deadline : Deadline
        Of the block; the first signal lets it pass.
    """

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self.heard = 0
        self._breaking = False

    @contextmanager
    def breaking_off(self) -> Iterator[None]:
        """Within the block a signal raises KeyboardInterrupt at once: for work that looks at no deadline."""
        self._breaking = True
        try:
            if self.deadline.cancelled:
                raise KeyboardInterrupt
            yield
        finally:
            self._breaking = False

    def stop(self) -> None:
        """Take a signal as the block in which it comes wants it."""
        if self.deadline.cancelled or self._breaking:
            raise KeyboardInterrupt
        self.deadline.cancel()
        logger.warning("stopping with what is known so far; press Ctrl-C again to quit now")


_blocks: list[Signals] = []
"""The blocks of :func:`stopped_by_signals` that the main thread is in, the innermost last."""


@contextmanager
def stopped_by_signals(deadline: Deadline) -> Iterator[Signals]:
    """Let Ctrl-C cancel a deadline instead of breaking off; a second one breaks off as usual.

    Blocks may be nested: a signal stops the innermost alone, and the others count it. One that begins after an outer
    one was stopped is stopped from the start. The same holds for SIGTERM and SIGHUP where the program handles
    them (the command line does): a signal that would simply end the process still does. Only the main thread can listen
    to signals: elsewhere nothing changes.
    """
    block = Signals(deadline)
    if threading.current_thread() is not threading.main_thread():
        yield block
        return
    if any(outer.deadline.cancelled for outer in _blocks):
        deadline.cancel()
    try:
        _blocks.append(block)
        with nullcontext() if len(_blocks) > 1 else _listening():
            yield block
    finally:
        if block in _blocks:
            _blocks.remove(block)


@contextmanager
def _listening() -> Iterator[None]:
    """Let signals reach the blocks; before and after, they do what they did."""
    known = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = {number: signal.getsignal(number) for number in known}
    earlier = {number: handler for number, handler in handlers.items() if callable(handler)}

    def hear(number: int, frame: FrameType | None) -> None:
        for block in _blocks:
            block.heard += 1
        _blocks[-1].stop()

    for number in earlier:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


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
