"""How functions are compiled: ahead of their first call, kept on disk, without the interpreter's lock."""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

njit: Any = numba.njit  # not all of its options are typed
typeof: Any = numba.typeof
Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
COMPILED = ("runtime/compiled.py", "scores/parents.py", "scores/shape.py", "search/local/*.py")


@cache
def sources() -> str:
    """Digest of the sources that are compiled into each other: what was compiled from others is not taken from disk."""
    files = sorted(path for pattern in COMPILED for path in PACKAGE.glob(pattern))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]


def is_kept() -> bool:
    """Whether something of these sources was compiled before on this machine."""
    folders = [PACKAGE / "scores", Path(os.environ.get("NUMBA_CACHE_DIR") or os.devnull)]
    return any(True for folder in folders if folder.is_dir() for _ in folder.rglob(f"*regressed_{sources()}-*.nbi"))


def compiled(
    signature: Any, *, called_from_python: bool = True, reorders_sums: bool = False
) -> Callable[[Function], Function]:
    """Compile for a signature; kept on disk where there is a place. Sums in another sequence take several at once."""
    options = {
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": not called_from_python,
        "fastmath": {"reassoc", "contract", "arcp", "nsz"} if reorders_sums else False,
    }

    def decorate(function: Function) -> Function:
        function.__qualname__ += f"_{sources()}"  # numba names its files by this, and looks at one source file only
        try:
            return cast(Function, njit(signature, cache=True, **options)(function))
        except RuntimeError:  # neither the package's folder nor the user's can be written to
            return cast(Function, njit(signature, **options)(function))

    return decorate


def inlined(function: Function) -> Function:
    """Compile as part of the functions that call it."""
    return cast(Function, njit(inline="always")(function))
