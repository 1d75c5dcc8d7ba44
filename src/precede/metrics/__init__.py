"""Metrics: distance to a true graph, agreement of orders, sortability."""

from precede.metrics.sortability import r2_sortability, sortability, var_sortability
from precede.metrics.structure import MarkMetrics, Metrics, cpdag_shd, evaluate, order_tpr, shd, sid

__all__ = [
    "MarkMetrics",
    "Metrics",
    "cpdag_shd",
    "evaluate",
    "order_tpr",
    "r2_sortability",
    "shd",
    "sid",
    "sortability",
    "var_sortability",
]
