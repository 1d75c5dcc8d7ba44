"""The end of a search: a time limit, Ctrl-C or SIGTERM. Whatever comes first, the best order known is kept."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from precede.runtime.progress import logger


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

    def cancel(self) -> None:
        """Let it pass now."""
        self._cancelled = True

    @property
    def cancelled(self) -> bool:
        """Whether somebody said stop, here or above."""
        return self._cancelled or (self._parent is not None and self._parent.cancelled)

    def part(self, max_time: float | None = None, *, share: float | None = None) -> Deadline:
        """A deadline within this one: so many seconds from now, or a share of what is left."""
        left = self.remaining()
        if share is not None:
            max_time = None if left is None else share * left
        return Deadline(max_time, self, self._clock)


@contextmanager
def stopped_by_signals(deadline: Deadline) -> Iterator[None]:
    """Let Ctrl-C cancel a deadline instead of breaking off; a second one breaks off as usual.

    The same holds for SIGTERM where the program handles it (the command line does): a signal that would simply end the
    process still does. Only the main thread can listen to signals: elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    earlier = {number: handler for number, handler in handlers.items() if callable(handler)}

    def stop(number: int, frame: FrameType | None) -> None:
        if deadline.cancelled:
            restore()
            signal.raise_signal(number)
            return
        deadline.cancel()
        logger.warning("stopping with the best order so far; once more breaks off at once")

    def restore() -> None:
        for number, handler in earlier.items():
            signal.signal(number, handler)

    for number in earlier:
        signal.signal(number, stop)
    try:
        yield
    finally:
        restore()
