"""One figure of everything: each published number against ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from precede.experiments.verdicts import LEAST_CELLS, Entry

BASELINES = "baselines"
GROUPS = {"corl-1": "CORL-1", "corl-2": "CORL-2"}
COLORS = {BASELINES: "#b8bcc0", "CORL-1": "#0b6e99", "CORL-2": "#c0562a"}
OTHER_DATA = ("gp-20-joint", "gp-20-additive")
"""Experiments on data that is known not to be the paper's."""
PANELS = {"shd": "SHD (lower is better)", "tpr": "TPR (higher is better)"}


def compared(entries: Mapping[str, Sequence[Entry]], metric: str) -> Iterable[tuple[Entry, str]]:
    """Numbers of which both are there, with the group of their method."""
    for name, found in entries.items():
        for entry in found if name not in OTHER_DATA else ():
            own = "tpr" if entry.metric == "order_tpr" else entry.metric
            if own == metric and entry.mean is not None and entry.published is not None:
                yield entry, GROUPS.get(entry.method, BASELINES)


def draw_overview(entries: Mapping[str, Sequence[Entry]], path: Path) -> bool:
    """Write the figure; False without matplotlib.

    Parameters
    ----------
    entries : mapping from experiment to its entries
    path : Path
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        return False
    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9.0, 4.4), layout="constrained")
        for axis, (metric, title) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
            _panel(axis, list(compared(entries, metric)), metric)
            axis.set_title(title, fontsize=9)
            axis.set_xlabel("published")
            axis.set_ylabel("ours")
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        # without a date in the file, the same results give the same figure
        figure.savefig(path, dpi=150, bbox_inches="tight", metadata={"Software": None})
    return True


def _panel(axis: Any, found: Sequence[tuple[Entry, str]], metric: str) -> None:
    """A dot for each number, hollow where fewer than three data sets were run; the line is where both are equal."""
    for group in COLORS:
        dots = [entry for entry, its in found if its == group]
        for whole in (True, False):
            some = [entry for entry in dots if (entry.n_done >= min(LEAST_CELLS, entry.n_planned)) == whole]
            face = COLORS[group] if whole else "none"
            axis.scatter(
                [entry.published.mean for entry in some if entry.published],
                [entry.mean for entry in some],
                s=16, facecolors=face, edgecolors=COLORS[group], linewidths=0.8, zorder=2 + (group != BASELINES),
                label=f"{group} ({len(dots)})" if whole else None,
            )  # fmt: skip
    if metric == "shd":
        axis.set_xscale("symlog", linthresh=1)
        axis.set_yscale("symlog", linthresh=1)
        limits = (-0.2, 2000.0)
    else:
        limits = (-0.03, 1.03)
    axis.plot(limits, limits, color="black", lw=0.7, zorder=1)
    axis.set_xlim(*limits)
    axis.set_ylim(*limits)
