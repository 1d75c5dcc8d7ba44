"""Causal graphs: the graph itself, what it is written to and read from, and how it is drawn."""

from precede.graph.causal_graph import CausalGraph
from precede.graph.mixed_graph import MixedGraph

__all__ = ["CausalGraph", "MixedGraph"]
