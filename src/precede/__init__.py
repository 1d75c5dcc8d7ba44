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
    from precede.metrics.structure import Metrics, evaluate
    from precede.report.load import load_results
    from precede.scores.protocol import OrderScore
    from precede.simulation import simulate
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "CORL": "precede.corl",
            "CausalGraph": "precede.graph",
            "Comparison": "precede.comparison",
            "Confidence": "precede.evidence.confidence",
            "DataError": "precede.errors",
            "Dataset": "precede.data.datasets",
            "GraphError": "precede.errors",
            "Knowledge": "precede.knowledge",
            "KnowledgeError": "precede.errors",
            "Metrics": "precede.metrics.structure",
            "MixedGraph": "precede.graph",
            "OptionError": "precede.errors",
            "OrderScore": "precede.scores.protocol",
            "PrecedeError": "precede.errors",
            "Table": "precede.data.table",
            "baselines": "precede.baselines",
            "compare": "precede.comparison",
            "discover": "precede.corl",
            "evaluate": "precede.metrics.structure",
            "load_results": "precede.report.load",
            "load_sachs": "precede.data.datasets",
            "load_table": "precede.data.load",
            "methods": "precede.corl",
            "scores": "precede.scores",
            "simulate": "precede.simulation",
        },
    )
