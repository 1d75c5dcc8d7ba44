"""Memory that is no longer needed."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back_memory() -> None:
    """Let the system have the memory that was freed, where the C library can do that (glibc).

    It keeps what large and short-lived arrays took, as a network's do, and what comes next would be added to it.
    """
    with suppress(OSError, AttributeError, TypeError):  # no such function, or no library to look in
        ctypes.CDLL(None).malloc_trim(0)
