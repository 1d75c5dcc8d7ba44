"""How often the edges come back on resampled data, as a check and beside each edge."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.evidence.checks.context import CURVE_BASIS, CheckContext
from precede.evidence.checks.record import Check, Diagnostics, Level, Remark, counted, some
from precede.evidence.confidence.resampling import time_block
from precede.evidence.confidence.stability import N_RESAMPLES, Alternatives, Criterion, PolishAgain, Relearn, shares_of
from precede.knowledge import Constraints
from precede.runtime.deadline import Deadline
from precede.scores.build import ScoreName

UNSTABLE = 0.5
"""Edges that come back in fewer of the resamples are called unstable."""

NAME, UNLIKELY = "unstable edges", "unlikely edges"

RESTS_ON_POLICY = (
    "the result rests on the pretrained policy or on a vote, slow to ask again for each resample; --bootstrap 20 does."
)

FEWEST_RESAMPLES = 5
"""With fewer, one of them alone could call an edge stable or missing."""

SECONDS = 30.0
"""Resampling ends after this many seconds, whatever is left."""


def with_shares(
    diagnostics: Diagnostics,
    edges: BoolArray,
    shares: FloatArray,
    names: Sequence[Hashable],
    n_resamples: int = 0,
    remarks: Sequence[str] = (),
) -> Diagnostics:
    """The record with the share of resamples that have each edge, in place of any it had before.

    An edge whose direction is not claimed has the share of those in which the two are joined.

    Parameters
    ----------
    diagnostics : Diagnostics
    edges : (n_variables, n_variables) bool array
        The graph.
    shares : (n_variables, n_variables) float array
        ``[i, j]`` for i -> j; one of which a resample knows no direction counts a half each way.
    names : sequence
    n_resamples : int
        0 where it is not known.
    remarks : sequence of str
        What happened while resampling.
    """
    either = np.minimum(shares + shares.T, 1.0)  # transposed: joined in either direction
    loose = np.zeros_like(edges)
    for reading in diagnostics.edges:
        loose[reading.cause, reading.effect] = not reading.directed
    shares = np.where(loose, either, np.where(loose.T, 0.0, shares))  # transposed: said of the edge as it is drawn
    readings = tuple(
        replace(
            reading,
            confidence=float(shares[reading.cause, reading.effect]),
            connected=float(either[reading.cause, reading.effect]),
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
    )


def with_probabilities(learned: CheckContext, diagnostics: Diagnostics) -> Diagnostics:
    """The record with the probability of each edge as the pretrained policy gives it, where the result rests on it."""
    said = {(one.cause, one.effect): float(one.probability) for one in learned.reported["policy"]}
    readings = tuple(
        replace(edge, policy_probability=said.get((learned.names[edge.cause], learned.names[edge.effect]), 0.0))
        for edge in diagnostics.edges
    )
    doubtful = [(edge.cause, edge.effect) for edge in readings if (edge.policy_probability or 0.0) < UNSTABLE]
    names, n = learned.edge_names(doubtful), len(readings)
    sentence = f"The pretrained policy gives every one of the {n} edges a probability of at least one half."
    if doubtful:
        sentence = (
            f"The pretrained policy gives {len(doubtful)} of {counted(n, 'edge')} a probability below one half "
            f"({some(names)})."
        )
    level: Level = "warning" if len(doubtful) > n / 4 else "note" if doubtful else "fine"
    check = Check(UNLIKELY, float(len(doubtful)), sentence, level, {"unlikely": names})
    rest = Check(NAME, None, f"Not run: {RESTS_ON_POLICY}", "not run")
    return replace(diagnostics, checks=(check, rest, *diagnostics.checks), edges=readings)


def resample(learned: CheckContext, diagnostics: Diagnostics, deadline: Deadline) -> Diagnostics:
    """Give every edge the share of quick resamples that have it (:mod:`precede.evidence.confidence.stability`).

    The search starts from the found order, or looks at each edge by itself where it would be slow, and ends with the
    deadline, and after 30 seconds at the latest.
    """
    found = shares_of(relearning(learned), learned.seed, deadline.part(SECONDS))
    if found is None or found.n_resamples < FEWEST_RESAMPLES:
        said = "There was no time to resample the rows, so how stable each edge is was not tested."
        return replace(diagnostics, remarks=(*diagnostics.remarks, Remark(said)))
    remarks = []
    if found.n_resamples < N_RESAMPLES:
        remarks.append(
            f"Time ran out after {found.n_resamples} of {N_RESAMPLES} resamples: the confidences are coarse."
        )
    return with_shares(diagnostics, learned.edges, found.directed, learned.names, found.n_resamples, remarks)


def relearning(learned: CheckContext) -> Relearn:
    """The quickest honest way to learn again under what the method assumed."""
    assumed, constraints = learned.assumptions, learned.constraints or Constraints.none(learned.n_variables)
    if learned.levels or (assumed.linear and assumed.gaussian != "excluded"):
        score = _score_of(learned)
        if score is not None:
            same = score == learned.score
            return PolishAgain(
                learned.table,
                learned.order,
                score,
                constraints,
                pruning=learned.pruning if same else "auto",  # type: ignore[arg-type]
                threshold=learned.threshold,
                cutoff=learned.cutoff,
            )
    curved = assumed.mechanism == "additive"
    criterion: Criterion = "none"
    if assumed.equal_variances:
        criterion = "variance"
    elif curved:
        criterion = "log variance"
    elif assumed.gaussian == "excluded":
        criterion = "entropy"
    return Alternatives(
        learned.values, learned.edges, constraints, basis=CURVE_BASIS if curved else 2, criterion=criterion,
        block=time_block(learned.table),
    )  # fmt: skip


def _score_of(learned: CheckContext) -> ScoreName | None:
    """The score that tells directions as the method does, where it is quick to search."""
    if learned.levels:
        return learned.score  # type: ignore[return-value]
    if learned.assumptions.equal_variances:
        return "linear"
    if learned.score == "linear-any":
        return "linear-any"
    return "sparse-linear" if learned.assumptions.gaussian == "assumed" else None


def stability(edges: BoolArray, confidence: FloatArray, names: Sequence[Hashable]) -> Check:
    """Compare a graph with the probability of each edge, ``[i, j]`` for i -> j.

    Examples
    --------
    >>> edges = np.array([[0, 1], [0, 0]], dtype=bool)
    >>> stability(edges, np.array([[0, 0.3], [0.6, 0]]), ["rain", "wet"]).sentence
    '1 of 1 edge came back in fewer than half of the resamples (rain -> wet); 1 edge that the graph lacks
    came back in at least half (wet -> rain).'
    """

    def named(chosen: BoolArray) -> list[str]:
        return [f"{names[i]} -> {names[j]}" for i, j in np.argwhere(chosen)]

    turned = edges.T & (confidence > confidence.T)  # transposed: edges of the graph the other way round
    lacking_edges = ~edges & (confidence >= UNSTABLE) & (~edges.T | turned)
    unstable, absent = named(edges & (confidence < UNSTABLE)), named(lacking_edges)
    details = {"unstable": unstable, "absent": absent}
    n = int(edges.sum())
    lacking = f"{counted(len(absent), 'edge')} that the graph lacks"
    if not unstable:
        more = f"; so did {lacking} ({some(absent)})" if absent else ""
        sentence = f"Every one of the {n} edges came back in at least half of the resamples (0 unstable){more}."
        if n == 0:
            more = f"; {lacking} came in at least half of the resamples ({some(absent)})" if absent else ""
            sentence = f"The graph has no edge that could be unstable{more}."
        return Check(NAME, 0.0, sentence, "note" if absent else "fine", details)
    more = f"; {lacking} came back in at least half ({some(absent)})" if absent else ""
    sentence = (
        f"{len(unstable)} of {counted(n, 'edge')} came back in fewer than half of the resamples "
        f"({some(unstable)}){more}."
    )
    return Check(NAME, float(len(unstable)), sentence, "warning" if len(unstable) > n / 4 else "note", details)
