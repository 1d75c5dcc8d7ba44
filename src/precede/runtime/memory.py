"""Memory: how much a score may take, and what is given back."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

import torch

from precede.errors import check_positive


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
