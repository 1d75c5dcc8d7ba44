"""Say what the data can tell: each check is a number and one plain sentence."""

from precede.lazy import lazy_names, names_in_stub

__getattr__, __dir__, __all__ = lazy_names(__name__, names_in_stub(__file__))
