"""``precede effect``: how large an effect is, and how sure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from precede.cli.terminal import AsJson, Debug, Decimal, SafeConsole, load_named, say_json, user_errors
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from precede.data.load import Table
    from precede.report.load import Results


def effect(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    cause: Annotated[str, typer.Argument(help="The variable that is changed.")],
    outcome: Annotated[str, typer.Argument(help="The variable that is looked at.")],
    data: Annotated[
        str | None, typer.Option(help="A table to compute from, in place of what the folder keeps.")
    ] = None,
    set_to: Annotated[
        float | None, typer.Option("--set", help="Also: what if the cause were set to this (needs --data).")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    decimal: Decimal = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say how large the effect of one variable on another is, and how sure."""
    with user_errors(debug):
        from precede.report.load import load_results

        results = load_results(folder)
        table = None if data is None else load_named(data, {"decimal": decimal})
        answers = _answers(results, cause, outcome, table, set_to, level)
        if as_json:
            say_json(answers)
            return
        console = SafeConsole()
        for answer in answers.values():
            console.print(f"• {answer['sentence']}", highlight=False, markup=False)
            for remark in answer.get("remarks", []):
                console.print(f"  {remark}", highlight=False, markup=False)


def _answers(
    results: Results, cause: str, outcome: str, table: Table | None, set_to: float | None, level: float
) -> dict[str, JsonObject]:
    """Each answer by its name, with a sentence."""
    from precede.errors import OptionError

    graph = results.graph
    start, end = (graph.names[graph.position(name)] for name in (cause, outcome))
    answers = {name: found.to_dict() for name, found in results.effects(start, end, table, level).items()}
    if set_to is not None:
        if table is None:
            raise OptionError("--set asks for rows, and the folder keeps none: name the table with --data.")
        what_if = graph.do({start: set_to}, table)
        row = what_if.summary.to_dict("index")[end]
        sentence = (
            f"With {start} set to {set_to:g}, the mean of {end} would be {row['mean if set']:.4g} instead of "
            f"{row['mean']:.4g}; nine rows in ten would lie from {row['5 %']:.4g} to {row['95 %']:.4g}."
        )
        answers["what_if"] = {
            **{str(name): value for name, value in row.items()},
            "sentence": sentence,
            "remarks": list(what_if.remarks),
        }
    return answers
