"""The command line reference, written from the commands themselves when the documentation is built."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer.main
from sphinx.application import Sphinx

from precede.cli import app as commands


def describe(name: str, command: Any) -> str:
    """One command: what it does, how it is called, and a table of its arguments and options."""
    arguments = [p.name.upper() if p.required else f"[{p.name.upper()}]" for p in command.params if is_argument(p)]
    usage = " ".join(["precede", name, *arguments, "[OPTIONS]"])
    rows = [f"| {cell(p)} | {plain(p.help or '')} | {default(p)} |" for p in command.params if not p.hidden]
    table = ["| | | default |", "|---|---|---|", *rows] if rows else []
    return "\n".join([f"## `precede {name}`", "", plain(command.help or ""), "", f"```text\n{usage}\n```", "", *table])


def is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def cell(parameter: Any) -> str:
    if is_argument(parameter):
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{option}`" for option in parameter.opts)


def default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    return "" if value in (None, False) or value == [] else f"`{value}`"


def plain(text: str) -> str:
    """Without the terminal's markup, and safe inside a table."""
    return re.sub(r"\[/?bold\]", "", text).replace("|", r"\|").strip()


def write_reference(app: Sphinx) -> None:
    group = typer.main.get_command(commands)
    page = "\n\n".join(describe(name, command) for name, command in group.commands.items()) + "\n"
    target = Path(app.srcdir) / "generated" / "commands.md"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text(encoding="utf-8") != page:  # else Sphinx would read it again
        target.write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
