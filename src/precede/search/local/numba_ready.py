"""Compiled: next to nothing. Importing this makes numba ready, which takes half a second, whatever comes next."""

from __future__ import annotations

from numba import types

from precede.search.local.compiled import compiled_for


@compiled_for(types.int64(types.int64))
def same(number: int) -> int:
    """The number itself."""
    return number
