"""Run every check on what was learned; a check that fails is said, and costs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, TypeVar

from precede.evidence.checks import data_checks, directions, edge_readings, result_checks
from precede.evidence.checks.context import CheckContext
from precede.evidence.checks.record import Check, Diagnostics, Remark, Verdict
from precede.evidence.checks.stability import resample, rests_on_policy, with_probabilities
from precede.runtime import Deadline, Signals, logger

T = TypeVar("T")

CHECKS: dict[str, Callable[[CheckContext], Verdict | None]] = {
    "identifiability": directions.check_identifiability,
    "knowledge against the data": directions.check_knowledge,
    "kinds of columns": directions.check_column_kinds,
    "columns cut off": directions.check_cut_off,
    "distance to the best score known": result_checks.check_search,
    "edges within reach of the threshold": result_checks.check_weak_edges,
    "rows near each other": data_checks.check_rows_in_time,
    "independences against chance": result_checks.check_independences,
    "held-out likelihood": result_checks.check_prediction,
    "values far out": edge_readings.check_outliers,
    "var-sortability": data_checks.check_var_sortability,
    "R²-sortability": data_checks.check_r2_sortability,
    "effect of standardizing": data_checks.check_standardizing,
    "residual normality": data_checks.check_normality,
    "equal noise variances": data_checks.check_equal_variances,
    "nonlinearity": data_checks.check_nonlinearity,
}
"""In the sequence of the report. A check returns None where there is nothing that it could look at."""

OF_NUMBERS = (*list(CHECKS)[5:6], *list(CHECKS)[7:-1])
"""Checks that mean nothing where columns have levels, which have no size."""

OF_MANY_ROWS = ("held-out likelihood", "R²-sortability", "residual normality")
"""Checks that need more rows than columns: two regress on all columns, and one names scores that do."""

CHECKS_SHARE = 0.25
"""The checks may take what the search has left of the time limit, and this share of the limit in any case."""


def diagnose(
    learned: CheckContext, depth: bool | Literal["quick"] = True, signals: Signals | None = None
) -> Diagnostics:
    """Check a learned graph against the data and against what the method assumed.

    A finished search is never lost here: what goes wrong becomes a warning among the remarks.

    Parameters
    ----------
    learned : CheckContext
    depth : bool or "quick"
        False collects the remarks only; "quick" leaves out resampling.
    signals : Signals, optional
        Who hears of Ctrl-C: what is left is skipped then.

    Examples
    --------
    >>> import numpy as np
    >>> from precede.data.load import load_table
    >>> x = np.random.default_rng(0).normal(size=(1000, 3)).cumsum(axis=1)
    >>> chain = CheckContext(load_table(x), np.eye(3, k=1, dtype=bool), np.arange(3), score="linear")
    >>> print(next(check.sentence for check in diagnose(chain).checks if check.name == "nonlinearity"))
    0 of the 2 variables with causes depend on them along a curve: straight lines describe the effects well.
    """
    remarks = result_checks.remarks_on(learned)
    if not depth:
        return Diagnostics(learned.reported, learned.assumptions, remarks)
    limit = Deadline(time_for_checks(learned))
    run = _Sheltered(limit, signals or Signals(Deadline(None)))
    edges = run("the reading of the edges", lambda: edge_readings.read_edges(learned)) or ()
    influence = run("the check of influence", lambda: edge_readings.check_influence(learned, edges)) if edges else None
    checks = [] if influence is None else [Check("influence of single rows", *influence)]
    checks += [check for check in (_checked(name, learned, run) for name in CHECKS) if check is not None]
    plots = run("the plots of the edges", lambda: edge_readings.draw_edges(learned, edges))
    found = Diagnostics(learned.reported, learned.assumptions, remarks, tuple(checks), edges, checked=True, plots=plots)
    # where the score counts the pretrained policy's probabilities, these are the edges' confidences
    if edges and "policy" in learned.reported and rests_on_policy(learned):
        found = run("the probabilities of the edges", partial(with_probabilities, learned, found)) or found
    elif depth is True and edges:
        found = run("resampling", partial(resample, learned, found, limit)) or found
    return replace(found, remarks=(*found.remarks, *run.remarks))


def _checked(name: str, learned: CheckContext, run: _Sheltered) -> Check | None:
    """Run a check, or say why it cannot be run."""
    why = ""
    if learned.levels and name in OF_NUMBERS:
        why = "columns with levels have no size"
    elif learned.table.is_wide and name in OF_MANY_ROWS:
        why = "it needs more rows than columns"
    else:
        failures = len(run.remarks)
        found = run(f"the check of {name}", partial(CHECKS[name], learned))
        if found is not None:
            return Check(name, *found)
        if run.ended or len(run.remarks) > failures:
            why = "the checks ended before, or it failed"
    return Check(name, None, f"Not run: {why}.", "not run") if why else None


def time_for_checks(learned: CheckContext) -> float | None:
    """Seconds that the checks may take; None without a limit."""
    if learned.max_time is None:
        return None
    spent = 0.0 if learned.search is None else learned.search.seconds
    return max(learned.max_time - spent, CHECKS_SHARE * learned.max_time)


class _Sheltered:
    """Call functions whose failure must not cost the result; Ctrl-C and the deadline skip what is left."""

    def __init__(self, deadline: Deadline, signals: Signals) -> None:
        self.remarks: list[Remark] = []
        self._deadline, self._signals = deadline, signals
        self.ended = False

    def __call__(self, what: str, work: Callable[[], T]) -> T | None:
        if self.ended:
            return None
        if self._deadline.passed():
            self.ended = True
            self._say(f"The time limit ended the checks before {what}: what is not mentioned here was not checked.")
            return None
        try:
            with self._signals.breaking_off():
                return work()
        except KeyboardInterrupt:
            self.ended = True
            self._say("The checks were interrupted: the graph is complete, what is not mentioned here was not checked.")
        except Exception as error:
            logger.debug("%s failed", what, exc_info=True)
            self._say(
                f"{what[0].upper()}{what[1:]} failed ({type(error).__name__}: {error}): the graph stands, but "
                "this was not checked."
            )
        return None

    def _say(self, sentence: str) -> None:
        self.remarks.append(Remark(sentence))
        logger.warning(sentence)
