"""``precede check``: every problem of a table at once, and the command that would work."""

import shlex
from collections.abc import Hashable
from pathlib import Path

import typer

from precede.cli.flags import SafeConsole, as_file, as_flag, command, name_of, say_json
from precede.data.survey import Survey, survey
from precede.data.table import Table


@command
def check(data: str, *, decimal: str | None = None, json_: bool = False) -> None:
    """Name every problem of a table at once, and the command that would work.

    Parameters
    ----------
    data
        A CSV, Excel or Parquet file; - for standard input.
    """
    with as_file(data) as path:
        found = survey(Path(path), decimal)
    works = _command(data, found)
    if json_:
        kinds = {} if found.table is None else dict(_kinds(found.table))
        say_json({"findings": [item.to_dict() for item in found.findings], "kinds": kinds, "command": works})
    else:
        _show(found, works)
    if works is None:
        raise typer.Exit(1)


def _command(data: str, found: Survey) -> str | None:
    """What to type next; None where the table takes work by hand."""
    if found.table is None:
        return None
    flags = [as_flag(name, value) for name, value in found.reading.items()]
    return " ".join(["precede discover", shlex.quote(data), *flags, "--out results/"])


def _kinds(table: Table) -> list[tuple[Hashable, str]]:
    """Every column and what it is taken as, without those of earlier steps."""
    now = table.steps or (0,) * table.n_variables
    return [(name, str(kind)) for name, kind, step in zip(table.names, table.kinds, now, strict=True) if step == 0]


def _show(found: Survey, works: str | None) -> None:
    console = SafeConsole()
    if found.table is not None:
        rows = [(name_of(name), kind) for name, kind in _kinds(found.table)]
        console.table(("column", "taken as"), rows, title=f"{found.table.n_samples} rows that can be used")
    for item in found.findings:
        sign = {"leave out": "left out", "option": "set", "by hand": "stop", "none": "note"}[item.remedy]
        console.say(f"• {sign}: {item.sentence}")
    if not found.findings:
        console.say("• Nothing stands in the way.")
    if works is not None:
        console.print("[bold]This works[/bold]")
        console.print(f"  {works}", markup=False, soft_wrap=True)
