"""Precede learns which variable precedes which."""

from precede import baselines, scores
from precede.confidence import Confidence
from precede.data.datasets import Dataset, load_sachs
from precede.data.load import load_table
from precede.data.simulate import simulate
from precede.discovery import CORL, discover, methods
from precede.errors import PrecedeError
from precede.graph import CausalGraph
from precede.knowledge import Knowledge
from precede.metrics.structure import Metrics, evaluate

__version__ = "0.1.0"

__all__ = [
    "CORL",
    "CausalGraph",
    "Confidence",
    "Dataset",
    "Knowledge",
    "Metrics",
    "PrecedeError",
    "baselines",
    "discover",
    "evaluate",
    "load_sachs",
    "load_table",
    "methods",
    "scores",
    "simulate",
]
