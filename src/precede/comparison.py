"""Several graphs over the same variables, side by side: where they agree, where not, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import numpy.typing as npt

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.corl import make_method
from precede.corl.vote import ORDER_SHARE, best_linear_order, joined_by
from precede.data.load import load_table
from precede.errors import OptionError, PrecedeError
from precede.estimator import CausalEstimator
from precede.graph import CausalGraph
from precede.graph.dags import ancestors, full_dag
from precede.knowledge import Constraints, Knowledge
from precede.lazy import pandas as pd
from precede.metrics import aligned, as_graph
from precede.options import Options
from precede.runtime import ProgressBar, RandomState, numpy_rng, one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes


OUTWEIGHS, TIE = 1e3, 1e-9
"""What a known direction is worth, and the difference of votes below which two directions are tied."""

ROUNDS = 10
"""Of weights and consensus in turn; they settle after two or three."""


def agreement_weights(graphs: Sequence[BoolArray], orders: Sequence[IntArray]) -> FloatArray:
    r"""Weights of the members by how well they agree with what all add up to, summing to one.

    A vote of a member that is right with probability p is worth :math:`\log \frac{p}{1-p}`. Here p is its likeness to
    the consensus (the mean :math:`F_1` of edges and of joined pairs), found in turn with it, from equal weights on. So
    one that stands alone counts little. Two members count alike.

    Parameters
    ----------
    graphs : sequence of (n_variables, n_variables) bool arrays
    orders : sequence of (n_variables,) int arrays

    Examples
    --------
    >>> a, b = np.array([[0, 1], [0, 0]], bool), np.zeros((2, 2), bool)
    >>> agreement_weights([a, a, b], [[0, 1]] * 3).round(2)
    array([0.5, 0.5, 0. ])
    """
    n = len(graphs)
    weights = np.full(n, 1 / n)
    if n < 3:
        return weights
    for _ in range(ROUNDS):
        agreed, _, _ = consensus(graphs, orders, weights)
        likeness = np.clip([_likeness(graph, agreed) for graph in graphs], 0.02, 0.98)
        worth = np.maximum(np.log(likeness / (1 - likeness)), 0.0)
        if worth.sum() == 0:
            return np.full(n, 1 / n)
        weights = worth / worth.sum()
    return weights


def consensus(
    graphs: Sequence[BoolArray],
    orders: Sequence[IntArray],
    weights: FloatArray,
    known: npt.ArrayLike = False,
    constraints: Constraints | None = None,
) -> tuple[BoolArray, IntArray, FloatArray]:
    """The graph that the weighted votes add up to, and an order of it.

    A pair is joined when more than half of the votes join it. The directions follow the order that goes against the
    fewest votes: an edge is a vote for its direction, a precedence in a member's order a part of one. So there is no
    cycle, whatever the votes. A pair with as many votes one way as the other gets no edge: a tie is no arrow.

    Parameters
    ----------
    graphs : sequence of (n_variables, n_variables) bool arrays
    orders : sequence of (n_variables,) int arrays
        Causes first.
    weights : (n_graphs,) float array
        Sum to one.
    known : (n_variables, n_variables) bool array, optional
        Directions that knowledge, time or experiments fixed in a member: they outweigh all votes.
    constraints : Constraints, optional
        Required and forbidden edges and precedences, which hold whatever the votes.

    Returns
    -------
    edges : (n_variables, n_variables) bool array
    order : (n_variables,) int array
    votes : (n_variables, n_variables) float array
        Weighted share of the members that have the edge.

    Examples
    --------
    >>> one, other = np.array([[0, 1], [0, 0]], bool), np.array([[0, 0], [1, 0]], bool)
    >>> edges, order, votes = consensus([one, one, other], [[0, 1], [0, 1], [1, 0]], np.full(3, 1 / 3))
    >>> edges.astype(int), order
    (array([[0, 1],
           [0, 0]]), array([0, 1]))
    """
    votes = np.einsum("k,kij->ij", weights, np.asarray(graphs, dtype=float))
    before = np.einsum("k,kij->ij", weights, np.array([full_dag(np.asarray(order)) for order in orders], dtype=float))
    preference = votes + ORDER_SHARE * before
    rules = constraints or Constraints.none(len(votes))
    fixed = np.broadcast_to(known, votes.shape).astype(bool)
    preference += OUTWEIGHS * ((fixed & ~fixed.T) | rules.before)  # transposed: where members do not contradict
    order = rules.nearest_order(best_linear_order(preference))
    tied = np.abs(preference - preference.T) < TIE  # transposed: as much for the other way
    return rules.apply(joined_by(votes) & full_dag(order) & ~tied), order, votes


def _likeness(one: BoolArray, other: BoolArray) -> float:
    """Mean of the F1 of two graphs' directed edges and of their joined pairs; one for two empty graphs."""

    def f1(left: BoolArray, right: BoolArray) -> float:
        total = int(left.sum() + right.sum())
        return 2 * float((left & right).sum()) / total if total else 1.0

    return (f1(one, other) + f1(one | one.T, other | other.T)) / 2  # transposed: pairs, whichever way


MOST_PAIRS = 40
"""Rows that a page can hold; the most disputed pairs are shown."""

MARKS = {"->": (1.0, "→"), "<-": (-1.0, "←"), "--": (np.nan, "–"), "": (0.0, "")}
"""How the table's marks are drawn: the shade and the sign."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Graphs side by side.

    Parameters
    ----------
    graphs : dict of label to CausalGraph
        Over the same variables, in the same column order.
    weights : (n_graphs,) float array
        Of the votes; sum to one.
    remarks : tuple of str
        What happened on the way, a sentence each.
    constraints : Constraints, optional
        The background knowledge of all members together, which the consensus obeys.

    Attributes
    ----------
    consensus : CausalGraph
        The acyclic graph of the weighted votes; its weights are the shares that have the edge.
    """

    graphs: dict[str, CausalGraph]
    weights: FloatArray
    remarks: tuple[str, ...] = ()
    constraints: Constraints | None = None

    @classmethod
    def of(
        cls,
        graphs: Mapping[str, Any],
        weights: Mapping[str, float] | None = None,
        remarks: Sequence[str] = (),
        knowledge: Iterable[Knowledge | None] = (),
    ) -> Comparison:
        """Line graphs up and count their votes.

        Parameters
        ----------
        graphs : dict of label to CausalGraph, fitted estimator, networkx DiGraph, DataFrame or array
        weights : dict of label to number, optional
            How much each counts. When left out, by how well it agrees with the consensus.
        remarks : sequence of str
        knowledge : iterable of Knowledge or None
            What the members were given beforehand; that of a fitted estimator is known. Where it contradicts itself,
            the votes decide, which a remark says.

        Examples
        --------
        >>> one, other = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
        >>> Comparison.of({"a": one, "b": one, "c": other}).consensus
        CausalGraph(3 variables, 2 edges: 0 -> 1, 1 -> 2)
        """
        if len(graphs) < 2:
            raise OptionError(
                f"a comparison needs two graphs or more; there {'is' if graphs else 'are'} {len(graphs)}: name another."
            )
        first = as_graph(next(iter(graphs.values())))
        lined = {label: aligned(graph, first)[0] for label, graph in graphs.items()}
        given = [*knowledge, *(getattr(member, "knowledge", None) for member in graphs.values())]
        rules = [one.over(first.names) for one in given if one is not None]
        together = Constraints.together(rules) if rules else None
        if rules and together is None:
            remarks = [*remarks, "The rules that the members were given contradict each other: votes decide."]
        return cls(lined, _weights(lined, weights), tuple(remarks), together)

    @cached_property
    def _counted(self) -> tuple[CausalGraph, FloatArray]:
        members = list(self.graphs.values())
        edges, order, shares = consensus(
            [graph.edges for graph in members],
            [graph.positions for graph in members],
            self.weights,
            np.any([graph.edges & fixed for graph in members if (fixed := graph.fixed_directions) is not None], axis=0),
            self.constraints,
        )
        graph = CausalGraph.from_matrix(edges, np.where(edges, np.maximum(shares, 1e-9), 0.0), order, members[0].names)
        return replace(graph, sample=members[0].sample, lags=members[0].lags), shares

    @property
    def consensus(self) -> CausalGraph:
        return self._counted[0]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each pair that some graph joins: what each says, the share of votes each way, and the consensus.

        ``->`` and ``<-`` read from the first variable to the second, ``--`` is a pair with as many votes each way; an
        empty mark means that the pair is not joined.
        The most disputed pairs come first.
        """
        names, (agreed, shares) = self.consensus.names, self._counted
        joined = joined_by(shares)
        rows = []
        for i, j in np.argwhere(np.triu(np.any([g.edges | g.edges.T for g in self.graphs.values()], axis=0))):
            marks = {label: _mark(graph, int(i), int(j)) for label, graph in self.graphs.items()}
            rows.append(
                {
                    "first": names[i],
                    "second": names[j],
                    **marks,
                    "forward": float(shares[i, j]),
                    "backward": float(shares[j, i]),
                    "agreement": float(max(shares[i, j], shares[j, i], 1 - shares[i, j] - shares[j, i])),
                    "consensus": _mark(agreed, int(i), int(j)) or ("--" if joined[i, j] else ""),
                }
            )
        columns = ["first", "second", *self.graphs, "forward", "backward", "agreement", "consensus"]
        return pd.DataFrame(rows, columns=columns).sort_values("agreement", kind="stable", ignore_index=True)

    @cached_property
    def order_agreement(self) -> pd.DataFrame:
        """``[a, b]``: share of the pairs joined in a or b by a directed path that the two orders put the same way."""
        members = list(self.graphs.values())
        shares = [[_same_order(one, other) for other in members] for one in members]
        return pd.DataFrame(shares, index=list(self.graphs), columns=list(self.graphs))

    @cached_property
    def differences(self) -> list[str]:
        """Where the graphs part ways, a sentence for each pair, the most disputed first."""
        sentences = []
        for row in self.table.to_dict("records"):
            says = {mark: [label for label in self.graphs if row[label] == mark] for mark in ("->", "<-", "")}
            heard = {mark: labels for mark, labels in says.items() if labels}
            if len(heard) < 2:
                continue
            first, second = row["first"], row["second"]
            words = {"->": f"{first} -> {second}", "<-": f"{second} -> {first}", "": "no edge"}
            parts = [f"{words[mark]} in {', '.join(labels)}" for mark, labels in heard.items()]
            sentences.append(f"{first} and {second}: {'; '.join(parts)}.")
        return sentences

    @property
    def sentence(self) -> str:
        """The comparison in plain words."""
        total, open_pairs = len(self.table), len(self.differences)
        ties = int((self.table["consensus"] == "--").sum())
        tied = f"; {ties} more are tied, direction open" if ties else ""
        return (
            f"{len(self.graphs)} graphs join {total} pairs of variables; they agree on {total - open_pairs} and differ "
            f"on {open_pairs}. The consensus has {self.consensus.n_edges} edges{tied}."
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """A grid of pairs and graphs: which has the edge, which way, and the consensus beside them."""
        import matplotlib.pyplot as plt

        shown, columns = self.table.head(MOST_PAIRS), [*self.graphs, "consensus"]
        if ax is None:
            size = (1.6 + 0.8 * len(columns), 1.4 + 0.28 * max(len(shown), 1))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        rows = shown.to_dict("records")
        cells = np.array([[MARKS[row[name]][0] for name in columns] for row in rows]).reshape(-1, len(columns))
        ax.imshow(cells, cmap="RdBu", vmin=-2.5, vmax=2.5, aspect="auto")
        for y, row in enumerate(rows):
            for x, name in enumerate(columns):
                ax.text(x, y, MARKS[row[name]][1], ha="center", va="center", fontsize=9)
        ax.axvline(len(self.graphs) - 0.5, color="black", linewidth=1)
        ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
        ax.set_yticks(range(len(shown)), [f"{row['first']} – {row['second']}" for row in rows])
        ax.tick_params(length=0)
        hidden = len(self.table) - len(shown)
        more = f" ({hidden} more)" if hidden else ""
        ax.set_title(f"Which way the arrow points, the most disputed pairs first{more}")
        return ax


def _weights(graphs: Mapping[str, CausalGraph], given: Mapping[str, float] | None) -> FloatArray:
    if given is None:
        members = list(graphs.values())
        return agreement_weights([graph.edges for graph in members], [graph.positions for graph in members])
    strange = [label for label in given if label not in graphs]
    if strange or len(given) != len(graphs):
        raise OptionError(f"weights must name each graph once: {', '.join(graphs)}.")
    weights = np.array([float(given[label]) for label in graphs])
    if not (weights >= 0).all() or not weights.sum() > 0 or not np.isfinite(weights).all():
        raise OptionError(f"weights={dict(given)!r} cannot be used: they must be at least 0, and not all 0.")
    return np.asarray(weights / weights.sum())


def _mark(graph: CausalGraph, i: int, j: int) -> str:
    return "->" if graph.edges[i, j] else "<-" if graph.edges[j, i] else ""


def _same_order(one: CausalGraph, other: CausalGraph) -> float:
    paths = ancestors(one.edges) | ancestors(other.edges)
    pairs = np.triu(paths | paths.T, 1)  # transposed: a pair counts once, whichever way
    if not pairs.any():
        return 1.0
    same = full_dag(one.positions) == full_dag(other.positions)
    return float(same[pairs].mean())


Members = Sequence[str | CausalEstimator] | Mapping[str, Options | CausalEstimator]


def compare(
    data: Any,
    methods: Members = ("corl", "direct-lingam", "notears", "cam", "r2-sort-regress"),
    weights: Mapping[str, float] | None = None,
    n_jobs: int = 1,
    random_state: RandomState = None,
    verbose: bool = True,
) -> Comparison:
    """Fit several methods side by side: where do they agree, and what do they add up to?

    Parameters
    ----------
    data : as for ``fit``
    methods : sequence of names and estimators, or dict of label to options or estimator
        Names are those of :func:`precede.methods`; with a dict a label that is such a name has its options as value.
    weights : dict of label to number, optional
        How much each method counts. When left out, by how well it agrees with the consensus.
    n_jobs : int
        Processes; -1 for one per core. Each method computes on one thread, so that the result is the same.
    random_state : int, Generator or None
        Seeds every method that takes one.
    verbose : bool
        Show progress.

    Returns
    -------
    Comparison
        A method that cannot take the data is left out, with a remark.

    Examples
    --------
    >>> import precede as pc
    >>> data = pc.simulate(n_variables=5, degree=1, n_samples=500, random_state=0)
    >>> found = pc.compare(data.data, ["eqvar", "sort-regress", "notears"], verbose=False)
    >>> pc.evaluate(found.consensus, data.graph).shd
    0
    """
    members = _members(methods)
    table = load_table(data)
    seeds = numpy_rng(random_state).integers(2**31, size=len(members))
    for (_, model), seed in zip(members.items(), seeds, strict=True):
        own = {"verbose": False, **({} if random_state is None else {"random_state": int(seed)})}
        model.set_params(**{name: value for name, value in own.items() if name in model.get_params(deep=False)})
    fit = joblib.delayed(_fitted)
    found: dict[str, CausalGraph | PrecedeError] = {}
    with ProgressBar("comparing methods", len(members), verbose) as progress:
        jobs = (fit(label, model, table) for label, model in members.items())
        for label, graph in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            found[label] = graph
            progress.update(len(found), last=label)
    graphs = {label: found[label] for label in members if not isinstance(found[label], PrecedeError)}
    failed = [f"{label} was left out: {found[label]}" for label in members if isinstance(found[label], PrecedeError)]
    if len(graphs) < 2:
        raise OptionError(f"fewer than two methods could take the data. {' '.join(failed)}")
    if weights is not None:
        weights = {label: weight for label, weight in weights.items() if label not in found or label in graphs}
    rules = [getattr(model, "knowledge", None) for label, model in members.items() if label in graphs]
    return Comparison.of(graphs, weights, failed, rules)


def _members(methods: Members) -> dict[str, CausalEstimator]:
    """Estimators by label."""
    members: dict[str, CausalEstimator] = {}
    pairs = (
        methods.items()
        if isinstance(methods, Mapping)
        else [(one if isinstance(one, str) else type(one).__name__, one) for one in methods]
    )
    for label, value in pairs:
        if label in members:
            raise OptionError(f"two methods are called {label!r}: give a dict with a label for each.")
        made = value if isinstance(value, CausalEstimator) else None
        members[label] = made.unfitted() if made else make_method(label, value if isinstance(value, dict) else {})
    return members


def _fitted(label: str, model: CausalEstimator, table: Any) -> tuple[str, CausalGraph | PrecedeError]:
    """A method's graph, or why it has none."""
    with one_thread():
        try:
            return label, model.fit(table).graph_
        except PrecedeError as error:
            return label, error
