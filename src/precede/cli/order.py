"""``precede order``: the order and graph that a pretrained policy sees at once."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table as TerminalTable

from precede.cli.flags import command, load_named
from precede.cli.terminal import SafeConsole, say_json
from precede.knowledge import Knowledge
from precede.options import Options

if TYPE_CHECKING:
    from precede.corl import CORL
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
    from precede.corl import CORL

    start = time.perf_counter()
    table = load_named(data, reading)
    model = CORL(
        "policy", search="local", pretrained=pretrained, knowledge=known,
        diagnose=False, device="cpu", random_state=0, verbose=False,
    ).fit(table)  # fmt: skip
    seconds = time.perf_counter() - start
    if json_:
        say_json(_described(model) | {"remark": FIRST_LOOK})
        return
    console = SafeConsole()
    _show(console, model)
    if not quiet:
        took = f"Reading and ordering took {seconds:.2f} s."
        said = (*(remark.sentence for remark in model.diagnostics_.remarks), FIRST_LOOK, took)
        console.say(*(f"• {line}" for line in said))


def _edges(model: CORL) -> list[dict[str, object]]:
    """The edges in causal order of the cause: weight, probability, those of the other direction and a hidden cause."""
    said = {(edge["cause"], edge["effect"]): edge for edge in model.diagnostics_["policy"]}

    def of(cause: Hashable, effect: Hashable, what: str) -> float:
        return float(said[cause, effect][what]) if (cause, effect) in said else 0.0

    return [
        {
            "cause": cause,
            "effect": effect,
            "weight": weight,
            "probability": of(cause, effect, "probability"),
            "reverse": of(effect, cause, "probability"),
            "common": of(cause, effect, "common"),
        }
        for cause, effect, weight in model.graph_.edge_list()
    ]


def _described(model: CORL) -> JsonObject:
    """For ``--json``: also every pair that the policy does not rule out, by probability."""
    return {"order": model.causal_order_, "edges": _edges(model), "pairs": model.diagnostics_.to_dict()["policy"]}


def _show(console: SafeConsole, model: CORL) -> None:
    """Print the order, and the edges with their probabilities."""
    names = " < ".join(map(str, model.causal_order_))
    console.print(f"[bold]Causal order[/bold]  {escape(names)}")
    n_edges = model.graph_.n_edges
    table = TerminalTable(title=f"{n_edges} edge{'' if n_edges == 1 else 's'}", title_justify="left")
    for heading in ("cause", "effect"):
        table.add_column(heading)
    for heading in ("weight", "probability", "of the reverse", "of a hidden cause"):
        table.add_column(heading, justify="right")
    for edge in _edges(model):
        numbers = f"{edge['weight']:+.3f}", *(f"{edge[one]:.2f}" for one in ("probability", "reverse", "common"))
        table.add_row(escape(str(edge["cause"])), escape(str(edge["effect"])), *numbers)
    console.print(table)
