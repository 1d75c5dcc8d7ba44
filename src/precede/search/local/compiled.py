"""How functions of this package are compiled, and for which type of argument."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types

from precede.search.local.arrays import Arrays

njit: Any = numba.njit  # not all of its options are typed
Function = TypeVar("Function", bound=Callable[..., Any])


def array(kind: Any, n_dimensions: int) -> Any:
    """Type of an array whose values lie one after another."""
    return types.Array(kind, n_dimensions, "C")


ARRAYS = cast(Any, types.NamedTuple)(
    [
        array(types.float64, 3), array(types.boolean, 3), array(types.float64, 2), array(types.int64, 2),
        array(types.float64, 2), array(types.float64, 1),
        array(types.float64, 2), array(types.int64, 2), array(types.float64, 1), array(types.int64, 1),
        array(types.int64, 2), array(types.float64, 1), array(types.boolean, 1), array(types.int16, 1),
        array(types.int64, 1),
    ],
    Arrays,
)  # fmt: skip
"""The one type of argument that is compiled for."""


HERE = Path(__file__).parent
COMPILED = [
    *(HERE / name for name in ("arrays.py", "compiled.py", "states.py", "variances.py", "walk.py", "numba_ready.py")),
    HERE.parents[1] / "scores" / "shape.py",  # its constants are compiled in
]
SOURCES = hashlib.sha256(b"".join(path.read_bytes() for path in COMPILED)).hexdigest()[:8]
"""Digest of all that is compiled here: what was compiled from other sources is not taken from disk."""


def compiled(*arguments: Any) -> Callable[[Function], Function]:
    """Compile for :class:`Arrays` and these arguments, to a whole number."""
    return compiled_for(types.int64(ARRAYS, *arguments), called_from_python=len(arguments) <= 2)


def compiled_for(signature: Any, *, called_from_python: bool = True) -> Callable[[Function], Function]:
    """Compile for a signature, to run without the interpreter's lock; kept on disk where there is a place."""
    options = {
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": not called_from_python,
    }

    def decorate(function: Function) -> Function:
        function.__qualname__ += f"_{SOURCES}"  # numba names its files by this, and looks at one source file only
        try:
            return cast(Function, njit(signature, cache=True, **options)(function))
        except RuntimeError:  # neither the package's folder nor the user's can be written to
            return cast(Function, njit(signature, **options)(function))

    return decorate


def inlined(function: Function) -> Function:
    """Compile as part of the functions that call it."""
    return cast(Function, njit(inline="always")(function))
