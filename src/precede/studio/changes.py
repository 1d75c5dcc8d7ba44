"""What has changed from one graph to the next."""

from __future__ import annotations

from typing import Literal

from precede.graph import CausalGraph
from precede.graph.component import ShownEdge, ShownGraph
from precede.studio.messages import Change


def mark_changes(graph: ShownGraph, now: CausalGraph, before: CausalGraph) -> list[Change]:
    """Mark edges that are new or turned, and add those that are gone; what changed, a sentence for each."""
    names = [str(name) for name in now.names]
    place = {name: k for k, name in enumerate(names)}
    old = {(str(cause), str(effect)) for cause, effect, _ in before.edge_list()}
    changes: list[Change] = []

    def note(kind: Literal["added", "removed", "turned"], cause: str, effect: str, words: str) -> None:
        changes.append({"kind": kind, "cause": cause, "effect": effect, "sentence": f"{cause} → {effect} {words}"})

    present = set()
    for edge in graph["edges"]:
        if edge["mark"] == "shared":
            continue
        cause, effect = names[edge["cause"]], names[edge["effect"]]
        present.add((cause, effect))
        if (effect, cause) in old:
            edge["change"] = "turned"
            note("turned", cause, effect, "has turned round")
        elif (cause, effect) not in old:
            edge["change"] = "added"
            note("added", cause, effect, "is new")
    for cause, effect in sorted(old - present):
        if (effect, cause) in present or cause not in place or effect not in place:
            continue
        gone: ShownEdge = {
            "cause": place[cause], "effect": place[effect], "strength": None, "sign": None, "probability": None,
            "doubtful": False, "mark": "arrow", "change": "removed",
        }  # fmt: skip
        graph["edges"].append(gone)
        note("removed", cause, effect, "is gone")
    return changes
