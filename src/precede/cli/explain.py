"""``precede explain``: root causes of an unusual row, or of a change between two periods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from precede.cli.terminal import (
    AsJson,
    DataFile,
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

ROWS = "as 0:100 (the first hundred) or 100: (all from there)"


def explain(
    folder: Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")],
    data: DataFile,
    outcome: Annotated[str, typer.Option(help="The variable to explain.")],
    row: Annotated[int | None, typer.Option(help="Place of the row, from 0.")] = None,
    before: Annotated[str | None, typer.Option(help=f"Rows to compare with, {ROWS}.")] = None,
    after: Annotated[str | None, typer.Option(help=f"Rows whose mean is explained, {ROWS}.")] = None,
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
    """Say which variables account for an unusual row, or for a change from one period to another.

    The table is read as 'discover' did, but for what is said here.
    """
    with user_errors(debug):
        from precede.report.load import load_results

        results = load_results(folder)
        graph = results.graph
        table = load_named(
            data, results.loading | loading_options(missing, leave_out, types, na, interventions, lags, group, decimal)
        )
        found = graph.explain(
            graph.names[graph.position(outcome)],
            table,
            row,
            None if before is None else _rows(before, table.n_samples),
            None if after is None else _rows(after, table.n_samples),
        )
        if as_json:
            say_json(found.to_dict())
            return
        console = SafeConsole()
        for sentence in found.sentences:
            console.print(f"• {sentence}", highlight=False, markup=False)


def _rows(text: str, n_rows: int) -> range:
    """Rows from a first to one before a last, as Python slices them."""
    from precede.errors import OptionError

    first, colon, last = text.partition(":")
    try:
        return range(*slice(int(first or 0), int(last) if last else n_rows * bool(colon)).indices(n_rows))
    except ValueError:
        raise OptionError(f"{text!r} names no rows: write them {ROWS}.") from None
