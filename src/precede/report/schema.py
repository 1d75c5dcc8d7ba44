"""What a summary must look like before a page is made from it: it may have been edited, or come from elsewhere."""

from __future__ import annotations

from typing import Any, Literal, cast, get_args, get_origin, get_type_hints, is_typeddict

from precede.errors import OptionError
from precede.report.summary import Summary

LARGEST, LARGEST_WHOLE = 1e200, 10**15
"""Numbers beyond are none that this package wrote."""

WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def check_summary(summary: Any) -> Summary:
    """Refuse, in a sentence, what is not a summary of this release.

    Examples
    --------
    >>> check_summary({"format": "precede-summary", "version": 4, "title": 5})
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: the summary is damaged: 'title' should be a text, and is 5.
    """
    if not isinstance(summary, dict) or summary.get("format") != "precede-summary":
        raise OptionError("this is not a summary that 'precede discover --out' wrote.")
    if summary.get("version") != 4:
        raise OptionError(
            f"this is a summary of version {summary.get('version')!r}, and this release of precede shows version 4: "
            "run 'precede discover' again."
        )
    _check(summary, Summary, "")
    checked = cast(Summary, summary)
    _check_sizes(checked)
    return checked


def _check(value: Any, shape: Any, where: str) -> None:
    """Refuse what is not of a type of :mod:`precede.report.summary`."""
    if shape in WORDS:
        _check_plain(value, shape, where)
    elif is_typeddict(shape):
        if not isinstance(value, dict):
            _refuse(where, "a group of named values", value)
        for name, part in get_type_hints(shape).items():
            inside = f"{where}.{name}" if where else name
            if name not in value:
                raise OptionError(f"the summary is damaged: {inside!r} is missing.")
            _check(value[name], part, inside)
    elif get_origin(shape) is Literal:
        if value not in get_args(shape):
            _refuse(where, " or ".join(map(repr, get_args(shape))), value)
    elif get_origin(shape) is list:
        if not isinstance(value, list):
            _refuse(where, "a list", value)
        for k, item in enumerate(value):
            _check(item, get_args(shape)[0], f"{where}[{k}]")
    elif get_origin(shape) is dict:
        _check_values(value, where)
    elif value is not None:  # of this shape, or null
        _check(value, get_args(shape)[0], where)


def _check_plain(value: Any, shape: type, where: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
    fine = {
        str: isinstance(value, str),
        bool: isinstance(value, bool),
        float: number,
        int: number and isinstance(value, int) and abs(value) <= LARGEST_WHOLE,
    }
    if not fine[shape]:
        _refuse(where, WORDS[shape], value)


def _check_values(value: Any, where: str) -> None:
    """Named values of any plain kind."""
    if not isinstance(value, dict):
        _refuse(where, "a group of named values", value)
    for name, item in value.items():
        if isinstance(item, int | float) and not abs(item) <= LARGEST:
            _refuse(f"{where}.{name}", WORDS[float], item)


def _check_sizes(summary: Summary) -> None:
    """Lengths and places that belong together."""
    nodes, edges, order, learning = summary["nodes"], summary["edges"], summary["order"], summary["learning"]
    d = len(nodes)
    if d == 0 or sorted(order) != list(range(d)):
        raise OptionError("the summary is damaged: 'order' does not list every variable once.")
    for k, edge in enumerate(edges):
        if not (0 <= edge["cause"] < d and 0 <= edge["effect"] < d):
            raise OptionError(f"the summary is damaged: 'edges[{k}]' joins variables that are not there.")
        cause = nodes[edge["cause"]]
        pairs = [(edge["points"], cause["values"]), (edge["curve"], cause["grid"])]
        broken = any(len(own or ()) != len(other or ()) for own, other in pairs if own is not None)
        extremes, density = edge["extremes"], edge["density"]
        broken |= extremes is not None and (len(extremes) != 2 or len(extremes[0]) != len(extremes[1]))
        if density is not None:
            broken |= len(edge["extent"] or ()) != 4 or {len(row) for row in density} != {len(density)}
        if broken:
            raise OptionError(f"the summary is damaged: the plot of 'edges[{k}]' has lists of different lengths.")
    if any(not (0 <= pair[end] < d) for pair in summary["suspicions"] for end in ("first", "second")):
        raise OptionError("the summary is damaged: 'suspicions' joins variables that are not there.")
    if any(node["range"] is not None and len(node["range"]) != 2 for node in nodes):
        raise OptionError("the summary is damaged: a 'range' has two ends.")
    if learning is not None:
        mean = learning["mean"]
        lengths = {len(learning["iteration"]), len(learning["best"]), *([] if mean is None else [len(mean)])}
        if len(lengths) != 1 or 0 in lengths or all(value is None for value in learning["best"]):
            raise OptionError("the summary is damaged: 'learning' has lists of different lengths, or none.")


def _refuse(where: str, wanted: str, found: Any) -> None:
    shown = repr(found)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    raise OptionError(f"the summary is damaged: {where!r} should be {wanted}, and is {shown}.")
