"""How often the edges come back on resampled data, as a check and beside each edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.diagnostics.check import Check, counted, some
from precede.diagnostics.record import Diagnostics, Remark

UNSTABLE = 0.5
"""Edges that come back in fewer of the resamples are called unstable."""

NAME = "unstable edges"


def with_shares(
    diagnostics: Diagnostics,
    edges: BoolArray,
    shares: FloatArray,
    names: Sequence[Hashable],
    n_resamples: int = 0,
    remarks: Sequence[str] = (),
) -> Diagnostics:
    """The record with the share of resamples that have each edge, in place of any it had before.

    Parameters
    ----------
    diagnostics : Diagnostics
    edges : (n_variables, n_variables) bool array
        The graph.
    shares : (n_variables, n_variables) float array
        ``[i, j]`` for i -> j.
    names : sequence
    n_resamples : int
        0 where it is not known.
    remarks : sequence of str
        What happened while resampling.
    """
    readings = tuple(
        replace(
            reading,
            confidence=float(shares[reading.cause, reading.effect]),
            connected=min(float(shares[reading.cause, reading.effect] + shares[reading.effect, reading.cause]), 1.0),
        )
        for reading in diagnostics.edges
    )
    others = tuple(check for check in diagnostics.checks if check.name != NAME)
    return replace(
        diagnostics,
        remarks=(*diagnostics.remarks, *(Remark(sentence) for sentence in remarks)),
        checks=(stability(edges, shares, names), *others),
        edges=readings,
        resamples=n_resamples,
        resampled=True,
    )


def stability(edges: BoolArray, confidence: FloatArray, names: Sequence[Hashable]) -> Check:
    """Compare a graph with the probability of each edge, ``[i, j]`` for i -> j.

    Examples
    --------
    >>> edges = np.array([[0, 1], [0, 0]], dtype=bool)
    >>> stability(edges, np.array([[0, 0.3], [0.6, 0]]), ["rain", "wet"]).sentence
    '1 of 1 edge came back in fewer than half of the resamples (rain -> wet); in at least half came 1
    edge that the graph lacks (wet -> rain).'
    """

    def named(chosen: BoolArray) -> list[str]:
        return [f"{names[i]} -> {names[j]}" for i, j in np.argwhere(chosen)]

    unstable, absent = named(edges & (confidence < UNSTABLE)), named(~edges & (confidence >= UNSTABLE))
    details = {"unstable": unstable, "absent": absent}
    n = int(edges.sum())
    lacking = f"{counted(len(absent), 'edge')} that the graph lacks ({some(absent)})"
    if not unstable:
        more = f"; so did {lacking}" if absent else ""
        sentence = f"Every one of the {n} edges came back in at least half of the resamples (0 unstable){more}."
        if n == 0:
            more = f"; in at least half of the resamples came {lacking}" if absent else ""
            sentence = f"The graph has no edge that could be unstable{more}."
        return Check(NAME, 0.0, sentence, "note" if absent else "fine", details)
    more = f"; in at least half came {lacking}" if absent else ""
    sentence = (
        f"{len(unstable)} of {counted(n, 'edge')} came back in fewer than half of the resamples "
        f"({some(unstable)}){more}."
    )
    return Check(NAME, float(len(unstable)), sentence, "warning" if len(unstable) > n / 4 else "note", details)
