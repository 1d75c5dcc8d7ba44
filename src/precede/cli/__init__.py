"""The command line: flags become calls of the functions below it, one file per command.

A command imports its work when it is called, not before: help is then there at once, and nobody waits for the
packages of another command.
"""

from __future__ import annotations

import typer

from precede.cli import compare, discover, effect, evaluate, methods, order, pretrain, report, reproduce, simulate

app = typer.Typer(
    help="Learn which variable precedes which: causal discovery by ordering.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Try it: [bold]precede discover sachs --out results/[/bold]",
)
app.command()(discover.discover)
app.command()(order.order)
app.command()(effect.effect)
app.command()(compare.compare)
app.command()(pretrain.pretrain)
app.command()(simulate.simulate)
app.command()(evaluate.evaluate)
app.command()(reproduce.reproduce)
app.command()(report.report)
app.command("methods")(methods.list_methods)


def main() -> None:
    """Entry point."""
    app(prog_name="precede")
