"""How often the edges come back on resampled data, as a check and beside each edge.

By a quick search where there is one, else each edge by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray
from precede.data.table import Table, standardized_table
from precede.evidence.checks.context import CheckContext
from precede.evidence.checks.record import Check, Diagnostics, Level, Remark, counted, some
from precede.evidence.confidence.resampling import resampled, time_block
from precede.graph import MixedGraph
from precede.graph.dags import ancestors, halves
from precede.knowledge import Constraints
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime import Deadline, one_thread, pool_of_threads
from precede.scores.build import ScoreName, build_score
from precede.scores.evidence import GaussianProcessEvidence, Kernel
from precede.scores.location_scale import ConditionalDensity
from precede.scores.parent_tables import LocalScore, ParentSetCache
from precede.scores.predecessors import Noise
from precede.scores.protocol import OrderScore
from precede.search.local.climber import EVERYWHERE_UP_TO, edges_away
from precede.search.pag import independence_test, learn_pag, start_constraints
from precede.search.polish import polish

UNSTABLE = 0.5
"""Edges that come back in fewer of the resamples are called unstable."""

NAME, UNLIKELY = "unstable edges", "unlikely edges"

RESTS_ON_POLICY = (
    "the result rests on the pretrained policy or on a vote over many columns, slow to ask again for each resample; "
    "--bootstrap 20 does."
)

NEAR = (
    f"With more than {EVERYWHERE_UP_TO} columns a resample looks for the causes of a column at most two edges from it "
    "in the graph: no edge between columns farther apart can come up, and confidences may be a little too high."
)

FEWEST_RESAMPLES = 5
"""With fewer, one of them alone could call an edge stable or missing."""

MOST_GIVEN = 2
"""Variables that the tests of a resample are conditioned on at most, where causes may be hidden."""

MOST_JUDGED = 40
"""Variables up to which what several classes voted for is judged again on every resample."""

OWN_SAY = 15
"""Resamples that the fit itself counts as, for each edge that it drew, in what the quick ones make of it: they have 63%
of its rows, so that edges come back less often than they are right (``benchmarks/calibration.py --kinds other``)."""

SECONDS = 30.0
"""Resampling ends after this many seconds, whatever is left."""


def with_shares(
    diagnostics: Diagnostics,
    edges: BoolArray,
    shares: FloatArray,
    names: Sequence[Hashable],
    n_resamples: int = 0,
    remarks: Sequence[str] = (),
    own_say: int = 0,
) -> Diagnostics:
    """The record with the share of fits that have each edge, in place of any it had before.

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
    own_say : int
        Resamples that the graph itself counts as.
    """
    either = np.minimum(shares + shares.T, 1.0)  # transposed: joined in either direction
    loose = np.zeros_like(edges)
    for edge in diagnostics.edges:
        loose[edge.place] = not edge.directed
    shares = np.where(loose, either, np.where(loose.T, 0.0, shares))  # transposed: said of the edge as it is drawn
    own = own_say / (own_say + n_resamples) if own_say else 0.0
    confidence, connected = (own + (1 - own) * share for share in (shares, either))
    readings = tuple(
        replace(edge, confidence=float(confidence[edge.place]), connected=float(connected[edge.place]))
        for edge in diagnostics.edges
    )
    others = tuple(check for check in diagnostics.checks if check.name != NAME)
    return replace(
        diagnostics,
        remarks=(*diagnostics.remarks, *(Remark(sentence) for sentence in remarks)),
        checks=(stability(edges, shares, names), *others),
        edges=readings,
        resamples=n_resamples,
    )


def rests_on_policy(learned: CheckContext) -> bool:
    """Whether the policy's probabilities count in the result, which cannot be asked again for each resample."""
    too_many = learned.score == "vote" and learned.n_variables > MOST_JUDGED
    return too_many or (learned.score or "").endswith("policy")


def with_probabilities(learned: CheckContext, diagnostics: Diagnostics) -> Diagnostics:
    """The record with the probability of each edge as the pretrained policy gives it, where the result rests on it."""
    said = {(one.cause, one.effect): float(one.probability) for one in learned.reported["policy"]}
    readings = tuple(
        replace(edge, policy_probability=said.get((learned.names[edge.cause], learned.names[edge.effect]), 0.0))
        for edge in diagnostics.edges
    )
    doubtful = [edge.place for edge in readings if (edge.policy_probability or 0.0) < UNSTABLE]
    names, n = learned.edge_names(doubtful), len(readings)
    told = f"every one of the {n} edges a probability of at least one half"
    if doubtful:
        told = f"{len(doubtful)} of {counted(n, 'edge')} a probability below one half ({some(names)})"
    sentence = f"The pretrained policy gives {told}."
    level: Level = "warning" if len(doubtful) > n / 4 else "note" if doubtful else "fine"
    check = Check(UNLIKELY, float(len(doubtful)), sentence, level, {"unlikely": names})
    rest = Check(NAME, None, f"Not run: {RESTS_ON_POLICY}", "not run")
    return replace(diagnostics, checks=(check, rest, *diagnostics.checks), edges=readings)


def resample(learned: CheckContext, diagnostics: Diagnostics, deadline: Deadline) -> Diagnostics:
    """Give every edge the share of quick resamples that have it.

    The search starts from the found order, or looks at each edge by itself where it would be slow, and ends with the
    deadline, and after 30 seconds at the latest.
    """
    sample, more = learned.table.sampled(), []
    if sample.n_samples < learned.table.n_samples:
        learned = replace(learned, table=sample)
        more.append(f"Resamples are of {sample.n_samples:,} rows, evenly spaced: confidences may be a little too low.")
    relearn = relearning(learned)
    made = shares_of(relearn, learned.seed, deadline.part(SECONDS))
    if len(made) < FEWEST_RESAMPLES:
        said = "There was no time to resample the rows, so how stable each edge is was not tested."
        return replace(diagnostics, remarks=(*diagnostics.remarks, Remark(said)))
    late = f"Time ran out after {len(made)} of {N_RESAMPLES} resamples: the confidences are coarse."
    remarks = [late] if len(made) < N_RESAMPLES else []
    drawn = np.array(made) > 0
    if learned.assumptions.hidden_causes:
        drawn = np.array(made, dtype=np.int64)
        made = [halves(MixedGraph(ends, tuple(learned.names)).pattern) for ends in drawn]
    found = with_shares(diagnostics, learned.edges, np.mean(made, axis=0), learned.names, len(made), remarks, OWN_SAY)
    if looks_near(learned) and relearn.func is learn_again:
        more.append(NEAR)
    notes = [Remark(sentence, "note") for sentence in more]
    return replace(found, remarks=(*found.remarks, *notes), resampled=drawn)


def looks_near(learned: CheckContext) -> bool:
    """Whether a search on a resample looks for parents only near those of the graph."""
    return learned.n_variables > EVERYWHERE_UP_TO and not learned.assumptions.hidden_causes


def relearning(learned: CheckContext) -> partial[FloatArray]:
    """The quickest honest way to learn again under what the method assumed: by a score where one is quick to search."""
    assumed = learned.assumptions
    score: str | None = None
    if learned.levels:
        score = learned.score
    elif assumed.linear:
        of_any_variance = "sparse-linear" if assumed.gaussian == "assumed" else "linear-any"
        score = "linear" if assumed.equal_variances else of_any_variance
    constraints = learned.constraints or Constraints.none(learned.n_variables)
    if score is None and not assumed.hidden_causes:
        return partial(judge_again, learned)
    if looks_near(learned):
        constraints = replace(constraints, allowed=constraints.allowed & edges_away(learned.edges, 2))
    return partial(learn_again, learned, cast(ScoreName | None, score), constraints)


def judge_again(learned: CheckContext, rng: np.random.Generator, deadline: Deadline) -> FloatArray:
    r"""Judge every edge by itself on resampled rows, by the local score s of the model that was fitted.

    Of i -> j as it is, gone, and turned where no longer path forbids it, what counts is

    .. math:: s_i(P_i) + s_j(P_j), \quad s_i(P_i) + s_j(P_j \setminus i), \quad s_i(P_i \cup j) + s_j(P_j \setminus i),

    with P the parents in the graph. Curves, and what no model is named for, are judged by the evidence of Gaussian
    processes, and what several classes voted for by the one that takes least for granted: a location and a scale that
    are curves, and noise of any shape.
    """
    equal = learned.assumptions.equal_variances
    table = learned.table if equal else standardized_table(learned.table)
    values = resampled(table, time_block(table), rng)[0].values
    evidence: LocalScore
    if learned.score in ("vote", "location-scale"):
        evidence = ConditionalDensity(values)
    else:
        kernel: Kernel = "joint" if learned.score in ("sparse-gp", "gp", "quadratic") else "additive"
        noise: Noise = "equal" if equal else "unequal"
        evidence = GaussianProcessEvidence(values, kernel=kernel, noise=noise, n_inducing="auto")
    cache = ParentSetCache(evidence, np.log(evidence.n_samples) / 2)
    constraints = learned.constraints or Constraints.none(learned.n_variables)
    edges, paths, fixed = learned.edges, ancestors(learned.edges), learned.told | constraints.before
    parents = [frozenset(np.flatnonzero(column).tolist()) for column in edges.T]
    trials = []
    for i, j in np.argwhere(edges).tolist():
        turnable = not (fixed[i, j] or (edges[i] & paths[:, j]).any())
        trials.append((i, j, parents[j] - {i}, parents[i] | {j} if turnable else None))
    asked = {*parents, *(less for _, _, less, _ in trials), *(more for *_, more in trials if more is not None)}
    directed = np.zeros(edges.shape)
    if not cache.fill({tuple(sorted(members)) for members in asked}, lambda: not deadline.passed()):
        return directed  # too late, which is noticed

    def score(variable: int, members: frozenset[int]) -> float:
        return cache.score(variable, tuple(sorted(members)))

    for i, j, less, more in trials:
        kept, gone = score(i, parents[i]) + score(j, parents[j]), score(i, parents[i]) + score(j, less)
        turned = -np.inf if more is None else score(i, more) + score(j, less)
        if constraints.required[i, j] or max(kept, turned) > gone:
            directed[(j, i) if turned > kept else (i, j)] = 1.0
    return directed


def learn_again(
    learned: CheckContext,
    name: ScoreName | None,
    constraints: Constraints,
    rng: np.random.Generator,
    deadline: Deadline,
) -> FloatArray:
    """Polish the order that was found on resampled rows, by a score, and prune again; marks where causes may be hidden.

    Without a score the edges stay, and only what independences say of them is learned again.
    """
    hidden, edges = learned.assumptions.hidden_causes, learned.edges
    rows, _ = resampled(learned.table, time_block(learned.table), rng, distinct=not hidden)
    if name is not None:
        of_start = start_constraints(constraints) if hidden else constraints
        score = build_score(name, rows, of_start, device=torch.device("cpu"))
        _, edges = search_again(learned, rows, score, of_start, deadline=deadline)
        if not hidden:
            return score.marks(edges, constraints)
    test = independence_test(rows, curves=learned.assumptions.mechanism == "additive")
    return learn_pag(edges, test, constraints, most_given=MOST_GIVEN, deadline=deadline).astype(np.float64)


def search_again(
    learned: CheckContext, table: Table, score: OrderScore, constraints: Constraints, **climbs: Any
) -> tuple[float, BoolArray]:
    """The score that climbs from the found order end at on a table, and the graph by the pruning that was taken."""
    found = polish(score, learned.order, constraints, **climbs)
    edges = order_to_graph(
        found.order, table, score, constraints,
        pruning=learned.pruning if score.name == learned.score else "auto",  # type: ignore[arg-type]
        threshold=learned.threshold, cutoff=learned.cutoff,
    )  # fmt: skip
    return found.score, edges


def stability(edges: BoolArray, confidence: FloatArray, names: Sequence[Hashable]) -> Check:
    """Compare a graph with the probability of each edge, ``[i, j]`` for i -> j.

    Examples
    --------
    >>> edges = np.array([[0, 1], [0, 0]], dtype=bool)
    >>> stability(edges, np.array([[0, 0.3], [0.6, 0]]), ["rain", "wet"]).sentence
    '1 of 1 edge came back in fewer than half of the resamples (rain -> wet); 1 edge that the graph lacks
    came back in at least half (wet -> rain).'
    """
    turned = edges.T & (confidence > confidence.T)  # transposed: edges of the graph the other way round
    lacking_edges = ~edges & (confidence >= UNSTABLE) & (~edges.T | turned)
    unstable, absent = (
        [f"{names[i]} -> {names[j]}" for i, j in np.argwhere(chosen)]
        for chosen in (edges & (confidence < UNSTABLE), lacking_edges)
    )
    n, lacking = int(edges.sum()), f"{counted(len(absent), 'edge')} that the graph lacks"
    if n == 0:
        said = "The graph has no edge that could be unstable"
        more = f"; {lacking} came in at least half of the resamples"
    elif unstable:
        few = f"{len(unstable)} of {counted(n, 'edge')}"
        said = f"{few} came back in fewer than half of the resamples ({some(unstable)})"
        more = f"; {lacking} came back in at least half"
    else:
        said = f"Every one of the {n} edges came back in at least half of the resamples (0 unstable)"
        more = f"; so did {lacking}"
    sentence = f"{said}{more} ({some(absent)})." if absent else f"{said}."
    level: Level = "warning" if len(unstable) > n / 4 else "note" if unstable or absent else "fine"
    return Check(NAME, float(len(unstable)), sentence, level, {"unstable": unstable, "absent": absent})


N_RESAMPLES = 20
"""Resamples of every fit: shares to a twentieth."""


Relearn = Callable[[np.random.Generator, Deadline], FloatArray]
"""Draw rows and learn again: one for i -> j, half each way where it may be either; or the marks of a PAG."""


def shares_of(relearn: Relearn, seed: int, deadline: Deadline) -> list[FloatArray]:
    """Learn again on resample after resample: of each, what was learned; fewer of them where the time was over.

    Resample k depends on (seed, k) alone, so a result differs between machines only where the time was over. Threads
    share them: most of the work is compiled.
    """
    own = deadline.part()

    def one(k: int) -> FloatArray | None:
        if own.passed():
            return None
        found = relearn(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,))), own)
        return None if own.passed() else found  # it may have been cut short

    with one_thread(), pool_of_threads(N_RESAMPLES) as pool:
        try:
            return [found for found in pool.map(one, range(N_RESAMPLES)) if found is not None]
        except BaseException:
            own.cancel()
            raise
