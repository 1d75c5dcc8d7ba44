"""Whatever limits a result, as remarks: how the data was read, how the search ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from precede.evidence.checks.check import Level
from precede.evidence.checks.learned import Learned
from precede.evidence.checks.record import Remark

AS_ASKED = ("Left out as asked", "Kinds of columns", "Once there was a graph", "The score is the fit")
"""Remarks that say what was asked for, what was seen, or what was done about gaps, and limit nothing."""

ENDINGS: dict[str, tuple[object, str]] = {
    "stopped_by_max_time": (True, "The time limit ended the method early: the graph is the best it had by then."),
    "timed_out": (True, "The time limit ended the search early: a better graph may exist."),
    "complete": (False, "The time limit ended the method before every variable was placed by its own criterion."),
    "converged": (False, "The method did not converge: more iterations could change the graph."),
    "optimal": (False, "The search was cut short, so its graph is not proven to be the best."),
}
"""What methods report about how they ended: the value that limits the result, and the sentence."""


def remarks_on(learned: Learned) -> tuple[Remark, ...]:
    """Everything that limits a result, each once."""
    remarks = [Remark(sentence, _level(sentence)) for sentence in _sentences(learned)]
    search = learned.search
    ended = [words for name, (limits, words) in ENDINGS.items() if learned.reported.get(name) is limits]
    if search is not None and search.interrupted:
        ended.append("The search was interrupted: the graph is the best that was known by then.")
    elif search is not None and search.out_of_time:
        ended.append("The time limit ended the search early: longer might find a better order.")
    remarks += [Remark(words, name="search") for words in ended]
    return tuple({remark.sentence: remark for remark in remarks}.values())


def _sentences(learned: Learned) -> Iterable[str]:
    own: Any = learned.reported.get("remarks", ())
    for sentence in (*learned.table.remarks, *own):
        text = str(sentence)
        yield text[:1].upper() + text[1:]


def _level(sentence: str) -> Level:
    return "note" if sentence.startswith(AS_ASKED) else "warning"
