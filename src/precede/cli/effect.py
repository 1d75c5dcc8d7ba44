"""``precede effect``: how large an effect is, and how sure."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from precede.cli.terminal import (
    AsJson,
    Debug,
    Decimal,
    Group,
    Interventions,
    Lags,
    LeaveOut,
    Missing,
    Na,
    SafeConsole,
    Types,
    load_named,
    loading_options,
    say_json,
    user_errors,
)
from precede.errors import OptionError
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from precede.data.load import Table
    from precede.graph import CausalGraph


def effect(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    cause: Annotated[str, typer.Argument(help="The variable that is changed.")],
    outcome: Annotated[str, typer.Argument(help="The variable that is looked at.")],
    data: Annotated[
        str | None, typer.Option(help="A table to compute from, in place of what the folder keeps.")
    ] = None,
    compare: Annotated[
        tuple[str, str] | None, typer.Option(help="Two levels or values of the cause: the second instead of the first.")
    ] = None,
    outcome_level: Annotated[
        str | None, typer.Option(help="The level of a categorical outcome whose probability is asked for.")
    ] = None,
    together: Annotated[
        list[str] | None, typer.Option("--with", help="A variable that is set at the same time; may be repeated.")
    ] = None,
    set_to: Annotated[
        str | None, typer.Option("--set", help="Also: what if the cause were set to this (needs --data).")
    ] = None,
    row: Annotated[int | None, typer.Option(help="With --set: for this row alone, counted from 0.")] = None,
    level: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    missing: Missing = "em",
    leave_out: LeaveOut = None,
    types: Types = None,
    na: Na = None,
    decimal: Decimal = None,
    interventions: Interventions = None,
    lags: Lags = 0,
    group: Group = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say how large the effect of one variable on another is, and how sure.

    A table for --data is read as 'discover' did, but for what is said here.
    """
    with user_errors(debug):
        from precede.report.load import load_results

        results = load_results(folder)
        table = None if data is None else load_named(
            data, results.loading | loading_options(missing, leave_out, types, na, interventions, lags, group, decimal)
        )  # fmt: skip
        graph = results.graph
        start, end = (graph.names[graph.position(name)] for name in (cause, outcome))
        states = None if compare is None else (_number_or_word(compare[0]), _number_or_word(compare[1]))
        answers: dict[str, JsonObject]
        if together:
            found = graph.effect(
                start, end, table, level=level, compared=states, outcome_level=outcome_level, together=together
            )
            answers = {"total": found.to_dict()}
        else:
            each = results.effects(start, end, table, level, states, outcome_level)
            answers = {name: one.to_dict() for name, one in each.items()}
        if set_to is not None:
            answers["what_if"] = _what_if(graph, (start, end), set_to, table, row)
        if as_json:
            say_json(answers)
            return
        console = SafeConsole()
        for answer in answers.values():
            console.print(f"• {answer['sentence']}", highlight=False, markup=False)
            for remark in answer.get("remarks", []):
                console.print(f"  {remark}", highlight=False, markup=False)


def _number_or_word(text: str) -> float | str:
    from precede.data.numbers import spells_number

    return float(text) if spells_number(text) else text


def _what_if(
    graph: CausalGraph, pair: tuple[Hashable, Hashable], set_to: str, table: Table | None, row: int | None
) -> JsonObject:
    """The outcome as it would be, with a sentence."""
    if table is None:
        raise OptionError("--set asks for rows, and the folder keeps none: name the table with --data.")
    found = graph.do({pair[0]: _number_or_word(set_to)}, table, row=row)
    told = found.summary.to_dict("index")
    if row is not None or pair[1] not in told:
        return {"sentence": found.sentence, "remarks": list(found.remarks)}
    means = told[pair[1]]
    sentence = (
        f"With {pair[0]} set to {set_to}, the mean of {pair[1]} would be {means['mean if set']:.4g} instead of "
        f"{means['mean']:.4g}; nine rows in ten would lie from {means['5 %']:.4g} to {means['95 %']:.4g}."
    )
    return {
        **{str(name): value for name, value in means.items()},
        "sentence": sentence,
        "remarks": list(found.remarks),
    }
