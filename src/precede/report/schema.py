"""What a summary must look like before a page is made from it: it may have been edited, or come from elsewhere."""

from __future__ import annotations

from typing import Any

from precede.errors import OptionError
from precede.report.summary import Summary
from precede.strict_json import checked


def check_summary(summary: Any) -> Summary:
    """Refuse, in a sentence, what is not a summary of this release.

    Examples
    --------
    >>> check_summary({"format": "precede-summary", "version": 5, "title": 5})
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: the summary is damaged: 'title' should be a text, and is 5.
    """
    if not isinstance(summary, dict) or summary.get("format") != "precede-summary":
        raise OptionError("this is not a summary that 'precede discover --out' wrote.")
    if summary.get("version") != 5:
        raise OptionError(
            f"this is a summary of version {summary.get('version')!r}, and this release of precede shows version 5: "
            "run 'precede discover' again."
        )
    _check_sizes(checked(summary, Summary, "the summary"))
    return summary  # type: ignore[return-value]


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
    if any(not (0 <= pair[end] < d) for pair in summary["shared_causes"] for end in ("first", "second")):
        raise OptionError("the summary is damaged: 'shared_causes' joins variables that are not there.")
    if any(node["range"] is not None and len(node["range"]) != 2 for node in nodes):
        raise OptionError("the summary is damaged: a 'range' has two ends.")
    if learning is not None:
        mean = learning["mean"]
        lengths = {len(learning["iteration"]), len(learning["best"]), *([] if mean is None else [len(mean)])}
        if len(lengths) != 1 or 0 in lengths or all(value is None for value in learning["best"]):
            raise OptionError("the summary is damaged: 'learning' has lists of different lengths, or none.")
