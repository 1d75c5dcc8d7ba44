"""Causal graphs: the graph itself, what it is written to and read from, and how it is drawn."""

from precede.graph.causal_graph import CausalGraph

__all__ = ["CausalGraph"]
