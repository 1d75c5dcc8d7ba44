"""Imports that wait until they are used: the one place where Precede puts off an import.

A page of help needs none of the numerical packages and a first look needs only some, while to import them all takes
seconds. So a package's names can be looked up when first asked for (:func:`lazy_names`, PEP 562), and pandas and
networkx, which even the graph at the bottom of the tree speaks of, come through this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class LazyModule(ModuleType):
    """Stands for a module and imports it when one of its names is first asked for.

    Examples
    --------
    >>> LazyModule("math").sqrt(4.0)
    2.0
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package whose names live in other modules.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        Public name to the module that defines it; a name whose home is ``package.name`` is that module itself.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        found = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, found)  # so that it is found at once the next time
        return found

    return find, lambda: sorted({*vars(sys.modules[package]), *homes})


if TYPE_CHECKING:
    import networkx as networkx
    import pandas as pandas
else:
    networkx, pandas = LazyModule("networkx"), LazyModule("pandas")
