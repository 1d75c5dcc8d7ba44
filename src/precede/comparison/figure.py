"""The figure of a comparison: pairs in rows, graphs in columns, arrows in the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from precede.lazy import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PAIRS = 40
"""Rows that a page can hold; the most disputed pairs are shown."""


def agreement_grid(table: pd.DataFrame, labels: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw the table of a comparison.

    Parameters
    ----------
    table : DataFrame
        As :attr:`precede.comparison.Comparison.table`.
    labels : sequence of str
        The graphs.
    ax : matplotlib Axes, optional
        A new figure when left out.
    """
    import matplotlib.pyplot as plt

    shown = table.head(MOST_PAIRS)
    columns = [*labels, "consensus"]
    if ax is None:
        size = (1.6 + 0.8 * len(columns), 1.4 + 0.28 * max(len(shown), 1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    code = {"->": 1.0, "<-": -1.0, "--": np.nan, "": 0.0}
    cells = np.array([[code[row[name]] for name in columns] for row in shown.to_dict("records")]).reshape(
        -1, len(columns)
    )
    ax.imshow(cells, cmap="RdBu", vmin=-2.5, vmax=2.5, aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        mark = "–" if np.isnan(value) else "→" if value > 0 else "←" if value < 0 else ""
        ax.text(column, row, mark, ha="center", va="center", fontsize=9)
    ax.axvline(len(labels) - 0.5, color="black", linewidth=1)
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    ax.set_yticks(range(len(shown)), [f"{row['first']} – {row['second']}" for row in shown.to_dict("records")])
    ax.tick_params(length=0)
    hidden = len(table) - len(shown)
    ax.set_title("Which way the arrow points, the most disputed pairs first" + (f" ({hidden} more)" if hidden else ""))
    return ax
