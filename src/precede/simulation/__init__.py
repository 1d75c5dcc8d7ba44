"""Simulated data with known graphs: what users ask for by :func:`simulate`, and what the policy is pretrained on.

Every part makes a batch of data sets at once, as tensors (batch, n_variables, n_samples); a data set for a user is a
batch of one, drawn from NumPy's generator.
"""

from precede.simulation.dataset import SEMS, simulate

__all__ = ["SEMS", "simulate"]
