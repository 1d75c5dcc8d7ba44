"""Texts that stand for missing values, and the numbers among them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from precede.arrays import FloatArray

NA_MARKERS = ("", "?", "-", "--", ".", "NA", "N/A", "n/a", "n.a.", "nan", "NaN", "null", "NULL", "#N/A")
"""Texts that stand for a missing value."""


def numbers_among(na: Collection[str]) -> list[float]:
    """Numbers among the texts that stand for a missing value.

    Examples
    --------
    >>> numbers_among(["NA", "nan", "-999", "1e6"])
    [-999.0, 1000000.0]
    """
    return [float(text) for text in na if spells_number(text)]


def spells_number(text: str) -> bool:
    """Whether a text in a file is a number; "nan" is none."""
    try:
        return "_" not in text and not math.isnan(float(text))
    except ValueError:
        return False


def blanked(values: FloatArray, numbers: Sequence[float]) -> FloatArray:
    """The values with NaN for numbers that stand for missing ones; the same array where there are none."""
    marked = np.isin(values, numbers) if numbers else None
    if marked is None or not marked.any():
        return values
    values = np.array(values, order="K")
    values[marked] = np.nan
    return values
