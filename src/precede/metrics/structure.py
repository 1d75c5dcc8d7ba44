"""How close an estimated graph is to the true one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, overload

import numpy as np

from precede.arrays import BoolArray
from precede.graph import MixedGraph
from precede.graph.equivalence import cpdag
from precede.metrics.alignment import aligned
from precede.metrics.marks import MarkMetrics, evaluate_marks
from precede.metrics.order import share_in_order


@dataclass(frozen=True)
class Metrics:
    """Agreement of an estimated graph with the true one.

    With TP the edges found in the right direction, R the ones found reversed, and P and T the numbers of estimated
    and of true edges (a reversed edge is a wrong one, as in NOTEARS):

    Parameters
    ----------
    shd : int
        Structural Hamming distance: edges to add, to remove or to turn round; a reversed edge counts once.
    tpr, recall : float
        TP / T.
    fdr : float
        (P - TP) / P.
    fpr : float
        (P - TP) / (d (d - 1) - T): wrong edges among the ordered pairs that are not true edges. NOTEARS divides by
        unordered pairs, which can exceed one.
    precision, f1 : float
        TP / P, and the harmonic mean with the recall.
    order_tpr : float
        Share of the true edges that agree with the estimated causal order.
    cpdag_shd : int
        Structural Hamming distance of the two Markov equivalence classes.
    sid, ancestor_aid : int or None
        Structural intervention distance, and ancestor adjustment distance: ordered pairs whose effect would be
        adjusted for wrongly. None without the package ``gadjid`` (``precede[metrics]``).
    n_edges, n_true_edges, n_extra, n_missing, n_reversed : int
        P, T, and what the distance is made of.

    Notes
    -----
    A share of nothing is counted in favor of the estimate: without true edges ``tpr`` and ``order_tpr`` are one,
    without estimated ones ``precision`` is one.
    """

    shd: int
    tpr: float
    fdr: float
    fpr: float
    precision: float
    recall: float
    f1: float
    order_tpr: float
    cpdag_shd: int
    sid: int | None
    ancestor_aid: int | None
    n_edges: int
    n_true_edges: int
    n_extra: int
    n_missing: int
    n_reversed: int

    def to_dict(self) -> dict[str, int | float | None]:
        """Plain numbers by name, JSON-ready."""
        return asdict(self)


@overload
def evaluate(estimated: Any, truth: MixedGraph) -> MarkMetrics: ...


@overload
def evaluate(estimated: Any, truth: Any) -> Metrics: ...


def evaluate(estimated: Any, truth: Any) -> Metrics | MarkMetrics:
    """Compare an estimated graph with the true one.

    Parameters
    ----------
    estimated, truth : CausalGraph, fitted estimator, networkx DiGraph, DataFrame or (n_variables, n_variables) array
        ``[i, j]`` means i -> j. Two graphs with names are matched by name, otherwise by position. A true MixedGraph is
        compared with the estimated one, with a model's ``pag_``, or with what a DAG says where causes may be hidden.

    Returns
    -------
    Metrics or MarkMetrics

    Examples
    --------
    >>> metrics = evaluate([[0, 1, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]])
    >>> metrics.shd, metrics.n_reversed, metrics.n_missing
    (2, 1, 1)
    """
    if isinstance(truth, MixedGraph):
        return evaluate_marks(estimated, truth)
    guess, true = aligned(estimated, truth)
    found, actual = guess.edges, true.edges
    hits = int((found & actual).sum())
    n_found, n_actual = guess.n_edges, true.n_edges
    reversed_ = int((found & actual.T).sum())  # transposed: the true edge leads the other way
    d = guess.n_variables
    precision, recall = _share(hits, n_found, 1.0), _share(hits, n_actual, 1.0)
    distances = _adjustment_distances(found, actual)
    return Metrics(
        shd=_pattern_distance(found, actual),
        tpr=recall,
        fdr=1.0 - precision,
        fpr=_share(n_found - hits, d * (d - 1) - n_actual, 0.0),
        precision=precision,
        recall=recall,
        f1=_share(2 * hits, n_found + n_actual, 1.0),
        order_tpr=share_in_order(guess.positions, actual),
        cpdag_shd=_pattern_distance(cpdag(found), cpdag(actual)),
        sid=distances.get("sid"),
        ancestor_aid=distances.get("ancestor_aid"),
        n_edges=n_found,
        n_true_edges=n_actual,
        n_extra=n_found - hits - reversed_,
        n_missing=n_actual - hits - reversed_,
        n_reversed=reversed_,
    )


def shd(estimated: Any, truth: Any) -> int:
    """Structural Hamming distance; a reversed edge counts once.

    Examples
    --------
    >>> shd([[0, 1], [0, 0]], [[0, 0], [1, 0]])
    1
    """
    guess, true = aligned(estimated, truth)
    return _pattern_distance(guess.edges, true.edges)


def cpdag_shd(estimated: Any, truth: Any) -> int:
    """Structural Hamming distance of the Markov equivalence classes: pairs whose mark differs.

    Examples
    --------
    >>> cpdag_shd([[0, 1], [0, 0]], [[0, 0], [1, 0]])  # equivalent
    0
    """
    guess, true = aligned(estimated, truth)
    return _pattern_distance(cpdag(guess.edges), cpdag(true.edges))


def sid(estimated: Any, truth: Any) -> int | None:
    """Structural intervention distance (Peters and Bühlmann 2015); None without the package ``gadjid``."""
    guess, true = aligned(estimated, truth)
    return _adjustment_distances(guess.edges, true.edges).get("sid")


def _share(part: int, whole: int, of_nothing: float) -> float:
    return part / whole if whole else of_nothing


def _pattern_distance(left: Any, right: Any) -> int:
    """Number of unordered pairs whose marks differ."""
    differs = np.asarray(left, dtype=bool) != np.asarray(right, dtype=bool)
    return int(np.triu(differs | differs.T).sum())  # transposed: a pair differs in either direction


def _adjustment_distances(found: BoolArray, actual: BoolArray) -> dict[str, int]:
    if find_spec("gadjid") is None:
        return {}
    gadjid = import_module("gadjid")
    guess, true = found.astype(np.int8), actual.astype(np.int8)
    measures = {"sid": gadjid.sid, "ancestor_aid": gadjid.ancestor_aid}
    return {
        name: int(measure(true, guess, edge_direction="from row to column")[1]) for name, measure in measures.items()
    }
