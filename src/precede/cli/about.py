"""``precede methods`` and ``precede cite``: what there is, and whose it is."""

from importlib.resources import files

import typer

import precede
from precede.cli.flags import SafeConsole


def _text(name: str) -> str:
    """What a file of this folder says."""
    return (files("precede.cli") / name).read_text(encoding="utf-8").rstrip()


def cite() -> None:
    """Print BibTeX for the software and the paper of the method."""
    typer.echo(_text("citation.bib").replace("VERSION", precede.__version__))


def list_methods() -> None:
    """List the methods that 'discover --method' takes."""
    rows = (line.split(": ", 1) for line in _text("methods.txt").splitlines())
    SafeConsole().table(("method", "what it is"), rows)
