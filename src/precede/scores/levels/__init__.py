"""Scores of columns with levels, and of numbers beside them."""
