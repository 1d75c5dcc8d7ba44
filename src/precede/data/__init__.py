"""Data: loading, simulation, bundled data sets."""
