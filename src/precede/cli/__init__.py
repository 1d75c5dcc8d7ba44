"""The command line: flags become calls of the functions below it, one file per command.

A command imports its work when it is called, not before: help is then there at once, and nobody waits for the
packages of another command.
"""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

import precede
from precede.cli import check, discover, experiments, order, results, start

FEW_COLLECTIONS = 100_000
"""New objects after which Python looks for garbage; its own number is 700, and imports make half a million."""


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"precede {precede.__version__}")
        raise typer.Exit


app = typer.Typer(
    help="Learn which variable precedes which: causal discovery by ordering.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Try it: [bold]precede demo[/bold]",
)
COMMANDS = {
    "demo": start.demo,
    "check": check.check,
    "discover": discover.discover,
    "order": order.order,
    "effect": results.effect,
    "explain": results.explain,
    "next": results.next_step,
    "compare": results.compare,
    "studio": start.studio,
    "pretrain": experiments.pretrain,
    "simulate": experiments.simulate,
    "evaluate": experiments.evaluate,
    "reproduce": experiments.reproduce,
    "report": results.report,
    "cite": start.cite,
    "methods": start.list_methods,
}
for name, function in COMMANDS.items():
    app.command(name)(function)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn which variable precedes which: causal discovery by ordering."""


def main() -> None:
    """Entry point.

    A command is a process of its own: garbage is looked for seldom, and not when it ends.
    """
    _mend_surroundings()
    gc.set_threshold(FEW_COLLECTIONS, 20, 20)
    atexit.register(gc.freeze)
    app(prog_name="precede")


def _mend_surroundings() -> None:
    """Work without an open terminal, on one of no width, and on one that cannot show every letter."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:  # else a file of results could be standard error
        pass
    os.close(handle)
    if not os.environ.get("COLUMNS", "80").strip("0 "):
        del os.environ["COLUMNS"]
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        else:
            stream.reconfigure(errors="backslashreplace")
