"""How close an estimated graph or order is to the true one, edge by edge and mark by mark; and sortability."""

import operator
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import DataError, GraphError, listed
from precede.graph import CausalGraph, MixedGraph
from precede.graph.ancestral import ARROW, TAIL, definite_ancestors
from precede.graph.dags import cpdag, full_dag, topological_order


@dataclass(frozen=True)
class MarkMetrics:
    """Agreement of two graphs with marks, such as an estimated PAG and the true one.

    Precision is the share of what was found that is true, recall the share of what is true that was found; a share of
    nothing is one.

    Parameters
    ----------
    shd : int
        Pairs of variables with another edge: one is missing, superfluous, or has another mark at an end.
    adjacency_precision, adjacency_recall : float
        Of the edges, whatever their marks.
    arrow_precision, arrow_recall : float
        Of the arrowheads ("does not cause").
    tail_precision, tail_recall : float
        Of the tails ("causes").
    ancestor_precision, ancestor_recall : float
        Of the pairs that a directed path joins.
    """

    shd: int
    adjacency_precision: float
    adjacency_recall: float
    arrow_precision: float
    arrow_recall: float
    tail_precision: float
    tail_recall: float
    ancestor_precision: float
    ancestor_recall: float

    @property
    def adjacency_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _harmonic(self.adjacency_precision, self.adjacency_recall)

    @property
    def arrow_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _harmonic(self.arrow_precision, self.arrow_recall)

    def to_dict(self) -> dict[str, int | float]:
        """Plain numbers by name, JSON-ready."""
        return {**asdict(self), "adjacency_f1": self.adjacency_f1, "arrow_f1": self.arrow_f1}


def evaluate_marks(estimated: Any, true: MixedGraph) -> MarkMetrics:
    """Compare a MixedGraph, a fitted model or a DAG with the true marks, matched by name."""
    graph = getattr(estimated, "graph_", estimated)
    if not isinstance(graph, MixedGraph):
        dag = as_graph(graph)
        graph = dag.pag if dag.pag is not None else MixedGraph.from_dag(dag).pag()
    if set(graph.names) != set(true.names):
        raise GraphError(
            f"the estimated graph is over {listed(graph.names)} and the true one over {listed(true.names)}: "
            "they must be over the same variables."
        )
    where = [graph.position(name) for name in true.names]
    here, there = graph.ends[np.ix_(where, where)], true.ends
    parts = [(here != 0, there != 0), (here == ARROW, there == ARROW), (here == TAIL, there == TAIL)]
    parts.append((definite_ancestors(here), definite_ancestors(there)))
    shares: list[float] = []
    apart = ~np.eye(len(here), dtype=bool)
    for guess, truth in parts:
        hits, found, actual = (int((each & apart).sum()) for each in (guess & truth, guess, truth))
        shares += [_share(hits, found), _share(hits, actual)]
    return MarkMetrics(_pattern_distance(here, there), *shares)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def aligned(estimated: Any, truth: Any) -> tuple[CausalGraph, CausalGraph]:
    """Both as graphs over the same variables in the truth's column order."""
    guess, true = as_graph(estimated), as_graph(truth)
    if guess.n_variables != true.n_variables:
        raise GraphError(
            f"the estimated graph has {guess.n_variables} variables and the true one {true.n_variables}: "
            "they must be over the same ones."
        )
    if guess.names == true.names:
        return guess, true
    nameless = tuple(range(true.n_variables))
    if set(guess.names) == set(true.names):
        where = [guess.names.index(name) for name in true.names]
    elif nameless in (guess.names, true.names):
        where = list(nameless)
    else:
        strange = [name for name in guess.names if name not in set(true.names)]
        lacking = [name for name in true.names if name not in set(guess.names)]
        raise GraphError(
            f"the estimated graph has {listed(strange)} where the true one has {listed(lacking)}: "
            "they must be over the same variables."
        )
    grid, positions = np.ix_(where, where), np.argsort(where)[guess.positions]
    moved = CausalGraph.from_matrix(guess.edges[grid], guess.strengths[grid], positions, true.names)
    return moved, true


def as_graph(graph: Any) -> CausalGraph:
    """A graph from any of the accepted forms; a fitted estimator gives its ``graph_``."""
    graph = getattr(graph, "graph_", graph)
    if hasattr(graph, "is_directed"):  # networkx
        return CausalGraph.from_networkx(graph)
    return graph if isinstance(graph, CausalGraph) else CausalGraph.from_matrix(graph)


def share_in_order(order: IntArray, edges: BoolArray) -> float:
    """Share of the edges that lead forward in an order of column positions; one without edges."""
    return _share(int((edges & full_dag(order)).sum()), int(edges.sum()))


def order_tpr(order: CausalGraph | Sequence[Hashable] | IntArray | Any, truth: Any) -> float:
    r"""True positive rate of an ordering: share of the true edges in the order's full DAG.

    :math:`|\{i \to j : i \text{ before } j\}| / |\{i \to j\}|`.

    Parameters
    ----------
    order : sequence of names or column positions, CausalGraph or fitted estimator
        Causes first; a graph gives its own order.
    truth : CausalGraph, DataFrame or (n_variables, n_variables) array

    Examples
    --------
    >>> order_tpr([1, 0, 2], [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    0.6666666666666666
    """
    true = as_graph(truth)
    graph = getattr(order, "graph_", order)
    items: list[Any] = list(graph.order) if isinstance(graph, CausalGraph) else list(graph)
    index = {name: k for k, name in enumerate(true.names)}
    by_name = set(items) == set(index)
    try:
        positions = [index[item] if by_name else operator.index(item) for item in items]
    except TypeError:  # a name that the true graph does not have
        positions = []
    if sorted(positions) != list(range(true.n_variables)):
        raise GraphError(f"the order must list each of the {true.n_variables} variables of the true graph once.")
    return share_in_order(np.array(positions, dtype=np.int64), true.edges)


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
    precision, recall = _share(hits, n_found), _share(hits, n_actual)
    distances = _adjustment_distances(found, actual)
    return Metrics(
        shd=_pattern_distance(found, actual),
        tpr=recall,
        fdr=1.0 - precision,
        fpr=_share(n_found - hits, d * (d - 1) - n_actual, 0.0),
        precision=precision,
        recall=recall,
        f1=_share(2 * hits, n_found + n_actual),
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


def _share(part: int, whole: int, of_nothing: float = 1.0) -> float:
    return part / whole if whole else of_nothing


def _pattern_distance(left: BoolArray | IntArray, right: BoolArray | IntArray) -> int:
    """Number of unordered pairs whose marks differ."""
    differs = left != right
    return int(np.triu(differs | differs.T).sum())  # transposed: a pair differs in either direction


def _adjustment_distances(found: BoolArray, actual: BoolArray) -> dict[str, int]:
    if find_spec("gadjid") is None:
        return {}
    gadjid = import_module("gadjid")
    graphs = actual.astype(np.int8), found.astype(np.int8)
    way = "from row to column"
    return {name: int(getattr(gadjid, name)(*graphs, edge_direction=way)[1]) for name in ("sid", "ancestor_aid")}


TIE = 1e-9
"""Relative difference below which two variables count as equal."""


def var_sortability(data: Any, adjacency: Any) -> float:
    """Share of the directed paths along which the variance grows (Reisach et al. 2021).

    Parameters
    ----------
    data : (n_samples, n_variables) array or DataFrame
    adjacency : CausalGraph, DataFrame or (n_variables, n_variables) array
        The true DAG, over the columns of ``data``.

    Returns
    -------
    float
        One: sorting by variance gives a causal order; a half: it tells nothing; NaN for a graph without edges.

    Examples
    --------
    >>> var_sortability([[0, 0], [1, 3], [0, 1]], [[0, 1], [0, 0]])
    1.0
    """
    return sortability(_table(data).var(axis=0), adjacency)


def r2_sortability(data: Any, adjacency: Any) -> float:
    r"""Share of the directed paths along which the explained share of variance grows (Reisach et al. 2023).

    The criterion of a variable is the :math:`R^2` of its linear regression on all the others,
    :math:`1 - 1 / (C_{jj} (C^{-1})_{jj})` with C the correlations, so it does not depend on scales.
    Parameters, result and conventions are those of :func:`var_sortability`.
    """
    return sortability(explained_shares(data), adjacency)


def explained_shares(data: Any) -> FloatArray:
    """:math:`R^2` of each variable regressed linearly on all the others, (n_variables,)."""
    correlations = np.corrcoef(_table(data), rowvar=False)
    precision = np.diag(np.linalg.pinv(correlations, hermitian=True))
    return np.clip(1.0 - 1.0 / precision, 0.0, 1.0)


def sortability(criterion: npt.ArrayLike, adjacency: Any) -> float:
    r"""Share of the directed paths that lead from a smaller to a larger criterion.

    .. math:: \frac{\sum_{k=1}^{d-1} \sum_{i \to j \in E^k} \mathrm{increasing}(c_i, c_j)}
                   {\sum_{k=1}^{d-1} \sum_{i \to j \in E^k} 1}

    where :math:`E^k` holds the pairs joined by a path of k edges, and increasing is 1, or 1/2 for a tie.

    Parameters
    ----------
    criterion : (n_variables,) array
    adjacency : CausalGraph, DataFrame or (n_variables, n_variables) array

    Examples
    --------
    >>> sortability([1, 3, 2], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])  # 0 -> 1, 0 -> 2 grow, 1 -> 2 does not
    0.6666666666666666
    """
    edges = np.asarray(getattr(adjacency, "edges", adjacency)) != 0
    topological_order(edges)  # refuses cycles
    values = np.asarray(criterion, dtype=float)
    difference = values[None, :] - values[:, None]  # [i, j]: growth from i to j
    tie = np.abs(difference) <= TIE * np.maximum(np.abs(values[None, :]), np.abs(values[:, None]))
    increasing = np.where(tie, 0.5, difference > 0)
    total, grown = 0, 0.0
    joined = edges
    while joined.any():
        total += int(joined.sum())
        grown += float(increasing[joined].sum())
        joined = joined.astype(np.float32) @ edges.astype(np.float32) > 0
    return grown / total if total else float("nan")


def _table(data: Any) -> FloatArray:
    values = np.asarray(getattr(data, "values", data), dtype=float)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise DataError("sortability needs a table of finite numbers, samples in rows.")
    return values
