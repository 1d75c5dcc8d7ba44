"""How code runs: time limits, devices and threads, worker processes, random numbers, progress."""

from precede.lazy import lazy_names, names_in_stub

__getattr__, __dir__, __all__ = lazy_names(__name__, names_in_stub(__file__))
