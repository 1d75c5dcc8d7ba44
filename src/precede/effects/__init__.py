"""From a graph to numbers: effects, possible effects, effects over resampled graphs, and what-if questions."""

from precede.lazy import lazy_names, names_in_stub

__getattr__, __dir__, __all__ = lazy_names(__name__, names_in_stub(__file__))
