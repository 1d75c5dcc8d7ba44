"""The machine: which device to compute on, how many threads, how much memory."""

import ctypes
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from precede.errors import OptionError, check_positive, refusing

DeviceName = str | torch.device
"""What an estimator takes as ``device``."""


def choose_device(device: DeviceName) -> torch.device:
    """Turn the ``device`` option into a device; ``"auto"`` takes a GPU when there is one.

    Examples
    --------
    >>> choose_device("cpu")
    device(type='cpu')
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    unknown = f"device={device!r} is unknown: 'auto', 'cpu' and 'cuda' work."
    with refusing((RuntimeError, TypeError), OptionError, unknown):
        chosen = torch.device(device)
    if chosen.type not in ("cpu", "cuda"):
        raise OptionError(f"device={str(device)!r} cannot be used: the scores need 'cpu' or 'cuda' (double precision).")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        there = f"{torch.cuda.device_count()} GPUs" if torch.cuda.is_available() else "no GPU"
        raise OptionError(f"device={str(device)!r} was asked for, but this machine has {there}: 'auto' and 'cpu' work.")
    return chosen


@contextmanager
def training_on(device: torch.device) -> Iterator[None]:
    """Work on a device; on a GPU, float32 products of matrices have TF32 precision within the block.

    That is what cuDNN gives an LSTM anyway; double precision, and so every score, stays as it is.
    """
    if device.type != "cuda":
        yield
        return
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with torch.cuda.device(device):
            yield
    finally:
        torch.set_float32_matmul_precision(precision)


class _Threads:
    """Counts the blocks on one thread: a thread has its number of threads back when the outermost of its own ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._own = threading.local()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Compute on one thread within the block.

        Rounding, and so the result, then does not depend on the number of cores; and many small operations do not wait
        for a core that another program keeps busy.
        """
        with self._lock:
            if self._open == 0:
                self._torch, self._others = torch.get_num_threads(), threadpool_limits(1)
            self._open += 1
            self._own.depth = getattr(self._own, "depth", 0) + 1
            torch.set_num_threads(1)  # holds for the thread that calls it
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                self._own.depth -= 1
                if self._own.depth == 0:
                    torch.set_num_threads(self._torch)
                if self._open == 0:
                    self._others.restore_original_limits()

    @contextmanager
    def all(self) -> Iterator[None]:
        """Let torch have all threads within the block, also within :meth:`one`: for few and large operations."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.available())
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def available(self) -> int:
        """The number of threads outside of all blocks."""
        with self._lock:
            return self._torch if self._open else torch.get_num_threads()

    def stay(self) -> None:
        """Keep a forked process at one thread: those of its parent are not there, and work given to them would wait."""
        self._lock, self._torch = threading.Lock(), 1
        torch.set_num_threads(1)
        threadpool_limits(1)


_THREADS = _Threads()
one_thread, all_threads = _THREADS.one, _THREADS.all
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.stay)


def pool_of_threads(n_tasks: int) -> ThreadPoolExecutor:
    """Threads to share independent pieces of work, each of which computes on one thread; open it in :func:`one_thread`.

    A block of :func:`one_thread` in each piece would not do: when the first of them ends, torch's linear algebra has
    many threads again, everywhere.
    """
    n_threads = max(1, min(n_tasks, _THREADS.available()))
    return ThreadPoolExecutor(n_threads, initializer=lambda: torch.set_num_threads(1))


def give_back_memory() -> None:
    """Let the system have the memory that was freed, where the C library can do that (glibc).

    It keeps what large and short-lived arrays took, as a network's do, and what comes next would be added to it.
    """
    with suppress(OSError, AttributeError, TypeError):  # no such function, or no library to look in
        ctypes.CDLL(None).malloc_trim(0)


SHARE = 0.5
"""Part of the free memory that a score takes when nothing is said."""

UNKNOWN = 4 * 2**30
"""Assumed free where the system does not tell."""


def memory_budget(memory_limit: float | None, device: torch.device) -> int:
    """Bytes that a score may use on its device: the limit given, else half of what is free now.

    Examples
    --------
    >>> memory_budget(1e9, torch.device("cpu"))
    1000000000
    """
    if memory_limit is not None:
        check_positive("memory_limit", memory_limit)
        return int(memory_limit)
    if device.type == "cuda":
        return int(SHARE * torch.cuda.mem_get_info(device)[0])
    return int(SHARE * _free_memory())


def size_in_words(n_bytes: float) -> str:
    """Bytes for a message.

    Examples
    --------
    >>> size_in_words(3.2e9), size_in_words(2.5e6)
    ('3.2 GB', '2.5 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def _free_memory() -> int:
    """Free bytes of this machine, or of its container where that has a limit of its own."""
    free = UNKNOWN
    table = Path("/proc/meminfo")
    if table.exists():
        lines = dict(line.split(":", 1) for line in table.read_text().splitlines() if ":" in line)
        free = int(lines["MemAvailable"].split()[0]) * 1024
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and used.exists() and limit.read_text().strip() != "max":
        free = min(free, int(limit.read_text()) - int(used.read_text()))
    return max(free, 0)
