"""The flags that commands share, what they stand for, and what makes a command of a function."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from precede.cli.terminal import log_to_terminal, user_errors
from precede.errors import OptionError
from precede.knowledge import Knowledge
from precede.options import Options

if TYPE_CHECKING:
    from precede.data.load import Table

SACHS, STANDARD_INPUT = "sachs", "-"
"""Stand for the bundled protein data, and for what another program sends, in place of a file."""

reads = partial(typer.Option, rich_help_panel="How the table is read")
knows = partial(typer.Option, rich_help_panel="What is known")
shows = partial(typer.Option, rich_help_panel="What is shown")

Quiet = Annotated[bool, shows("--quiet", "-q", help="Show nothing but the result.")]
AsJson = Annotated[bool, shows("--json", help="Print the result as JSON on standard output.")]
Debug = Annotated[bool, shows("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Same seed, same result.")]
Results = Annotated[Path, typer.Argument(help="A folder that 'discover --out' wrote.")]
DataFile = Annotated[
    str,
    typer.Argument(help="A CSV, Excel or Parquet file, - for standard input, or 'sachs' for the bundled protein data."),
]
Decimal = Annotated[str | None, reads(help="The mark, . or , of cells that can be read either way, as 1,234.")]
KnowledgeFile = Annotated[Path | None, knows(help="JSON or TOML file with what is known.")]
Texts = list[str] | None


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function of named parameters: with ``--debug``, and errors in a sentence.

    Its parameters ``reading`` and ``known``, where it has them, stand for the flags of :func:`reading_options` and
    :func:`known_from`; with ``quiet``, what the library logs is shown unless it is set.
    """
    own = inspect.signature(function, eval_str=True).parameters
    every: dict[str, Callable[..., Any]] = {"reading": reading_options, "known": known_from}
    makers = {name: make for name, make in every.items() if name in own}
    flags = {name: inspect.signature(make, eval_str=True).parameters for name, make in makers.items()}
    shown = {k: flag for name in own for k, flag in (flags[name] if name in flags else {name: own[name]}).items()}

    @wraps(function)
    def run(debug: bool, **given: Any) -> None:
        with user_errors(debug):
            if "quiet" in given:
                log_to_terminal(given["quiet"])
            made = {name: make(**{flag: given[flag] for flag in flags[name]}) for name, make in makers.items()}
            function(**{name: made[name] if name in made else given[name] for name in own})

    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    parameters = [flag.replace(kind=inspect.Parameter.KEYWORD_ONLY) for flag in (*shown.values(), debug)]
    run.__signature__, run.__annotations__ = inspect.Signature(parameters), {}  # type: ignore[attr-defined]
    return run


def _lags(text: str | int) -> int | str:
    """A whole number, or "auto"."""
    if text == "auto" or isinstance(text, int):
        return text
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a whole number of at least 0 nor 'auto'.")
    return int(text)


def reading_options(
    missing: Annotated[str, reads(help="What to do with missing values: em, pairwise, drop, impute, refuse.")] = "em",
    leave_out: Annotated[Texts, reads(help="A column to leave out; may be repeated, * is any text.")] = None,
    types: Annotated[
        Texts,
        reads(
            help="Kind of a column, as name=categorical (or number, count, ordinal, binary), or its levels from low "
            "to high, as name=small<medium<large; may be repeated."
        ),
    ] = None,
    na: Annotated[
        Texts,
        reads(help="A text that stands for a missing value, or column=text for one in that column; may be repeated."),
    ] = None,
    decimal: Decimal = None,
    interventions: Annotated[
        str | None, reads(help="Column that names the variable that was set in a row, if any.")
    ] = None,
    lags: Annotated[
        Any, reads(parser=_lags, metavar="N|auto", help="For rows in sequence: earlier steps that may be causes.")
    ] = 0,
    group: Annotated[str | None, reads(help="With --lags: the column that says whose row it is.")] = None,
) -> Options:
    """The options of :func:`precede.load_table` that the flags give."""
    from precede.data.numbers import NA_MARKERS

    given: Options = {
        "leave_out": leave_out, "types": _kinds(types or []), "lags": lags, "group": group,
        "interventions": interventions, "na": (*NA_MARKERS, *na) if na else None,
        "decimal": decimal, "missing": None if missing == "em" else missing,
    }  # fmt: skip
    return {name: value for name, value in given.items() if value}


def _kinds(pairs: list[str]) -> dict[Hashable, str | Sequence[Hashable]]:
    """Read ``name=kind`` and ``name=low<high``."""
    result: dict[Hashable, str | Sequence[Hashable]] = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise OptionError(f"--types {pair!r} cannot be used: write it as name=categorical, or name=low<high.")
        result[name.strip()] = [level.strip() for level in kind.split("<")] if "<" in kind else kind.strip()
    return result


def known_from(
    knowledge: KnowledgeFile = None,
    root: Annotated[Texts, knows(help="A variable without causes; may be repeated.")] = None,
    sink: Annotated[Texts, knows(help="A variable without effects; may be repeated.")] = None,
    tier: Annotated[str | None, knows(help="What comes first, from early to late: 'a,b<c'.")] = None,
) -> Knowledge | None:
    """What the file says and what the flags add; None where there is neither.

    Examples
    --------
    >>> known_from(None, ["age"], None, "a, b < c").tiers
    (('a', 'b'), ('c',))
    """
    if knowledge is None and not root and not sink and tier is None:
        return None
    known = Knowledge() if knowledge is None else Knowledge.from_file(knowledge)
    if tier is not None:
        if known.tiers:
            raise OptionError("the tiers were given twice: write them in the file, or as --tier.")
        tiers = tuple(tuple(name.strip() for name in part.split(",") if name.strip()) for part in tier.split("<"))
        if len(tiers) < 2 or not all(tiers):
            raise OptionError(f"--tier {tier!r} cannot be used: write tiers from early to late, as 'a,b<c'.")
        known = replace(known, tiers=tiers)
    return replace(known, roots=(*known.roots, *(root or ())), sinks=(*known.sinks, *(sink or ())))


@contextmanager
def as_file(data: str) -> Iterator[str]:
    """The path to read: the one given, or a temporary file that holds what standard input sends."""
    if data != STANDARD_INPUT:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard input"
        if sys.stdin is None:
            raise OptionError("standard input is closed: send a table to it, as in 'precede check - < data.csv'.")
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)


def load_named(data: str, options: Options) -> Table:
    """Read a file, standard input or the bundled data."""
    from precede.data.datasets import load_sachs
    from precede.data.load import load_table

    if data == SACHS:
        return load_table(load_sachs().data, **options)
    with as_file(data) as path:
        return load_table(path, **options)
