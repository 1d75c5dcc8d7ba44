"""Precede learns which variable precedes which."""

from precede.lazy import lazy_names, names_in_stub

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(__name__, names_in_stub(__file__))
