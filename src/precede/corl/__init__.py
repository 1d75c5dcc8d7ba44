"""From a table to a causal graph: the CORL estimator, its pipeline on one page, and every method by name."""

from precede.corl.estimator import CORL, CORL1, CORL2, discover, make_method, methods

__all__ = ["CORL", "CORL1", "CORL2", "discover", "make_method", "methods"]
