"""Results people can read and machines too: summarize to a dictionary, render to one HTML file."""

from precede.lazy import lazy_names, names_in_stub

__getattr__, __dir__, __all__ = lazy_names(__name__, names_in_stub(__file__))
