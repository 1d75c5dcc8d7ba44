"""Checks of the result itself: how the search ended, which edges are close calls, whether chance does as well."""

import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.evidence.checks.context import CheckContext
from precede.evidence.checks.record import Level, Remark, Verdict, counted, some
from precede.evidence.falsification import held_out_likelihood, permutation_test
from precede.evidence.sample import sample_of
from precede.graph.dags import full_dag
from precede.knowledge import Constraints
from precede.metrics import shd
from precede.pruning.weights import prune_by_bic, regression_weights
from precede.runtime import RandomState, numpy_rng
from precede.scores.build import build_score
from precede.scores.covariance import covariance, regularized
from precede.scores.protocol import CPDAG_NOTE
from precede.search.exact import exact_order

AS_ASKED = ("Left out as asked", "Kinds of columns", "Once there was a graph", "The score is the fit", CPDAG_NOTE)
"""Remarks that say what was asked for, what was seen, or what was done about gaps, and limit nothing."""

ENDINGS: dict[str, tuple[object, str]] = {
    "stopped_by_max_time": (True, "The time limit ended the method early: the graph is the best it had by then."),
    "timed_out": (True, "The time limit ended the search early: a better graph may exist."),
    "complete": (False, "The time limit ended the method before every variable was placed by its own criterion."),
    "converged": (False, "The method did not converge: more iterations could change the graph."),
    "optimal": (False, "The search was cut short, so its graph is not proven to be the best."),
}
"""What methods report about how they ended: the value that limits the result, and the sentence."""


def remarks_on(learned: CheckContext) -> tuple[Remark, ...]:
    """Everything that limits a result, each once."""
    own: Any = learned.reported.get("remarks", ())
    sentences = (f"{text[:1].upper()}{text[1:]}" for text in map(str, (*learned.table.remarks, *own)))
    remarks = [Remark(sentence, *_kind(sentence)) for sentence in sentences]
    search = learned.search
    ended = [words for name, (limits, words) in ENDINGS.items() if learned.reported.get(name) is limits]
    if search is not None and search.interrupted:
        ended.append("The search was interrupted: the graph is the best that was known by then.")
    elif search is not None and search.out_of_time:
        ended.append("The time limit ended the search early: longer might find a better order.")
    remarks += [Remark(words, name="search") for words in ended]
    return tuple({remark.sentence: remark for remark in remarks}.values())


HOW_READ = re.compile(
    r"labels? the rows|(was|were) read (with|as|alike)|had texts that stand for|had marks between|read without the unit"
    r"|^The levels of .* are in the order|repeat others: each counts once"
)
"""What was done in reading, which limits nothing."""

OF_CELLS = {r"of the cells are missing": "missing values", r"cells? (is|are) odd": "odd cells"}


def _kind(sentence: str) -> tuple[Level, str]:
    """Level and name of a remark."""
    if sentence.startswith(AS_ASKED) or HOW_READ.search(sentence):
        return "note", "remark"
    return "warning", next((name for words, name in OF_CELLS.items() if re.search(words, sentence)), "remark")


REACH = 1.5
"""An edge is within reach of the rule when a rule this many times stricter or laxer would decide otherwise."""

EXACT_VARIABLES = 10
"""Up to here the best order of all is found in well under a second for the linear score."""


def check_search(learned: CheckContext) -> Verdict:
    """How far the score of the result is from the best that is known."""
    search = learned.search
    if search is None or not math.isfinite(search.best_score):
        return None, "The method reports no score, so the search cannot be judged.", "note", {}
    reached = search.best_score
    if search.exact:
        return 0.0, f"The score {reached:.2f} is the best of all orders (exact search).", "fine", {}
    rivals = {"a greedy order": search.greedy_score, "the exact optimum": _exact_score(learned)}
    known = {label: value for label, value in rivals.items() if value is not None and math.isfinite(value)}
    best = max([reached, *known.values()])
    details = {"reached": reached, "best_known": best, **known}
    if best - reached > 1e-6 * max(1.0, abs(best)):
        against = "; ".join(f"{label} scores {value:.2f}" for label, value in known.items())
        sentence = f"The result scores {reached:.2f}, {best - reached:.2f} short of the best known ({against})."
        return best - reached, sentence, "warning", details
    if "the exact optimum" in known:
        return 0.0, f"The score {reached:.2f} is the optimum.", "fine", details
    agree = "Independent searches agree" if search.climbs_agree else "No search found a better order"
    return 0.0, f"{agree} (score {reached:.2f}); optimality is not guaranteed.", "fine", details


def _exact_score(learned: CheckContext) -> float | None:
    """The optimum, where it is computed quickly."""
    if learned.score != "linear" or learned.noise == "unequal" or learned.n_variables > EXACT_VARIABLES:
        return None
    constraints = learned.constraints or Constraints.none(learned.n_variables)
    score = build_score("linear", learned.table, constraints, device=torch.device("cpu"))  # gaps and all, as in the fit
    return exact_order(score, constraints).score


def check_weak_edges(learned: CheckContext) -> Verdict:
    """Which edges, there or not, a slightly different rule would decide otherwise."""
    before, required = full_dag(learned.order), np.zeros_like(learned.edges)
    if learned.constraints is not None:
        before, required = before & learned.constraints.allowed, learned.constraints.required
    if learned.assumptions.mechanism == "additive":
        weak = np.nan_to_num(learned.fit.p_values, nan=1.0) > learned.cutoff**REACH
        missed = np.zeros_like(weak)
        rule = f"p-value above {learned.cutoff**REACH:.2g} in an F test"
    else:
        if learned.pruning == "threshold":
            size, limit = np.abs(regression_weights(learned.covariance, learned.order)), learned.threshold
            rule = f"|weight| within a factor {REACH} of {limit:g}"
        else:
            size = log_likelihood_gains(learned, learned.edges)
            limit = math.log(learned.table.n_samples) / 2 + math.log(learned.n_variables)
            rule = f"gain in log-likelihood within a factor {REACH} of the extended BIC's price, {limit:.1f}"
        weak, missed = size < REACH * limit, size > limit / REACH
    kept = learned.edge_names(weak & learned.edges & ~required)
    dropped = learned.edge_names(missed & before & ~learned.edges)
    details = {"weak": kept, "nearly": dropped, "rule": rule}
    total = len(kept) + len(dropped)
    if total == 0:
        return 0.0, "No edge is borderline.", "fine", details
    shown = f" ({some(kept)})" if kept else ""
    near = f"; {counted(len(dropped), 'absent edge')} nearly came in ({some(dropped)})" if dropped else ""
    are = "is" if len(kept) == 1 else "are"
    sentence = f"{len(kept)} of {counted(learned.graph.n_edges, 'edge')} {are} borderline{shown}{near}."
    return float(total), sentence, "warning" if len(kept) > learned.graph.n_edges / 3 else "note", details


def log_likelihood_gains(learned: CheckContext, edges: BoolArray) -> FloatArray:
    r"""What i adds to j beyond its parents, :math:`-\frac m2 \log(1 - r_{ij|\mathrm{pa}(j)}^2)`."""
    matrix = learned.correlation
    d = len(matrix)
    squared = np.zeros((d, d))
    for j in range(d):
        parents = np.flatnonzero(edges[:, j])
        half = np.linalg.solve(matrix[np.ix_(parents, parents)], matrix[parents])
        left = np.maximum(np.diag(matrix) - (matrix[parents] * half).sum(axis=0), 1e-12)  # given the parents
        squared[:, j] = (matrix[j] - matrix[j, parents] @ half) ** 2 / (left * left[j])
        family = np.append(parents, j)
        precision = np.linalg.inv(matrix[np.ix_(family, family)])
        squared[parents, j] = precision[:-1, -1] ** 2 / (np.diag(precision)[:-1] * precision[-1, -1])
    np.fill_diagonal(squared, 0.0)
    return -learned.table.n_samples / 2 * np.log1p(-np.clip(squared, 0.0, 1 - 1e-12))


PERMUTATIONS = 39
"""Shuffled graphs: the fewest that let a graph be clearly better than chance at the level of .05."""

FEWEST_ROWS = 20
"""Below, a test of independences says nothing."""


TOO_FEW: Verdict = None, f"Not run: fewer than {FEWEST_ROWS} rows in which nothing was set.", "not run", {}


def check_independences(learned: CheckContext) -> Verdict:
    """Whether the independences that the graph claims hold better than a shuffled graph's."""
    rows = _observed(learned)
    if len(rows) < FEWEST_ROWS:
        return TOO_FEW
    found = permutation_test(learned.graph, sample_of(rows), PERMUTATIONS)
    if found.n_tests == 0:
        return None, f"Not run: {found.sentence[0].lower()}{found.sentence[1:]}", "not run", {}
    level: Level = "warning" if found.falsified else "fine" if found.informative else "note"
    return found.p_value, found.sentence, level, asdict(found)


MANY_VARIABLES = 300
"""Variables from which on fewer folds must do."""


def check_prediction(learned: CheckContext) -> Verdict:
    """Whether the edges help to predict rows that were left out."""
    rows = _observed(learned)
    if learned.graph.n_edges == 0:
        return None, "Not run: the graph has no edges.", "not run", {}
    if len(rows) < FEWEST_ROWS:
        return TOO_FEW
    n_folds = 5 if learned.n_variables <= MANY_VARIABLES else 2  # a fold costs the cube of the variables
    found = held_out_likelihood(learned.graph, sample_of(rows), n_folds)
    gain, rest = found.graph - found.empty, found.full - found.graph
    level: Level = "warning" if gain <= 0 else "note" if rest > 0.02 * gain else "fine"
    return gain, found.sentence, level, asdict(found)


def _observed(learned: CheckContext) -> FloatArray:
    """The rows in which nothing was set: what was set does not follow from its causes."""
    targets = learned.table.targets
    return learned.values if targets is None else learned.values[~targets.any(axis=1)]


NO_BETTER = 0.1
"""A result that such a share of random orders equals is no better than chance would have it."""

ENOUGH, FEWEST_VARIABLES = 40, 5
"""Random orders and variables below which the share says nothing: even a perfect answer could be luck."""


@dataclass(frozen=True)
class Chance:
    """Structural Hamming distances of a result, of the empty graph, and of random orders with the same pruning.

    Parameters
    ----------
    learned, empty : int
    random_mean : float
    random_best : int
    random_as_good : float
        Share of random orders that do at least as well as the result.
    random_perfect : float
        Share of random orders that give the reference graph itself.
    n_random, n_variables : int
    """

    learned: int
    empty: int
    random_mean: float
    random_best: int
    random_as_good: float
    random_perfect: float
    n_random: int
    n_variables: int

    @property
    def beatable(self) -> bool:
        """Whether a perfect answer would stand out among random orders."""
        enough = self.n_random >= ENOUGH and self.n_variables >= FEWEST_VARIABLES
        return enough and self.empty > 0 and self.random_perfect < NO_BETTER

    @property
    def no_better(self) -> bool:
        """Whether chance does as well as the result, random orders often or the empty graph, where it can be beaten."""
        return self.beatable and (self.random_as_good >= NO_BETTER or self.empty <= self.learned)

    @property
    def sentence(self) -> str:
        facts = f"{self.learned} edges differ from the reference graph (SHD); with no edges at all, {self.empty}"
        if not self.beatable:
            return f"{facts}. Too small a case to compare with chance: a perfect answer could be luck."
        return (
            f"{facts}; with random orders, {self.random_mean:.1f} on average ({self.random_as_good:.0%} of "
            f"{self.n_random} do at least as well)."
        )

    @property
    def warning(self) -> str | None:
        """A sentence where the result is no better than chance, else None."""
        return f"No better than chance. {self.sentence}" if self.no_better else None


def compare_with_chance(
    truth: Any,
    values: FloatArray,
    edges: BoolArray,
    *,
    prune: Callable[[IntArray], BoolArray] | None = None,
    n_random: int = 100,
    random_state: RandomState = 0,
) -> Chance:
    """Compare a result with random orders under the same pruning.

    Parameters
    ----------
    truth : CausalGraph, DataFrame or (n_variables, n_variables) array
        Over the columns of ``values``, in their order.
    values : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
        The learned graph.
    prune : callable, optional
        From an order to a graph; pruning by the extended BIC when left out.
    n_random : int
        Number of random orders.
    random_state : int, Generator or None

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(500, 3)).cumsum(axis=1)
    >>> chain = np.eye(3, k=1, dtype=bool)
    >>> chance = compare_with_chance(chain, x, chain, n_random=20)
    >>> chance.learned, chance.empty
    (0, 2)
    """
    if prune is None:
        matrix = regularized(covariance(values))

        def prune(order: IntArray) -> BoolArray:
            return prune_by_bic(matrix, order, len(values))

    true = np.asarray(getattr(truth, "edges", truth)) != 0
    rng = numpy_rng(random_state)
    random = np.array([shd(prune(rng.permutation(len(true))), true) for _ in range(n_random)])
    learned, mean, best = int(shd(edges, true)), float(random.mean()), int(random.min())
    as_good, perfect = float((random <= learned).mean()), float((random == 0).mean())
    return Chance(learned, int(true.sum()), mean, best, as_good, perfect, n_random, len(true))
