"""Checks of the result itself: what is identified, how good the search was, which edges hang by a thread."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.diagnostics.diagnostic import Diagnostic, Learned, Level, counted, some
from precede.graph.dags import full_dag
from precede.graph.equivalence import cpdag
from precede.pruning.weights import regression_weights
from precede.scores.linear import LinearScore
from precede.search.exact import exact_order

REACH = 1.5
"""An edge is within reach of the rule when a rule so many times stricter or laxer would decide otherwise."""

EXACT_VARIABLES = 10
"""Up to here the best order of all is found in well under a second for the linear score."""

UNSTABLE = 0.5
"""Edges that come back in fewer of the resamples are called unstable."""


def check_identifiability(learned: Learned) -> Diagnostic:
    """Which edges could be turned round without changing what the data say."""
    name = "identifiability"
    pattern = cpdag(learned.edges)
    loose = [(int(i), int(j)) for i, j in np.argwhere(learned.edges & (pattern.T == 1))]  # transposed: either way
    details = {"undirected": learned.edge_names(loose)}
    n = learned.n_edges
    level: Level
    if n == 0:
        return Diagnostic(name, 0.0, "No edges, so no directions to tell (0 undirected).", "fine", details)
    if learned.identifies == "cpdag":
        if not loose:
            sentence = f"The directions of all {n} edges follow from conditional independences alone (0 undirected)."
            return Diagnostic(name, 0.0, sentence, "fine", details)
        sentence = (
            f"{counted(len(loose), 'edge')} of {n} ({some(details['undirected'])}) could point either way: under this "
            "score the data tell that the pair is connected, not which precedes."
        )
        return Diagnostic(name, float(len(loose)), sentence, "warning", details)
    level = "note" if loose else "fine"
    tail = (
        f"without its assumptions, {len(loose)} of {n} could point either way."
        if loose
        else f"and even without its assumptions none of the {n} could be turned round alone."
    )
    return Diagnostic(
        name, float(len(loose)), f"Under the score's assumptions every direction can be told; {tail}", level, details
    )


def check_search(learned: Learned) -> Diagnostic:
    """How far the score of the result is from the best that is known."""
    name = "distance to the best score known"
    search = learned.search
    reached = search.get("best_score")
    if reached is None or not math.isfinite(reached):
        return Diagnostic(name, None, "The method reports no score, so the search cannot be judged.", "note")
    if search.get("exact") is True:
        return Diagnostic(name, 0.0, f"The score {reached:.2f} is the best of all orders (exact search).", "fine")
    rivals = {"a greedy order": search.get("greedy_score"), "the exact optimum": _exact_score(learned)}
    known = {label: value for label, value in rivals.items() if value is not None and math.isfinite(value)}
    best = max([reached, *known.values()])
    shortfall = best - reached
    tolerance = 1e-6 * max(1.0, abs(best))
    story = f"The result scores {reached:.2f}"
    if "policy_score" in search:
        gain = search.get("polish_gain")
        added = "polish was off" if gain is None else f"polish added {gain:.2f}"
        story += f" (the policy alone {search['policy_score']:.2f}; {added})"
    against = "; ".join(f"{label} scores {value:.2f}" for label, value in known.items())
    against = f"; {against}" if against else ""
    details = {"reached": reached, "best_known": best, **known}
    if shortfall > tolerance:
        sentence = f"{story}{against}: it is {shortfall:.2f} short of the best known, so search longer or polish."
        return Diagnostic(name, shortfall, sentence, "warning", details)
    proven = "the exact optimum" in known
    ending = "this is the optimum" if proven else "no better order is known, which is no proof that there is none"
    return Diagnostic(name, 0.0, f"{story}{against}: {ending}.", "fine", details)


def _exact_score(learned: Learned) -> float | None:
    """The optimum: given by the caller, or computed where that is quick."""
    given = learned.search.get("exact_score")
    if given is not None:
        return float(given)
    if learned.score != "linear" or learned.noise == "unequal" or learned.n_variables > EXACT_VARIABLES:
        return None
    return exact_order(LinearScore(learned.values), learned.constraints).score


def check_weak_edges(learned: Learned) -> Diagnostic:
    """Which edges, there or not, a slightly different rule would decide otherwise."""
    name = "edges within reach of the threshold"
    before = full_dag(learned.order)
    required = np.zeros_like(learned.edges)
    if learned.constraints is not None:
        before, required = before & learned.constraints.allowed, learned.constraints.required
    if learned.assumptions.mechanism == "additive":
        p_values = np.nan_to_num(learned.fit.p_values, nan=1.0)
        weak = learned.edges & ~required & (p_values > learned.cutoff**REACH)
        missed = np.zeros_like(weak)
        rule = f"p-value above {learned.cutoff**REACH:.2g} in an F test"
    elif learned.pruning == "threshold":
        weights = np.abs(regression_weights(learned.covariance, learned.order))
        weak = learned.edges & ~required & (weights < REACH * learned.threshold)
        missed = before & ~learned.edges & (weights > learned.threshold / REACH)
        rule = f"|weight| within a factor {REACH} of {learned.threshold:g}"
    else:
        price = math.log(learned.n_samples) / 2 + math.log(learned.n_variables)
        evidence = _evidence(learned)
        weak = learned.edges & ~required & (evidence < REACH * price)
        missed = before & ~learned.edges & (evidence > price / REACH)
        rule = f"gain in log-likelihood within a factor {REACH} of the extended BIC's price, {price:.1f}"
    kept = learned.edge_names([(int(i), int(j)) for i, j in np.argwhere(weak)])
    dropped = learned.edge_names([(int(i), int(j)) for i, j in np.argwhere(missed)])
    details = {"weak": kept, "nearly": dropped, "rule": rule}
    total = len(kept) + len(dropped)
    if total == 0:
        return Diagnostic(name, 0.0, f"No edge is a close call (0 with {rule}).", "fine", details)
    shown = f" ({some(kept)})" if kept else ""
    near = f", and {counted(len(dropped), 'absent edge')} nearly came in ({some(dropped)})" if dropped else ""
    level: Level = "warning" if len(kept) > learned.n_edges / 3 else "note"
    sentence = f"{len(kept)} of {counted(learned.n_edges, 'edge')} would fall to a stricter rule{shown}{near}: {rule}."
    return Diagnostic(name, float(total), sentence, level, details)


def _evidence(learned: Learned) -> FloatArray:
    r"""Log-likelihood that i adds to j beyond its parents, :math:`-\frac m2 \log(1 - r_{ij|\mathrm{pa}(j)}^2)`."""
    matrix = learned.correlation
    d = len(matrix)
    squared = np.zeros((d, d))
    for j in range(d):
        parents = np.flatnonzero(learned.edges[:, j])
        family = np.append(parents, j)
        precision = np.linalg.inv(matrix[np.ix_(family, family)])
        squared[parents, j] = precision[:-1, -1] ** 2 / (np.diag(precision)[:-1] * precision[-1, -1])
        others = np.setdiff1d(np.arange(d), family)
        if len(others) == 0:
            continue
        projection = np.linalg.solve(matrix[np.ix_(parents, parents)], matrix[np.ix_(parents, np.append(others, j))])
        shared = matrix[np.ix_(others, parents)]
        left = np.diag(matrix)[others] - (shared * projection[:, :-1].T).sum(axis=1)
        joint = matrix[others, j] - shared @ projection[:, -1]
        target = max(matrix[j, j] - float(matrix[j, parents] @ projection[:, -1]), 1e-12)
        squared[others, j] = joint**2 / (np.maximum(left, 1e-12) * target)
    return -learned.n_samples / 2 * np.log1p(-np.clip(squared, 0.0, 1 - 1e-12))


def check_stability(learned: Learned) -> Diagnostic | None:
    """How many edges come back on resampled data; None when nobody resampled."""
    return None if learned.confidence is None else stability(learned.edges, learned.confidence, learned.names)


def stability(edges: BoolArray, confidence: FloatArray, names: Sequence[Hashable]) -> Diagnostic:
    """Compare a graph with the probability of each edge, ``[i, j]`` for i -> j.

    Examples
    --------
    >>> edges = np.array([[0, 1], [0, 0]], dtype=bool)
    >>> stability(edges, np.array([[0, 0.3], [0.6, 0]]), ["rain", "wet"]).sentence
    '1 of 1 edge came back in fewer than half of the resamples (rain -> wet); in at least half came 1
    edge that the graph lacks (wet -> rain).'
    """
    name = "unstable edges"

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
        return Diagnostic(name, 0.0, sentence, "note" if absent else "fine", details)
    more = f"; in at least half came {lacking}" if absent else ""
    sentence = (
        f"{len(unstable)} of {counted(n, 'edge')} came back in fewer than half of the resamples "
        f"({some(unstable)}){more}."
    )
    return Diagnostic(name, float(len(unstable)), sentence, "warning" if len(unstable) > n / 4 else "note", details)
