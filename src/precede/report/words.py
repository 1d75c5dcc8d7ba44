"""The opening paragraphs of a report: what was found, how sure it is, what the data cannot tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from precede.confidence import Confidence
from precede.diagnostics import Diagnostic
from precede.diagnostics.diagnostic import counted, some
from precede.graph import CausalGraph
from precede.knowledge import Knowledge

CANNOT_TELL = ("identifiability", "effect of standardising", "residual normality", "nonlinearity")
"""Checks that bear on what the data can tell at all."""


def found_words(graph: CausalGraph, edges: list[dict[str, Any]]) -> list[str]:
    """What the graph looks like."""
    names = [str(name) for name in graph.names]
    sentences = [
        f"{counted(graph.n_edges, 'edge')} among {graph.n_variables} variables, "
        f"{graph.n_edges / max(graph.n_variables, 1):.1f} per variable."
    ]
    if edges:
        strongest = max(edges, key=lambda edge: edge["strength"] or 0.0)
        sentences.append(
            f"The strongest: {names[strongest['cause']]} → {names[strongest['effect']]}, which moves the effect by "
            f"{strongest['strength']:.2f} of its standard deviation."
        )
    causes, effects = graph.edges.sum(axis=1) > 0, graph.edges.sum(axis=0) > 0
    sources = [names[k] for k in graph.positions if causes[k] and not effects[k]]
    sinks = [names[k] for k in graph.positions if effects[k] and not causes[k]]
    alone = int((~causes & ~effects).sum())
    if sources:
        sentences.append(f"Nothing in the table causes {some(sources, 5)}; {some(sinks, 5)} cause nothing else in it.")
    if alone:
        sentences.append(f"{counted(alone, 'variable')} ha{'s' if alone == 1 else 've'} no edge at all.")
    return sentences


def sure_words(
    edges: list[dict[str, Any]], checks: list[Diagnostic], confidence: Confidence | None = None
) -> list[str]:
    """How far the result can be relied on; ``confidence`` is what a bootstrap found beside the shares of the edges."""
    n_resamples = None if confidence is None else confidence.n_resamples
    resamples = "resamples" if n_resamples is None else f"{n_resamples} resamples"
    warnings = sum(check.level == "warning" for check in checks)
    notes = sum(check.level == "note" for check in checks)
    fine = len(checks) - warnings - notes
    sentences = [f"Of {len(checks)} checks, {fine} are fine, {notes} call for a note and {warnings} for a warning."]
    certain = [edge["confidence"] for edge in edges if edge["confidence"] is not None]
    if certain:
        high = int((np.array(certain) >= 0.9).sum())
        sentences.append(f"{high} of {counted(len(certain), 'edge')} came back in at least 90% of the {resamples}.")
        if confidence is not None:
            same = confidence.graphs[0].count
            often = f"the graph found most often came from {same} of them" if same > 1 else "no two gave the same graph"
            sentences.append(
                f"Two resamples put a pair of variables in the same order with probability "
                f"{confidence.order_agreement:.2f}; {often}."
            )
            sentences += confidence.remarks
        sentences += [check.sentence for check in checks if check.name == "unstable edges" and check.level != "fine"]
    else:
        sentences.append(
            "How stable each edge is was not tested: resampling the rows (a bootstrap) would give each a confidence."
        )
    sentences += [check.sentence for check in checks if check.name.startswith(("edges within", "distance"))]
    return sentences


def unknown_words(checks: list[Diagnostic], identifies: str) -> list[str]:
    """What no amount of care with these data can settle."""
    sentences = [check.sentence for check in checks if check.name in CANNOT_TELL and check.level != "fine"]
    sentences.append(
        "A common cause that is not in the table can look like an edge between its effects; only knowledge or an "
        "experiment can rule it out."
    )
    if identifies == "cpdag":
        sentences.append("Edges drawn with an open tip may point either way.")
    return sentences


def knowledge_words(knowledge: Knowledge) -> str:
    """What was known beforehand, in a sentence.

    Examples
    --------
    >>> knowledge_words(Knowledge(required=[("rain", "wet")], tiers=[["season"], ["rain", "wet"]], roots=["season"]))
    'Background knowledge was given and obeyed: required rain → wet; tiers season < rain, wet; without causes season.'
    """
    parts = []
    for name in ("required", "forbidden"):
        edges = [f"{cause} → {effect}" for cause, effect in getattr(knowledge, name)]
        parts += [f"{name} {', '.join(edges)}"] if edges else []
    if knowledge.tiers:
        parts.append("tiers " + " < ".join(", ".join(map(str, tier)) for tier in knowledge.tiers))
    for words, names in (("without causes", knowledge.roots), ("without effects", knowledge.sinks)):
        parts += [f"{words} {', '.join(map(str, names))}"] if names else []
    return f"Background knowledge was given and obeyed: {'; '.join(parts) or 'nothing in particular'}."
