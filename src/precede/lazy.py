"""Imports that wait until they are used: the one place where Precede puts off an import.

A page of help needs none of the numerical packages and a first look needs only some, while to import them all takes
seconds. So a package's names can be looked up when first asked for (:func:`lazy_names`, PEP 562) in the modules that a
stub beside it names, for type checkers too (SPEC 1 of Scientific Python). And pandas and networkx, which even the graph
at the bottom of the tree speaks of, come through this module, as do scipy and joblib.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any


@contextmanager
def without_collections() -> Iterator[None]:
    """Do not look for garbage within the block, which is meant for imports.

    An import makes a great many objects that stay, and Python looks through all there are each time they have become
    a quarter more. Of a fit of 20 variables, imports included, that was a seventh of the time. Of blocks in several
    threads the one that stopped the collector starts it again.
    """
    worked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if worked:
            if not gc.get_freeze_count():  # frozen and thawed, objects are old: looked at only with all the others
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class LazyModule(ModuleType):
    """Stands for a module and imports it when one of its names is first asked for.

    Examples
    --------
    >>> LazyModule("math").sqrt(4.0)
    2.0
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules.get(self.__name__) or import_module(self.__name__), name)


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose public names live in other modules.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        Public name to the module that defines it; one whose home is the package itself is a module of it.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with without_collections():
            if homes[name] == package:
                found: Any = import_module(f"{package}.{name}")
            else:
                found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)  # so that it is found at once the next time
        return found

    return find, lambda: sorted(homes), list(homes)


def names_in_stub(file: str) -> dict[str, str]:
    """Public names of a package and the modules that define them, as the stub beside its ``__init__.py`` says."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {name.name: str(line.module) for line in imports for name in line.names}


if TYPE_CHECKING:
    import joblib as joblib
    import networkx as networkx
    import pandas as pandas
    from scipy import linalg as linalg
    from scipy import sparse as sparse
    from scipy import special as special
else:
    joblib, networkx, pandas = LazyModule("joblib"), LazyModule("networkx"), LazyModule("pandas")
    linalg, special, sparse = (LazyModule(f"scipy.{name}") for name in ("linalg", "special", "sparse"))
