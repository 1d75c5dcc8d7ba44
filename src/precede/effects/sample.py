"""From a table to what a graph keeps of it, and from a graph to the numbers it can answer with."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from precede.arrays import FloatArray
from precede.data.kinds import ColumnKind
from precede.data.load import Table, load_table
from precede.errors import DataError, OptionError, listed
from precede.files import write_text
from precede.graph import CausalGraph
from precede.graph.formats import text_of
from precede.graph.sample import Sample
from precede.scores.covariance import covariance
from precede.strict_json import to_json

MOST_ROWS = 5000
"""Rows that a graph keeps, evenly spaced: enough for curves, and a graph stays small."""

MOST_CELLS = 1_000_000
"""Cells that it keeps at most."""

FORMAT, VERSION = "precede-moments", 1


def sample_of(values: FloatArray, kinds: Sequence[ColumnKind] = ()) -> Sample:
    """Moments of all complete rows, and at most ``MOST_ROWS`` of the rows themselves, evenly spaced.

    Examples
    --------
    >>> sample_of(np.array([[0.0, 1.0], [2.0, 5.0]])).covariance
    array([[1., 2.],
           [2., 4.]])
    """
    complete = np.isfinite(values).all(axis=1)
    if not complete.all():
        values = values[complete]
    m, d = values.shape
    kept = np.linspace(0, m - 1, min(m, MOST_ROWS, max(MOST_CELLS // d, 2))).round().astype(np.int64)
    words = frozenset(k for k, kind in enumerate(kinds) if kind.name == "categorical")
    return Sample(m, values.mean(axis=0), covariance(values), values[kept], words)


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
    places = _places(table, graph.names)
    return sample_of(table.values[:, places], [table.kinds[k] for k in places])


def _places(table: Table, names: Sequence[Hashable]) -> list[int]:
    """The table's columns in the order of the graph's variables; by position for a bare array."""
    index = {name: k for k, name in enumerate(table.names)}
    absent = [name for name in names if name not in index]
    if absent and not table.labeled and len(names) == table.n_variables:
        return list(range(table.n_variables))
    if absent:
        raise DataError(f"the data lacks {listed(absent)}, which the graph has.")
    return [index[name] for name in names]


def refuse_words(graph: CausalGraph, sample: Sample, used: Iterable[int]) -> None:
    """Refuse columns of words in a regression on numbers."""
    words = [graph.names[k] for k in used if k in sample.categories]
    if words:
        raise OptionError(
            f"{listed(words)} holds categories, which have no size: an effect per unit needs numbers. Compare its "
            "levels by columns of 0 and 1 of your own."
        )


def moments_to_json(sample: Sample, names: Sequence[Hashable], path: str | os.PathLike[str] | None = None) -> str:
    """JSON with the moments and no row of the data; also written to ``path``."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "names": [str(name) for name in names],
        "n_samples": sample.n_samples,
        "mean": sample.mean.tolist(),
        "covariance": sample.covariance.tolist(),
        "categories": sorted(sample.categories),
    }
    text = to_json(document) + "\n"
    if path is not None:
        write_text(path, text)
    return text


def moments_from_json(source: str | os.PathLike[str]) -> Sample:
    """From the text or the file that :func:`moments_to_json` wrote."""
    try:
        document = json.loads(text_of(source, "{"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"the moments are not valid JSON: {error}.") from None
    if not isinstance(document, dict) or (document.get("format"), document.get("version")) != (FORMAT, VERSION):
        raise DataError(f"the JSON holds no moments that this release reads: format {FORMAT!r}, version {VERSION}.")
    try:
        mean, matrix = np.asarray(document["mean"], dtype=float), np.asarray(document["covariance"], dtype=float)
        words = frozenset(int(k) for k in document["categories"])
        sample = Sample(int(document["n_samples"]), mean, matrix, categories=words)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the moments' JSON is incomplete or misshapen: {error!r}.") from None
    if matrix.shape != (len(mean), len(mean)):
        raise DataError(f"the moments do not fit each other: {len(mean)} means, covariances {matrix.shape}.")
    return sample
