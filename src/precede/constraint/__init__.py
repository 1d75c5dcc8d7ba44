"""Methods that other packages bring: PC, GES and FCI from causal-learn (``precede[constraint]``)."""

from precede.constraint.methods import FCI, GES, PC
from precede.estimator import CausalEstimator

CONSTRAINT_METHODS: dict[str, type[CausalEstimator]] = {"pc": PC, "ges": GES, "fci": FCI}
"""Name to estimator, as the command line spells them."""

__all__ = ["CONSTRAINT_METHODS", "FCI", "GES", "PC"]
