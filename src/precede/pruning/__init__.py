"""Pruning: from a causal order to a causal graph."""
