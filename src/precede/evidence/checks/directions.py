"""Directions: which of them the data can tell, and which are not claimed."""

from dataclasses import astuple

import numpy as np
import torch

from precede.arrays import BoolArray
from precede.evidence.checks.context import CheckContext
from precede.evidence.checks.data_checks import SIGNIFICANT, normality
from precede.evidence.checks.record import SOURCE_WORDS, Level, Source, Verdict, counted, some
from precede.evidence.checks.result_checks import log_likelihood_gains
from precede.evidence.checks.stability import search_again
from precede.graph import MixedGraph
from precede.graph.dags import class_of
from precede.knowledge import Constraints
from precede.runtime import Deadline
from precede.scores.build import SCORE_NAMES, build_score

CUT_OFF = 0.05
"""Share of the rows at a column's smallest or largest value from which the column looks cut off there."""


COARSE, ROWS_EACH = 30, 5
"""A column of numbers with at most this many values, each with this many rows on average, was rounded to steps."""

BY_MODEL = ("shape", "curvature", "variances", "policy")
"""Sources of directions that rest on what the model assumes."""

RESTARTS, SECONDS = 10, 20.0
"""Of the search without the knowledge, and its time."""


def stepped_columns(learned: CheckContext) -> BoolArray:
    """Columns of few values and counts that the method takes for continuous numbers, (n_variables,)."""
    if learned.levels:
        return np.zeros(learned.n_variables, dtype=bool)
    sample = learned.values[learned.fit.rows]
    few = min(COARSE, len(sample) // ROWS_EACH)
    coarse = [len(np.unique(column)) <= few for column in sample.T]
    return np.array([kind.name != "number" for kind in learned.table.kinds]) | coarse


def cut_off_columns(learned: CheckContext) -> BoolArray:
    """Columns of numbers that pile up at an end, as a saturated sensor's or a detection limit's do, (n_variables,)."""
    if learned.levels:
        return np.zeros(learned.n_variables, dtype=bool)
    values = learned.values
    at_an_end = np.maximum((values == values.min(axis=0)).mean(axis=0), (values == values.max(axis=0)).mean(axis=0))
    return np.asarray((at_an_end >= CUT_OFF) & ~stepped_columns(learned))


def gaussian_columns(learned: CheckContext) -> BoolArray:
    """Variables whose noise looks Gaussian to a score that tells directions by noise that is not, (n_variables,)."""
    if learned.assumptions.gaussian != "excluded":
        return np.zeros(learned.n_variables, dtype=bool)
    return np.asarray(normality(learned.fit.residuals) >= SIGNIFICANT)  # NaN, too few rows to tell, is not


def direction_sources(learned: CheckContext) -> dict[tuple[int, int], Source]:
    """Where the direction of each edge comes from.

    Knowledge, time and experiments come first, since they fix a direction whatever the data say; then independences,
    and what follows from all of these. What is left is up to the model: by the shape of the noise, by curvature, by
    equal variances or by the policy, between columns that are what the model takes them for. Columns of few values
    and columns that are cut off are not, and two variables with Gaussian noise give nothing to a score that rests on
    other noise. Of a random order nothing is claimed.
    """
    edges = learned.edges
    if learned.assumptions.hidden_causes:
        sure = MixedGraph.from_edges(map(tuple, learned.reported["marks"]), learned.names).arrows
        return _at(edges & sure, "structure") | _at(edges & ~sure, "open")
    result: dict[tuple[int, int], Source] = {}
    for source, fixed in learned.fixed.items():
        result = _at(fixed, source) | result
    told = np.zeros_like(edges)
    sources: dict[Source, BoolArray] = {"structure": told, **learned.fixed}
    for source, fixed in sources.items() if learned.assumptions.tells_directions else ():
        told = told | fixed
        result = _at(edges & (class_of(edges, told).T == 0), source) | result  # transposed: the other way is ruled out
    place = learned.graph.position
    by_score = {(place(i), place(j)): source for i, j, source in learned.reported.get("direction_sources", ())}
    if learned.score == "vote":  # what members dispute is open, whatever the graph's own independences would say
        result = by_score | {edge: source for edge, source in result.items() if source in learned.fixed}
    unfit, gaussian = stepped_columns(learned) | cut_off_columns(learned), gaussian_columns(learned)
    loose = unfit[:, None] | unfit | (gaussian[:, None] & gaussian)
    for edge, source in _at(edges, _model_source(learned)).items():
        result.setdefault(edge, "open" if loose[edge] else by_score.get(edge, source))
    return result | _at(learned.alike, "open")


def _at(chosen: BoolArray, source: Source) -> dict[tuple[int, int], Source]:
    """One source for every place of a matrix that is true."""
    return {(int(i), int(j)): source for i, j in np.argwhere(chosen)}


def _model_source(learned: CheckContext) -> Source:
    """What tells a direction that nothing else does."""
    assumed = learned.assumptions
    if learned.identifies == "cpdag" or not assumed.tells_directions:
        return "open"
    if (learned.score or "").endswith("policy"):
        return "policy"
    if assumed.gaussian == "excluded":
        return "shape"
    if assumed.mechanism == "additive" and not assumed.equal_variances:
        return "curvature"
    return "variances" if assumed.linear or assumed.equal_variances else "open"


def check_identifiability(learned: CheckContext) -> Verdict:
    """Which directions nothing determines, and which only the model's assumptions do."""
    n = learned.graph.n_edges
    if n == 0:
        return 0.0, "No edges, so no directions to determine.", "fine", {"undirected": []}
    sources = direction_sources(learned)
    undirected = learned.edge_names([edge for edge, source in sources.items() if source == "open"])
    count, details = len(undirected), {"undirected": undirected}
    level: Level = "warning"
    by_model = [source for source in sources.values() if source in BY_MODEL]
    if not learned.assumptions.tells_directions:
        sentence = f"The directions of {count} of {n} edges mean nothing: the order was drawn at random."
    elif learned.assumptions.hidden_causes:
        level = "note"
        sentence = f"{n - count} of {n} edges are sure to be causes; the others may stand for a hidden cause."
    elif undirected:
        lines = [f"{learned.names[i]} – {learned.names[j]}" for (i, j), source in sources.items() if source == "open"]
        sentence = (
            f"The direction of {counted(count, 'edge')} of {n} cannot be determined ({some(lines)}): "
            "the data show that the two are connected, not which causes which."
        )
    elif by_model:
        level, words = "note", SOURCE_WORDS[by_model[0]]
        sentence = f"The directions of {len(by_model)} of {n} edges rest on the model alone ({words})."
    else:
        level, sentence = "fine", f"The directions of all {n} edges follow without the model's noise."
    return float(count), sentence, level, details


CONTRADICTED = 5.0
"""A price in score, as a log-likelihood, from which the data contradict what was known."""


def check_knowledge(learned: CheckContext) -> Verdict | None:
    """What the data would prefer without the knowledge, and what the knowledge costs in score."""
    known = learned.constraints
    free = Constraints.none(learned.n_variables).in_time(learned.table.steps, learned.names)
    if known is None or all(np.array_equal(a, b) for a, b in zip(astuple(known), astuple(free), strict=True)):
        return None
    if learned.score not in SCORE_NAMES:
        return None, "Not run: only a score of the data alone can weigh your knowledge.", "not run", {}
    ends, limit = [], Deadline(SECONDS)
    for constraints in (known, free):
        score = build_score(
            learned.score, learned.table, constraints, noise=learned.noise,  # type: ignore[arg-type]
            device=torch.device("cpu"), deadline=limit,
        )  # fmt: skip
        climbs = {"n_restarts": RESTARTS, "rng": np.random.default_rng(learned.seed), "deadline": limit}
        ends.append(search_again(learned, learned.table, score, constraints, **climbs))
    if limit.passed():
        return None, f"Not run: weighing your knowledge takes more than {SECONDS:.0f} s.", "not run", {}
    (held, _), (best, preferred) = ends
    against = preferred & (~known.allowed | known.before.T | known.required.T)  # transposed: the other way was known
    lost = known.required & ~preferred & ~preferred.T  # transposed: absent either way
    evidence = log_likelihood_gains(learned, preferred)[preferred & ~known.allowed].max(initial=0.0)
    price = max(best - held, float(evidence))
    wishes = [*learned.edge_names(against), *(f"no {edge}" for edge in learned.edge_names(lost))]
    details = {"price": price, "preferred": wishes}
    if price < CONTRADICTED or not wishes:
        sentence = f"The data do not contradict your knowledge (price in score {price:.1f})."
        return price, sentence, "fine", details
    sentence = (
        f"The data contradict your knowledge: they prefer {some(wishes)}; keeping to it costs {price:.1f} in score."
    )
    return price, sentence, "warning", details


def check_column_kinds(learned: CheckContext) -> Verdict | None:
    """Whether columns that are not continuous numbers were treated as such, and what is therefore not claimed."""
    found = "with few values, or counts ({}), taken for continuous numbers by this method"
    return _not_claimed(learned, stepped_columns(learned), found)


def check_cut_off(learned: CheckContext) -> Verdict | None:
    """Whether columns pile up at an end, and what is therefore not claimed."""
    found = f"with {CUT_OFF:.0%} or more of the rows at the smallest or largest value ({{}}), as if cut off there"
    return _not_claimed(learned, cut_off_columns(learned), found)


def _not_claimed(learned: CheckContext, unfit: BoolArray, words: str) -> Verdict | None:
    """Say which columns are not what the method takes them for, and which directions are not claimed for that."""
    if not unfit.any():
        return None
    sources = direction_sources(learned).items()
    left = [(i, j) for (i, j), source in sources if source == "open" and (unfit[i] or unfit[j])]
    names, edges = learned.variable_names(np.flatnonzero(unfit)), learned.edge_names(left)
    found = f"{counted(len(names), 'column')} {words.format(some(names))}"
    if not left:
        return float(len(names)), f"{found}; no direction rests on that.", "note", {"columns": names}
    several = len(left) > 1
    sentence = (
        f"{found}: the direction{'s' if several else ''} of {counted(len(left), 'edge')} ({some(edges)}) "
        f"{'are' if several else 'is'} not claimed, only that the two are connected."
    )
    return float(len(left)), sentence, "warning", {"columns": names, "edges": edges}
