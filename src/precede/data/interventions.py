"""Interventions: which variables were set in which rows, read from a column, a list or a matrix."""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Sequence
from typing import Any

import numpy as np

from precede.arrays import BoolArray
from precede.errors import DataError, joined, listed
from precede.lazy import pandas as pd

NO_TARGET = ("", "none", "no", "-", "control", "observational", "nan")
"""Words for a row in which nothing was set."""

SEPARATORS = re.compile(r"[;,|+]")


def read_targets(interventions: Any, n_rows: int, names: Sequence[Hashable]) -> BoolArray:
    """Targets of each row.

    Parameters
    ----------
    interventions : sequence, or matrix
        For each row the name of the variable that was set, several of them (a list, or a text with ``;``), or nothing
        (None, NaN, an empty text, "none", "observational"). Or a matrix (n_rows, n_variables) of 0 and 1; a DataFrame
        may have the columns that were ever set only.
    n_rows : int
    names : sequence
        Of the variables.

    Returns
    -------
    targets : (n_rows, n_variables) bool array

    Examples
    --------
    >>> read_targets(["", "b", "a;b"], 3, ["a", "b"]).astype(int)
    array([[0, 0],
           [0, 1],
           [1, 1]])
    """
    place = {name: k for k, name in enumerate(names)}
    if isinstance(interventions, pd.DataFrame):
        unknown = [name for name in interventions.columns if name not in place]
        _refuse_unknown(unknown, names)
        targets = np.zeros((len(interventions), len(names)), dtype=bool)
        targets[:, [place[name] for name in interventions.columns]] = interventions.to_numpy() != 0
    elif isinstance(interventions, np.ndarray) and interventions.ndim == 2:
        targets = np.asarray(interventions != 0)
    else:
        cells, known = list(interventions), {str(name): k for name, k in place.items()}
        named = [names_in(cell, known) for cell in cells]
        _refuse_unknown(list(dict.fromkeys(name for row in named for name in row if name not in known)), names)
        targets = np.zeros((len(cells), len(names)), dtype=bool)
        for row, found in enumerate(named):
            targets[row, [known[name] for name in found]] = True
    if targets.shape != (n_rows, len(names)):
        raise DataError(
            f"interventions speak of {targets.shape[0]} rows and {targets.shape[1]} variables, the data has {n_rows} "
            f"and {len(names)}."
        )
    always = [names[int(k)] for k in np.flatnonzero(targets.all(axis=0))]
    if always:
        raise DataError(
            f"{listed(always)} was set in every row: nothing can be learned about its causes, so name it as a root "
            "(knowledge) instead."
        )
    return targets


def names_in(cell: Any, known: Container[str]) -> list[str]:
    """Names that a cell holds, but for words that say that nothing was set; a name with a separator in it is itself."""
    if isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        return [str(name) for name in cell]
    if cell is None or (isinstance(cell, float) and np.isnan(cell)) or cell is pd.NA:
        return []
    text = str(cell).strip()
    parts = [text] if text in known else [part.strip() for part in SEPARATORS.split(text)]
    return [part for part in parts if part in known or part.lower() not in NO_TARGET]


def _refuse_unknown(unknown: Sequence[Hashable], names: Sequence[Hashable]) -> None:
    if unknown:
        raise DataError(
            f"interventions name {listed(unknown)}, which is not a variable (the variables are {listed(names, 20)}): "
            "where it is not known what was set, keep the column in the table and name it as a root (knowledge)."
        )


def remark_on_targets(targets: BoolArray, names: Sequence[Hashable]) -> str:
    """How many rows were set, and what."""
    rows = targets.any(axis=1).sum()
    counts = joined(f"{names[int(k)]!r} ({targets[:, k].sum()})" for k in np.flatnonzero(targets.any(axis=0)))
    return (
        f"{rows:,} of {len(targets):,} rows are interventional: {counts}. What explains a variable is learned "
        "from the rows in which it was not set."
    )
