"""What a summary must look like before a page is made from it: it may have been edited, or come from elsewhere."""

from __future__ import annotations

from typing import Any

from precede.errors import OptionError

TEXT, WHOLE, NUMBER, FLAG = "a text", "a whole number", "a number", "true or false"
LARGEST, LARGEST_WHOLE = 1e200, 10**15
"""Numbers beyond are none that this package wrote."""


class Maybe:
    """Null, or something of a given shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class OneOf:
    """One of a few texts."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices


LEVEL = OneOf("fine", "note", "warning")
NUMBERS = [NUMBER]
MAYBE_NUMBERS = [Maybe(NUMBER)]

NODE = {
    "name": TEXT, "place": WHOLE, "causes": WHOLE, "effects": WHOLE, "mean": Maybe(NUMBER), "sd": Maybe(NUMBER),
    "values": Maybe(NUMBERS), "grid": Maybe(NUMBERS), "histogram": Maybe([WHOLE]), "range": Maybe(NUMBERS),
}  # fmt: skip
EDGE = {
    "cause": WHOLE, "effect": WHOLE, "weight": Maybe(NUMBER), "strength": Maybe(NUMBER),
    "trend": OneOf("rising", "falling", "mixed"), "partial_r2": Maybe(NUMBER), "p_value": Maybe(NUMBER),
    "direction": OneOf("told", "either way", "not claimed"), "confidence": Maybe(NUMBER), "connected": Maybe(NUMBER),
    "total": Maybe({"value": Maybe(NUMBER), "low": NUMBER, "high": NUMBER}),
    "influence": Maybe({"rows": [WHOLE], "strength": Maybe(NUMBER), "farthest": Maybe(NUMBER)}),
    "slope": Maybe(NUMBER), "points": Maybe(NUMBERS), "extremes": Maybe([NUMBERS]), "curve": Maybe(NUMBERS),
    "density": Maybe([[WHOLE]]), "extent": Maybe(NUMBERS), "outside": WHOLE,
}  # fmt: skip
CHANCE = {
    "learned": WHOLE, "empty": WHOLE, "random_mean": NUMBER, "random_best": WHOLE, "random_as_good": NUMBER,
    "n_random": WHOLE, "sentence": TEXT, "no_better": FLAG,
}  # fmt: skip
SUMMARY = {
    "title": TEXT, "note": Maybe(TEXT), "method": TEXT, "score_name": Maybe(TEXT), "score": Maybe(NUMBER),
    "provenance": {"date": TEXT, "file": Maybe(TEXT), "command": Maybe(TEXT)},
    "identifies": OneOf("dag", "cpdag"), "linear": FLAG, "checked": FLAG, "has_confidence": FLAG, "by_policy": FLAG,
    "rows_shown": FLAG,
    "resamples": WHOLE, "data": {"rows": WHOLE, "columns": [TEXT]},
    "remarks": [{"sentence": TEXT, "level": LEVEL}],
    "checks": [{"name": TEXT, "value": Maybe(NUMBER), "sentence": TEXT, "level": LEVEL}],
    "assumed": [TEXT], "found": [TEXT], "sure": [TEXT], "unknown": [TEXT],
    "nodes": [NODE], "edges": [EDGE], "order": [WHOLE],
    "suspicions": [{"first": WHOLE, "second": WHOLE, "probability": NUMBER}],
    "learning": Maybe({
        "iteration": [WHOLE], "best": MAYBE_NUMBERS, "mean": Maybe(MAYBE_NUMBERS), "final": Maybe(NUMBER),
        "greedy": Maybe(NUMBER),
    }),
    "evaluation": Maybe({"metrics": dict, "chance": CHANCE}),
    "settings": dict, "versions": {"precede": TEXT}, "reproduce": Maybe(TEXT),
}  # fmt: skip


def check_summary(summary: Any) -> dict[str, Any]:
    """Refuse, in a sentence, what is no summary of this release.

    Examples
    --------
    >>> check_summary({"format": "precede-summary", "version": 3, "title": 5})
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: the summary is damaged: 'title' should be a text, and is 5.
    """
    if not isinstance(summary, dict) or summary.get("format") != "precede-summary":
        raise OptionError("this is not a summary that 'precede discover --out' wrote.")
    if summary.get("version") != 3:
        raise OptionError(
            f"this is a summary of version {summary.get('version')!r}, and this release of precede shows version 3: "
            "run 'precede discover' again."
        )
    _check(summary, SUMMARY, "")
    _check_sizes(summary)
    return summary


def _check(value: Any, shape: Any, where: str) -> None:
    if isinstance(shape, Maybe):
        if value is not None:
            _check(value, shape.shape, where)
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            _refuse(where, "a group of named values", value)
        for name, part in shape.items():
            inside = f"{where}.{name}" if where else name
            if name not in value:
                raise OptionError(f"the summary is damaged: {inside!r} is missing.")
            _check(value[name], part, inside)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            _refuse(where, "a list", value)
        for k, item in enumerate(value):
            _check(item, shape[0], f"{where}[{k}]")
    elif isinstance(shape, OneOf):
        if value not in shape.choices:
            _refuse(where, " or ".join(map(repr, shape.choices)), value)
    elif shape is dict:
        _check_values(value, where)
    else:
        _check_plain(value, shape, where)


def _check_plain(value: Any, shape: str, where: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
    fine = {
        TEXT: isinstance(value, str),
        FLAG: isinstance(value, bool),
        NUMBER: number,
        WHOLE: number and isinstance(value, int) and abs(value) <= LARGEST_WHOLE,
    }
    if not fine[shape]:
        _refuse(where, shape, value)


def _check_values(value: Any, where: str) -> None:
    """Named values of any plain kind."""
    if not isinstance(value, dict):
        _refuse(where, "a group of named values", value)
    for name, item in value.items():
        if isinstance(item, int | float) and not abs(item) <= LARGEST:
            _refuse(f"{where}.{name}", NUMBER, item)


def _check_sizes(summary: dict[str, Any]) -> None:
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
        lengths = {len(learning[name]) for name in ("iteration", "best", "mean") if learning[name] is not None}
        if len(lengths) != 1 or 0 in lengths or all(value is None for value in learning["best"]):
            raise OptionError("the summary is damaged: 'learning' has lists of different lengths, or none.")


def _refuse(where: str, wanted: str, found: Any) -> None:
    shown = repr(found)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    raise OptionError(f"the summary is damaged: {where!r} should be {wanted}, and is {shown}.")
