"""From a table to a causal graph: the CORL estimator, its pipeline on one page, and every method by name."""

from precede.discovery.corl import CORL
from precede.discovery.methods import discover, every_method, make_method, methods

__all__ = ["CORL", "discover", "every_method", "make_method", "methods"]
