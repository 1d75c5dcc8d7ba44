"""Static figures with matplotlib: the learning curve and the adjacency. (The graph itself: ``CausalGraph.plot``.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from precede.errors import OptionError
from precede.graph import CausalGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCENT, QUIET = "#1f5f8b", "#7b8691"


def plot_graph(graph: CausalGraph, ax: Axes | None = None) -> Axes:
    """The graph, causes to the left; what :meth:`precede.CausalGraph.plot` draws."""
    return graph.plot(ax)


def plot_learning_curve(history: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Best and mean score by iteration.

    Parameters
    ----------
    history : DataFrame
        ``model.history_``, with columns ``iteration``, ``best_score`` and where there is one ``mean_score``.
    ax : matplotlib Axes, optional
    """
    if not {"iteration", "best_score"} <= set(history.columns):
        raise OptionError("the history has no columns 'iteration' and 'best_score': the method keeps no scores.")
    axes = _axes(ax, (6.0, 3.0))
    if "mean_score" in history:
        axes.plot(history["iteration"], history["mean_score"], color=QUIET, linewidth=0.9, label="mean of the batch")
    axes.plot(history["iteration"], history["best_score"], color=ACCENT, linewidth=1.8, label="best so far")
    axes.set_xlabel("iteration")
    axes.set_ylabel("score")
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def plot_heatmap(graph: CausalGraph, ax: Axes | None = None) -> Axes:
    """Weights in causal order, causes in rows: an edge is always above the diagonal.

    Parameters
    ----------
    graph : CausalGraph
    ax : matplotlib Axes, optional
    """
    axes = _axes(ax, (5.0, 5.0))
    order = graph.positions
    weights = np.nan_to_num(graph.strengths[np.ix_(order, order)])
    largest = float(np.abs(weights).max()) or 1.0
    axes.imshow(weights, cmap="RdBu", vmin=-largest, vmax=largest)
    labels = [str(name) for name in graph.order]
    size = float(np.clip(300 / max(len(labels), 1), 3, 9))
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=size)
    axes.set_yticks(range(len(labels)), labels, fontsize=size)
    axes.set_xlabel("effect")
    axes.set_ylabel("cause")
    return axes


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=size)[1]
