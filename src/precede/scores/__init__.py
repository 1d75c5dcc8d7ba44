"""Scores of orders, a module for each: ``precede.scores.linear`` is imported when it is first asked for."""

from pkgutil import iter_modules
from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from precede.lazy import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(__name__, {item.name: __name__ for item in iter_modules(__path__)})
