"""Data: loading, simulation, bundled data sets."""

from precede.data.datasets import Dataset, load_sachs
from precede.data.load import Table, load_table
from precede.data.simulate import simulate

__all__ = ["Dataset", "Table", "load_sachs", "load_table", "simulate"]
