"""What has changed from one graph to the next."""

from __future__ import annotations

from typing import Any

from precede.graph import CausalGraph


def mark_changes(graph: dict[str, Any], now: CausalGraph, before: CausalGraph) -> list[dict[str, str]]:
    """Mark edges that are new or turned, and add those that are gone; what changed, a sentence for each."""
    names = [str(name) for name in now.names]
    place = {name: k for k, name in enumerate(names)}
    old = {(str(cause), str(effect)) for cause, effect, _ in before.edge_list()}
    changes: list[dict[str, str]] = []

    def note(kind: str, cause: str, effect: str, words: str) -> None:
        changes.append({"kind": kind, "cause": cause, "effect": effect, "sentence": f"{cause} → {effect} {words}"})

    present = set()
    for edge in graph["edges"]:
        if edge["mark"] == "suspicion":
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
        gone = {"cause": place[cause], "effect": place[effect], "mark": "arrow", "change": "removed"}
        graph["edges"].append({**gone, "strength": None, "sign": None, "probability": None, "doubtful": False})
        note("removed", cause, effect, "is gone")
    return changes
