"""What to do next: which experiment, which further column or which fact would settle the most open directions.

References
----------
He, Geng (2008), Active learning of causal networks with intervention experiments and optimal designs, JMLR 9.
Hauser, Bühlmann (2014), Two optimal strategies for active learning of causal models from interventional data,
International Journal of Approximate Reasoning 55.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.errors import OptionError
from precede.graph import CausalGraph
from precede.graph.dags import consistent_extension, meek_closure
from precede.strict_json import Spoken


@dataclass(frozen=True)
class Experiment:
    """What setting one variable would settle.

    Parameters
    ----------
    variable : name
        Set it, by chance or by plan, and compare the rows with the others.
    expected : float
        Open directions that this settles, on average over the graphs that the data leave open.
    at_least : int
        Open directions that it settles in the least favorable of them.
    """

    variable: Hashable
    expected: float
    at_least: int


@dataclass(frozen=True)
class Fact:
    """What knowing the direction of one open edge would settle, itself included."""

    edge: tuple[Hashable, Hashable]
    expected: float
    at_least: int


@dataclass(frozen=True)
class NextSteps(Spoken):
    """Experiments and facts, the most useful first.

    Parameters
    ----------
    n_open : int
        Edges whose direction is open.
    experiments : tuple of Experiment
        One for each variable with an open edge.
    facts : tuple of Fact
        One for each open edge.
    """

    n_open: int
    experiments: tuple[Experiment, ...]
    facts: tuple[Fact, ...]

    @property
    def sentences(self) -> list[str]:
        """The best experiment, the column that would do as well, and the best fact, in plain words."""
        if not self.n_open:
            return ["No direction is open: an experiment could only test the graph, not complete it."]
        best, fact = self.experiments[0], self.facts[0]
        first, second = fact.edge
        others = [one.variable for one in self.experiments[1:3]]
        lines = [
            f"{self.n_open} direction{'s are' if self.n_open > 1 else ' is'} open.",
            f"Experiment: set {best.variable}. This settles {best.expected:.1f} of them on average, at least "
            f"{best.at_least}.",
            f"Without an experiment: measure a column that affects {best.variable} and nothing else here. It settles "
            "the same directions.",
            f"Knowledge: whether {first} causes {second} or {second} causes {first} settles {fact.expected:.1f} on "
            "average (say so with --knowledge FILE).",
        ]
        if others:
            lines.insert(2, f"The next best experiments: set {' or '.join(map(str, others))}.")
        return lines


def next_steps(graph: CausalGraph, n_draws: int = 100, random_state: int | None = 0) -> NextSteps:
    """Rank experiments and facts by the open directions that they are expected to settle.

    Setting a variable tells the direction of every edge at it, and what follows from these by Meek's rules. Which way
    they turn out is not known before: the expectation is over graphs of the class, drawn at random.

    Parameters
    ----------
    graph : CausalGraph
        What is open is read from its class, ``graph.pattern``: time, interventions and knowledge count.
    n_draws : int
        Graphs of the class to average over.
    random_state : int, optional

    Examples
    --------
    >>> chain = CausalGraph.from_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]], names=["a", "b", "c"])
    >>> next_steps(chain).experiments[0].variable, next_steps(chain).facts[0].edge in [("a", "b"), ("b", "c")]
    ('b', True)
    """
    if n_draws < 1:
        raise OptionError(f"n_draws={n_draws} cannot be used: give at least 1.")
    rng = np.random.default_rng(random_state)
    parts = [_of_component(graph.pattern, part, n_draws, rng) for part in _open_components(graph.pattern)]
    names = graph.names
    experiments = [
        Experiment(names[k], *_gain(settled[:, at]))
        for part, _, settled, _ in parts for at, k in enumerate(part)
    ]  # fmt: skip
    facts = [
        Fact((names[part[i]], names[part[j]]), *_gain(settled[:, at]))
        for part, pairs, _, settled in parts for at, (i, j) in enumerate(pairs)
    ]  # fmt: skip
    return NextSteps(
        len(facts), tuple(sorted(experiments, key=_most_useful_first)), tuple(sorted(facts, key=_most_useful_first))
    )


def _most_useful_first(step: Experiment | Fact) -> tuple[float, int]:
    return -step.expected, -step.at_least


def _gain(settled: IntArray) -> tuple[float, int]:
    return float(settled.mean()), int(settled.min())


def _open_components(pattern: IntArray) -> list[IntArray]:
    """Variables that open edges connect: what is settled in one set of them tells nothing about another."""
    from scipy.sparse.csgraph import connected_components

    loose = (pattern != 0) & (pattern.T != 0)  # transposed: open where both directions are possible
    n_parts, label = connected_components(loose, directed=False)
    parts = [np.flatnonzero(label == k) for k in range(n_parts)]
    return [part for part in parts if len(part) > 1]


def _of_component(
    pattern: IntArray, part: IntArray, n_draws: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Directions that each experiment and each fact settles, in each graph that was drawn.

    Returns
    -------
    part : (n_part,) int array
    pairs : (n_pairs, 2) int array
        Open edges, by places in the part.
    by_experiment : (n_draws, n_part) int array
    by_fact : (n_draws, n_pairs) int array
    """
    marks = pattern[np.ix_(part, part)] != 0
    known = marks & ~marks.T  # transposed: the other direction is ruled out
    adjacent = marks | marks.T
    pairs = np.argwhere(np.triu(marks & marks.T))
    drawn: dict[bytes, tuple[BoolArray, int]] = {}
    for _ in range(n_draws):
        edges = consistent_extension(marks, rng.permutation(len(part)))
        if edges is not None:
            count = drawn.get(edges.tobytes(), (edges, 0))[1]
            drawn[edges.tobytes()] = edges, count + 1
    by_experiment, by_fact, counts, everything = [], [], [], range(len(part))
    for edges, count in drawn.values():
        counts.append(count)
        by_experiment.append([_settled(adjacent, known, edges, [k], everything) for k in range(len(part))])
        by_fact.append([_settled(adjacent, known, edges, [i], [j]) for i, j in pairs])
    return part, pairs, np.repeat(by_experiment, counts, axis=0), np.repeat(by_fact, counts, axis=0)


def _settled(
    adjacent: BoolArray, known: BoolArray, edges: BoolArray, ones: Sequence[int], others: Sequence[int]
) -> int:
    """Open directions of a graph that follow once those of its edges between some variables and others are told."""
    told = np.zeros_like(edges)
    told[np.ix_(ones, others)] = told[np.ix_(others, ones)] = True
    return int((meek_closure(adjacent, known | (told & edges)) & edges & ~known).sum())
