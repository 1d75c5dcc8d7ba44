"""The opening paragraphs of a report: what was found, how sure it is, what the data cannot tell."""

import math
from collections.abc import Sequence

from precede.data.load import Table
from precede.evidence.checks import Diagnostics, EdgeDiagnostics
from precede.evidence.checks.record import Check, counted, some
from precede.evidence.checks.stability import OWN_SAY, UNSTABLE
from precede.evidence.confidence import Confidence
from precede.graph import CausalGraph
from precede.knowledge import Knowledge

CANNOT_TELL = ("identifiability", "kinds of columns", "effect of standardizing", "residual normality", "nonlinearity")
"""Checks that bear on what the data can tell at all."""

RELIES_ON = ("influence of single rows", "unstable edges", "edges within reach", "distance to the best")
"""Openings of the names of checks that bear on how sure the result is."""

TREND_WORDS = {"rising": "higher {}, higher {}", "falling": "higher {}, lower {}", "mixed": "{} bends {}"}


def assumed_words(known: Diagnostics, knowledge: Knowledge | None, table: Table) -> list[str]:
    """What was taken for granted, a sentence each."""
    sentences = [known.assumptions.words]
    if choice := known.get("score_choice"):
        sentences.append(f"The score was chosen by looking at the data: {choice['reason']}")
    hidden = "There are no feedback loops; common causes may be missing from the table."
    none = "No common cause is missing from the table, and there are no feedback loops."
    sentences += [hidden if known.assumptions.hidden_causes else none, _rows_words(table)]
    return sentences if knowledge is None else [*sentences, knowledge_words(knowledge)]


def _rows_words(table: Table) -> str:
    """What was taken for granted about the rows."""
    if table.steps is not None:
        far = max(table.steps)
        return (
            f"The system stays the same over time, and what is more than {counted(far, 'row')} back matters only "
            "through the rows between. Edges among lagged columns are not estimated."
        )
    if table.targets is not None:
        n_set = int(table.targets.any(axis=1).sum())
        return f"The rows are independent draws of one system; {n_set:,} rows are interventional."
    return "The rows are independent draws of one system."


def searched_words(known: Diagnostics) -> list[str]:
    """Which search was taken and why, where the method says so."""
    return [known["search"]["sentence"]] if "search" in known else []


def found_words(graph: CausalGraph, edges: Sequence[EdgeDiagnostics]) -> list[str]:
    """What the graph looks like."""
    names = [str(name) for name in graph.names]
    sentences = [
        f"{counted(graph.n_edges, 'edge')} among {graph.n_variables} variables, "
        f"{graph.n_edges / max(graph.n_variables, 1):.1f} per variable."
    ]
    if graph.pag is not None:
        sentences += [f"{count} {mark}: {words}." for mark, words, count in graph.pag.legend()]
    sized = [edge for edge in edges if math.isfinite(edge.strength)]
    if sized:
        strongest = max(sized, key=lambda edge: edge.strength)
        cause, effect = names[strongest.cause], names[strongest.effect]
        tip = "→" if strongest.directed else "–"
        sentences.append(
            f"The strongest: {cause} {tip} {effect} ({TREND_WORDS[strongest.trend].format(cause, effect)}), "
            f"{strongest.strength:.2f} standard deviations of {effect}."
        )
    causes, effects = graph.edges.sum(axis=1) > 0, graph.edges.sum(axis=0) > 0
    sources = [names[k] for k in graph.positions if causes[k] and not effects[k]]
    sinks = [names[k] for k in graph.positions if effects[k] and not causes[k]]
    alone = [names[k] for k in graph.positions if not causes[k] and not effects[k]]
    if sources and all(edge.directed for edge in edges):
        ends = f"{some(sinks, 5)} cause{'s' if len(sinks) == 1 else ''} nothing else in it"
        sentences.append(f"Nothing in the table causes {some(sources, 5)}; {ends}.")
    if alone:
        sentences.append(f"No edge at all: {some(alone, 5)}.")
    return sentences


BY_LINES = ("structure", "shape", "variances")
"""Where directions come from that a curve misleads, where lines are assumed."""

SURE, FAIR, TURNED = 0.9, 0.8, 0.1
"""Shares of resamples: from which an edge is well, and fairly well, supported, and above which turned ones count."""


def curved_effects(known: Diagnostics) -> frozenset[str]:
    """Variables that depend on their causes along curves, where the model has lines."""
    found = next((check for check in known.checks if check.name == "nonlinearity" and check.level == "warning"), None)
    return frozenset(() if found is None or known.assumptions.nonlinear_needed else found.details["variables"])


def belief_words(edge: EdgeDiagnostics, total: float | None = None, bent: bool = False) -> str:
    """Whether to believe an edge, and why, in a few words; ``total`` is its total effect where there is one.

    ``bent`` says that the effect depends on its causes along a curve, where lines were assumed.

    Examples
    --------
    >>> edge = EdgeDiagnostics(0, 1, 1.0, 0.4, "falling", 0.2, source="structure", confidence=0.65, connected=0.95)
    >>> belief_words(edge, 0.5)
    'connected, direction uncertain; other paths outweigh it: the total effect rises'
    """
    confidence, connected = edge.confidence, edge.connected
    if confidence is None or connected is None:
        words = "not resampled"
        if edge.policy_probability is not None:
            words += f", {'likely' if edge.policy_probability >= UNSTABLE else 'unlikely'} for the policy"
    elif connected < UNSTABLE:
        words = "do not rely on it"
    elif connected < FAIR:
        words = "weak: often absent in resamples"
    elif not edge.directed:
        words = "connected, direction unknown"
    elif confidence < SURE and connected - confidence > TURNED:
        words = "connected, direction uncertain"
    elif bent and edge.source in BY_LINES:
        words = "connected, direction uncertain: the model's straight lines miss a curve here"
    else:
        words = "well supported" if confidence >= SURE else "fairly well supported"
    if edge.influence is not None:
        words += f"; rests on {counted(len(edge.influence.rows), 'row')}"
    if total is not None and {"rising": total < 0, "falling": total > 0}.get(edge.trend, False):
        words += f"; other paths outweigh it: the total effect {'falls' if total < 0 else 'rises'}"
    return words


def sure_words(known: Diagnostics, confidence: Confidence | None = None) -> list[str]:
    """How far the result can be relied on; ``confidence`` is what a bootstrap found beside the shares of the edges."""
    if not known.checked:
        return ["The result was not checked: that was switched off."]
    levels = [item.level for item in known.said]
    warnings, notes = levels.count("warning"), levels.count("note")
    sentences = [
        f"{counted(warnings, 'warning')}, {counted(notes, 'note')}, {counted(levels.count('fine'), 'check')} passed, "
        f"{levels.count('not run')} not run."
    ]
    shares = [edge.confidence for edge in known.edges if edge.confidence is not None]
    if shares:
        often = f"{known.resamples} resamples" if known.resamples else "resamples"
        own = f" and of the fit itself, which counts as {OWN_SAY}"
        high, low = (sum(share >= 0.9 for share in shares), sum(share < UNSTABLE for share in shares))
        sentences.append(
            f"{high} of {counted(len(shares), 'edge')} have a confidence of at least 0.90, {low} of less than 0.50, "
            f"by the edges of the {often}{'' if confidence else own}."
        )
        if confidence is not None:
            same = confidence.graphs[0].count
            often = f"the graph found most often came from {same} of them" if same > 1 else "no two gave the same graph"
            sentences.append(
                "Two resamples put a pair of variables in the same order with probability "
                f"{confidence.order_agreement:.2f}; {often}."
            )
    elif known.edges:
        sentences.append(
            "How stable each edge is was not tested: resampling the rows (a bootstrap) would give each a confidence."
        )
    return sentences + [check.sentence for check in _concerns(known) if check.name.startswith(RELIES_ON)]


def _concerns(known: Diagnostics) -> list[Check]:
    return [check for check in known.checks if check.level in ("warning", "note")]


def unknown_words(known: Diagnostics, identifies: str) -> list[str]:
    """What no amount of care with these data can settle."""
    sentences = [check.sentence for check in _concerns(known) if check.name in CANNOT_TELL]
    sentences.append(
        "A common cause that is not in the table can look like an edge between its effects; only knowledge or an "
        "experiment can rule it out."
    )
    if identifies == "cpdag":
        sentences.append("Lines without arrowheads: direction unknown.")
    return sentences


def knowledge_words(knowledge: Knowledge) -> str:
    """What was known beforehand, in a sentence.

    Examples
    --------
    >>> knowledge_words(Knowledge(required=[("rain", "wet")], tiers=[["season"], ["rain", "wet"]], roots=["season"]))
    'Background knowledge was given and obeyed: required rain → wet; tiers season < rain, wet; without causes season.'
    """
    parts = {
        "required": ", ".join(f"{cause} → {effect}" for cause, effect in knowledge.required),
        "forbidden": ", ".join(f"{cause} → {effect}" for cause, effect in knowledge.forbidden),
        "tiers": " < ".join(", ".join(map(str, tier)) for tier in knowledge.tiers),
        "without causes": ", ".join(map(str, knowledge.roots)),
        "without effects": ", ".join(map(str, knowledge.sinks)),
    }
    given = "; ".join(f"{words} {names}" for words, names in parts.items() if names)
    return f"Background knowledge was given and obeyed: {given or 'nothing in particular'}."
