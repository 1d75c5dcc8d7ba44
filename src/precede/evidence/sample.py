"""From a table to what a graph keeps of it, and from a graph to the numbers it can answer with."""

import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.data.load import Table, load_table
from precede.data.missing import Gaps
from precede.data.table import evenly_spaced, filled_table
from precede.errors import DataError, listed
from precede.graph import CausalGraph
from precede.graph.formats import text_of
from precede.graph.parts import Moments, Sample, Setting
from precede.kinds import ColumnKind, indicator_blocks
from precede.scores.covariance import covariance
from precede.strict_json import checked, document, parsed, to_json

MOST_ROWS = 5000
"""Rows that a graph keeps, evenly spaced: enough for curves, and a graph stays small."""

MOST_CELLS = 1_000_000
"""Cells that it keeps at most."""

FEWEST_IN_SETTING = 5
"""Rows with the same variables set from which their moments are kept: those of fewer would tell the rows."""

MOST_SETTING_CELLS = 4_000_000
"""Cells of the moments of all settings; of more settings, those with the most rows are kept."""

MOST_PATTERNS = 5000
"""Patterns of missing cells that are kept; rows of rarer ones count as rows without any cell."""

FORMAT, VERSION = "precede-moments", 4


def sample_of(
    values: FloatArray, kinds: Sequence[ColumnKind] = (), targets: BoolArray | None = None, gaps: Gaps | None = None
) -> Sample:
    """Moments of all complete rows, and at most ``MOST_ROWS`` of the rows themselves, evenly spaced.

    Parameters
    ----------
    values : (n_samples, n_variables) float array
    kinds : sequence of ColumnKind
    targets : (n_samples, n_variables) bool array, optional
        What was set in each row.
    gaps : Gaps, optional
        Where cells were missing. The moments are then those by EM, not those of what was drawn to fill the gaps; with
        interventions, those of the rows without any.

    Examples
    --------
    >>> sample_of(np.array([[0.0, 1.0], [2.0, 5.0]])).covariance
    array([[1., 2.],
           [2., 4.]])
    """
    if gaps is not None and gaps.how != "em":  # moments from pairs of columns fit each other too badly for an error
        gappy = Table(np.where(gaps.mask, np.nan, values), tuple(range(values.shape[1])), False, kinds=tuple(kinds))
        filled = filled_table(gappy, "em")
        values, gaps = filled.values, filled.gaps
    complete = np.isfinite(values).all(axis=1)
    if not complete.all():
        values = values[complete]
        targets = None if targets is None else targets[complete]
    m, d = values.shape
    kept = evenly_spaced(m, min(MOST_ROWS, max(MOST_CELLS // d, 2)))
    columns = indicator_blocks(values, kinds)[0] if any(kind.name == "categorical" for kind in kinds) else values
    sample = Sample(m, columns.mean(axis=0), covariance(columns), values[kept], tuple(kinds))
    if targets is not None:
        whole = slice(None) if gaps is None else ~gaps.mask.any(axis=1)
        return replace(sample, settings=_settings(columns[whole], targets[whole]), row_targets=targets[kept])
    if gaps is None:
        return sample
    return replace(sample, mean=gaps.mean, covariance=gaps.covariance, absent=_absent(gaps.mask))


def _absent(mask: BoolArray) -> tuple[tuple[frozenset[int], int], ...]:
    """The patterns of missing cells, the most frequent first."""
    patterns, counts = np.unique(mask, axis=0, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:MOST_PATTERNS]
    return tuple((frozenset(np.flatnonzero(patterns[k]).tolist()), int(counts[k])) for k in frequent)


def _settings(values: FloatArray, targets: BoolArray) -> tuple[Setting, ...]:
    """The moments by what was set, the most frequent setting first."""
    patterns, which, counts = np.unique(targets, axis=0, return_inverse=True, return_counts=True)
    most = max(MOST_SETTING_CELLS // values.shape[1] ** 2, 1)
    found = []
    for k in np.argsort(-counts, kind="stable")[:most]:
        if counts[k] >= FEWEST_IN_SETTING:
            rows = values[np.ravel(which) == k]
            columns = frozenset(np.flatnonzero(patterns[k]).tolist())
            found.append(Setting(len(rows), rows.mean(axis=0), covariance(rows), columns))
    return tuple(found)


def sample_for(graph: CausalGraph, data: Any) -> Sample:
    """What to answer from: the data that is given, in the graph's column order, else what the graph kept."""
    if data is None:
        if graph.sample is None:
            raise DataError(
                "the graph has no data to put numbers to its arrows: give it as data=..., or ask the graph_ of a "
                "fitted model."
            )
        return graph.sample
    if isinstance(data, Sample):
        return data
    table = load_table(data)
    if table.targets is None and graph.sample is not None and graph.sample.settings is not None:
        raise DataError(
            "the graph was learned from rows in which variables were set, and the data do not say what was set: give "
            "them as precede.load_table(data, interventions=...), or leave them out."
        )
    own = columns_in_order(table, graph.names)
    return sample_of(own.values, own.kinds, own.targets, own.gaps)


def columns_in_order(table: Table, names: Sequence[Hashable]) -> Table:
    """The table with the columns that a graph has, in the graph's order."""
    return table.rearranged(np.arange(table.n_samples), np.array(_places(table, names), dtype=np.int64))


def _places(table: Table, names: Sequence[Hashable]) -> list[int]:
    """The table's columns in the order of the graph's variables; by position for a bare array."""
    index = {name: k for k, name in enumerate(table.names)}
    absent = [name for name in names if name not in index]
    if absent and not table.labeled and len(names) == table.n_variables:
        return list(range(table.n_variables))
    if absent:
        raise DataError(f"the data lacks {listed(absent)}, which the graph has.")
    return [index[name] for name in names]


def moments_to_json(sample: Sample, names: Sequence[Hashable]) -> str:
    """JSON with the moments and no row of the data."""
    moments = {name: value for name, value in vars(sample).items() if name not in ("rows", "row_targets")}
    content = {"format": FORMAT, "version": VERSION, "names": [str(name) for name in names], **moments}
    return to_json(content) + "\n"


def moments_from_json(source: str | os.PathLike[str]) -> Sample:
    """From the text or the file that :func:`moments_to_json` wrote."""
    what = "the file of moments"
    sample = checked(document(parsed(text_of(source, "{"), what), FORMAT, VERSION, what), Sample, what)
    d, width = sample.n_variables, len(sample.owner)
    places = [*(part.targets for part in sample.settings or ()), *(columns for columns, _ in sample.absent or ())]
    if not all(0 <= k < d for columns in places for k in columns):
        raise DataError(f"the moments name columns that are not there: they are of {d} columns.")
    if not all(len(kind.levels) == len(kind.labels) and kind.n_levels != 1 for kind in sample.kinds):
        raise DataError("the moments have levels without a name: repeat 'precede discover'.")
    parts: list[Moments] = [sample, *(sample.settings or ())]
    if any(own.mean.shape != (width,) or own.covariance.shape != (width, width) for own in parts):
        raise DataError(f"the moments do not fit each other: they are to be of {width} columns.")
    return sample
