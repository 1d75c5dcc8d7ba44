"""``precede order``: the order and graph that a pretrained policy sees at once."""

from __future__ import annotations

import time

import precede
from precede.cli.flags import SafeConsole, command, load_named, name_of, say_json
from precede.evidence.checks.record import counted
from precede.knowledge import Knowledge
from precede.options import Options
from precede.strict_json import JsonObject

FIRST_LOOK = (
    "This is a first look: a pretrained policy's guess at order and edges, neither searched nor checked; "
    "'precede discover' does both."
)


@command
def order(
    data: str,
    *,
    pretrained: str = "default",
    known: Knowledge | None,
    reading: Options,
    quiet: bool = False,
    json_: bool = False,
) -> None:
    """Show at once the order and graph that a pretrained policy sees: a first look.

    Parameters
    ----------
    pretrained
        default, or the path of a saved policy.
    """
    start = time.perf_counter()
    table = load_named(data, reading)
    model = precede.CORL(
        "policy", search="local", pretrained=pretrained, knowledge=known,
        diagnose=False, device="cpu", random_state=0, verbose=False,
    ).fit(table)  # fmt: skip
    seconds = time.perf_counter() - start
    if json_:
        pairs = model.diagnostics_.to_dict()["policy"]  # every pair that the policy does not rule out, by probability
        say_json({"order": model.causal_order_, "edges": _edges(model), "pairs": pairs, "remark": FIRST_LOOK})
        return
    console = SafeConsole()
    _show(console, model)
    if not quiet:
        took = f"Reading and ordering took {seconds:.2f} s."
        said = (*(remark.sentence for remark in model.diagnostics_.remarks), FIRST_LOOK, took)
        console.say(*(f"• {line}" for line in said))


def _edges(model: precede.CORL) -> list[JsonObject]:
    """The edges in causal order of the cause: weight, probability, those of the other direction and a hidden cause."""
    unlikely = {"probability": 0.0, "common": 0.0}
    said = {(edge["cause"], edge["effect"]): edge for edge in model.diagnostics_["policy"]}
    edges = []
    for cause, effect, weight in model.graph_.edge_list():
        found, turned = (said.get(pair, unlikely) for pair in ((cause, effect), (effect, cause)))
        shares = {"probability": found["probability"], "reverse": turned["probability"], "common": found["common"]}
        edges.append({"cause": cause, "effect": effect, "weight": weight, **shares})
    return edges


def _show(console: SafeConsole, model: precede.CORL) -> None:
    """Print the order, and the edges with their probabilities."""
    console.print(f"[bold]Causal order[/bold]  {' < '.join(map(name_of, model.causal_order_))}")
    numbers = ("weight", "probability", "of the reverse", "of a hidden cause")
    rows = [
        (name_of(cause), name_of(effect), f"{weight:+.3f}", *(f"{share:.2f}" for share in shares))
        for cause, effect, weight, *shares in map(dict.values, _edges(model))
    ]
    console.table(("cause", "effect", *numbers), rows, numbers, title=counted(len(rows), "edge"))
