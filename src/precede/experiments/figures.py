"""Figures of an experiment: dots with error bars beside the paper's, learning curves with bands, and one overview."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from precede.experiments.cells import Experiment
from precede.experiments.ledger import Record
from precede.experiments.verdicts import LABELS, LEAST_CELLS, Entry

PANELS_PER_ROW = 4
WIDE = 20
OURS, PAPERS = "#0b6e99", "#c0562a"
CURVES = {"mean_score": "mean of a batch", "best_score": "best so far"}


@contextmanager
def _drawn(path: Path, font_size: int, width: float, height: float) -> Iterator[Any]:
    """A figure to draw on, written at the end; without a date in the file, the same results give the same figure."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"font.size": font_size, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        if figure.axes:
            handles, names = figure.axes[0].get_legend_handles_labels()
            figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        figure.savefig(path, dpi=150, bbox_inches="tight", metadata={"Software": None})


def draw_figure(experiment: Experiment, entries: Sequence[Entry], cells: Sequence[Record], path: Path) -> bool:
    """Write the figure; False when nothing was run."""
    if not any(entry.mean is not None for entry in entries):
        return False
    curves = [record for record in cells if record.get("curve")]
    if curves:
        with _drawn(path, 8, 8.4, 3.4 * len(experiment.data)) as figure:
            _curves(figure, experiment, curves)
        return True
    panels = [(metric, data.name) for metric in experiment.metrics for data in experiment.data]
    across = min(PANELS_PER_ROW, len(experiment.data) if len(experiment.data) > 1 else len(panels))
    down = -(-len(panels) // across)
    with _drawn(path, 8, 1.6 + 2.1 * across, (0.6 + 0.19 * len(experiment.methods)) * down + 0.4) as figure:
        axes = np.atleast_1d(figure.subplots(down, across, sharey=True, squeeze=False)).ravel()
        _dots(axes, panels, experiment, entries)
    return True


def _dots(axes: Any, panels: Sequence[tuple[str, str]], experiment: Experiment, entries: Sequence[Entry]) -> None:
    """A panel per metric and data setting; a line per method, ours filled and the paper's hollow."""
    methods = [method.name for method in experiment.methods]
    for axis, (metric, data) in zip(axes, panels, strict=False):
        for entry in entries:
            if entry.metric == metric and entry.data == data:
                _dot(axis, entry, methods.index(entry.method))
        _scale(axis, metric, [entry for entry in entries if (entry.metric, entry.data) == (metric, data)])
        axis.set_title(f"{LABELS.get(metric, metric)}, {data}", fontsize=8)
        axis.set_yticks(range(len(methods)), methods)
        axis.set_ylim(len(methods) - 0.5, -0.5)
        axis.grid(axis="x", alpha=0.3)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    axes[0].plot([], [], "o", color=OURS, label="ours")
    axes[0].plot([], [], "D", color=PAPERS, mfc="none", label="paper")


def _scale(axis: Any, metric: str, entries: Sequence[Entry]) -> None:
    """Shares from 0 to 1; other numbers from 0 up, by powers of ten where they differ by more than :data:`WIDE`."""
    if metric in ("tpr", "order_tpr"):
        axis.set_xlim(-0.04, 1.05)
        return
    means = [entry.mean for entry in entries if entry.mean is not None]
    means += [entry.published.mean for entry in entries if entry.published is not None]
    if means and max(means) > WIDE * max(min(means), 1.0):
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xlim(left=-0.25)
    elif means:
        axis.set_xlim(-0.04 * max(means), 1.15 * max(means) + 0.1)


def _dot(axis: Any, entry: Entry, line: int) -> None:
    if entry.published is not None:
        width = entry.published.std or 0.0
        axis.errorbar(entry.published.mean, line + 0.18, xerr=width, fmt="D", ms=3, mfc="none", color=PAPERS, lw=0.8)
    if entry.mean is not None:
        axis.errorbar(entry.mean, line - 0.18, xerr=entry.std or 0.0, fmt="o", ms=3.5, color=OURS, lw=0.8)


def _curves(figure: Any, experiment: Experiment, records: Sequence[Record]) -> None:
    """Two panels per data setting: mean of a batch and best so far, below the greedy order; bands hold all seeds."""
    for row, data in zip(figure.subplots(len(experiment.data), 2, squeeze=False), experiment.data, strict=True):
        for axis, (column, title) in zip(row, CURVES.items(), strict=True):
            for k, method in enumerate(experiment.methods):
                chosen = [r for r in records if r["key"].split("/")[:2] == [data.name, method.name]]
                if chosen:
                    iterations, values = common_curve(chosen, column)
                    low, high = values.min(axis=0), values.max(axis=0)
                    axis.plot(iterations, values.mean(axis=0), color=f"C{k}", label=method.name, lw=1.2)
                    axis.fill_between(iterations, low, high, color=f"C{k}", alpha=0.2, lw=0)
            axis.axhline(0.0, color="black", lw=0.6)
            axis.set_xscale("log")
            axis.set_yscale("symlog", linthresh=1)
            axis.set_ylim(top=2)
            axis.set_title(f"{title}, {data.name}", fontsize=8)
            axis.set_xlabel("iteration")
        row[0].set_ylabel("score minus the greedy order's")


def common_curve(records: Sequence[Record], column: str) -> tuple[np.ndarray, np.ndarray]:
    """Bring the curves of several seeds to common iterations; one that ended early stays where it was.

    Returns
    -------
    iterations : (n_points,) array
    values : (n_records, n_points) array
        The column minus the greedy order's score.
    """
    iterations = np.unique(np.concatenate([record["curve"]["iteration"] for record in records]))
    values = [
        np.interp(iterations, record["curve"]["iteration"], record["curve"][column]) - record["metrics"]["greedy_score"]
        for record in records
    ]
    return iterations, np.array(values)


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


def draw_overview(entries: Mapping[str, Sequence[Entry]], path: Path) -> None:
    """Write the figure of published against ours, from the entries of each experiment."""
    with _drawn(path, 9, 9.0, 4.4) as figure:
        for axis, (metric, title) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
            _panel(axis, list(compared(entries, metric)), metric)
            axis.set_title(title, fontsize=9)
            axis.set_xlabel("published")
            axis.set_ylabel("ours")


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
