"""Precede learns which variable precedes which."""

from typing import TYPE_CHECKING

from precede.lazy import lazy_names

__version__ = "0.1.0"

__all__ = [
    "CORL",
    "CausalGraph",
    "Comparison",
    "Confidence",
    "DataError",
    "Dataset",
    "GraphError",
    "Knowledge",
    "KnowledgeError",
    "Metrics",
    "MixedGraph",
    "OptionError",
    "OrderScore",
    "PrecedeError",
    "Table",
    "baselines",
    "compare",
    "discover",
    "evaluate",
    "load_results",
    "load_sachs",
    "load_table",
    "methods",
    "scores",
    "simulate",
]

if TYPE_CHECKING:
    from precede import baselines, scores
    from precede.comparison import Comparison, compare
    from precede.corl import CORL, discover, methods
    from precede.data.datasets import Dataset, load_sachs
    from precede.data.load import load_table
    from precede.data.table import Table
    from precede.errors import DataError, GraphError, KnowledgeError, OptionError, PrecedeError
    from precede.evidence.confidence import Confidence
    from precede.graph import CausalGraph, MixedGraph
    from precede.knowledge import Knowledge
    from precede.metrics import Metrics, evaluate
    from precede.report.load import load_results
    from precede.scores.protocol import OrderScore
    from precede.simulation import simulate
else:
    HOMES = {
        "precede.baselines": "baselines",
        "precede.comparison": "Comparison compare",
        "precede.corl": "CORL discover methods",
        "precede.data.datasets": "Dataset load_sachs",
        "precede.data.load": "load_table",
        "precede.data.table": "Table",
        "precede.errors": "DataError GraphError KnowledgeError OptionError PrecedeError",
        "precede.evidence.confidence": "Confidence",
        "precede.graph": "CausalGraph MixedGraph",
        "precede.knowledge": "Knowledge",
        "precede.metrics": "Metrics evaluate",
        "precede.report.load": "load_results",
        "precede.scores": "scores",
        "precede.scores.protocol": "OrderScore",
        "precede.simulation": "simulate",
    }
    __getattr__, __dir__ = lazy_names(__name__, {name: home for home, names in HOMES.items() for name in names.split()})
