"""Precede learns which variable precedes which."""

from typing import TYPE_CHECKING

from precede.lazy import lazy_names

__version__ = "0.1.0"

__all__ = [
    "CORL",
    "CausalGraph",
    "Comparison",
    "Confidence",
    "Dataset",
    "Knowledge",
    "Metrics",
    "PrecedeError",
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
    from precede.confidence import Confidence
    from precede.data.datasets import Dataset, load_sachs
    from precede.data.load import load_table
    from precede.discovery import CORL, discover, methods
    from precede.errors import PrecedeError
    from precede.graph import CausalGraph
    from precede.knowledge import Knowledge
    from precede.metrics.structure import Metrics, evaluate
    from precede.report.load import load_results
    from precede.simulation import simulate
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "CORL": "precede.discovery",
            "CausalGraph": "precede.graph",
            "Comparison": "precede.comparison",
            "Confidence": "precede.confidence",
            "Dataset": "precede.data.datasets",
            "Knowledge": "precede.knowledge",
            "Metrics": "precede.metrics.structure",
            "PrecedeError": "precede.errors",
            "baselines": "precede.baselines",
            "compare": "precede.comparison",
            "discover": "precede.discovery",
            "evaluate": "precede.metrics.structure",
            "load_results": "precede.report.load",
            "load_sachs": "precede.data.datasets",
            "load_table": "precede.data.load",
            "methods": "precede.discovery",
            "scores": "precede.scores",
            "simulate": "precede.simulation",
        },
    )
