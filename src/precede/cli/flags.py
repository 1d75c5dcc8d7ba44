"""The flags that commands share, what they stand for, and what makes a command of a function."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

import precede
from precede.cli.terminal import log_to_terminal, user_errors
from precede.data.numbers import NA_MARKERS
from precede.errors import ALONE, OptionError, spelling
from precede.knowledge import Knowledge
from precede.options import Options, check_value

SACHS, STANDARD_INPUT = "sachs", "-"
"""Stand for the bundled protein data, and for what another program sends, in place of a file."""

SHARED = {
    "data": "A CSV, Excel or Parquet file, - for standard input, or 'sachs' for the bundled protein data.",
    "folder": "A folder that 'discover --out' wrote.",
    "seed": "Same seed, same result.",
    "quiet": "Show nothing but the result.",
    "json_": "Print the result as JSON on standard output.",
    "debug": "Show the traceback of an error.",
}
"""What parameters of several commands mean, where a command does not say otherwise."""

SHORT = {"out": "-o", "method": "-m", "jobs": "-j", "quiet": "-q"}

Texts = list[str] | None


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: with ``--debug``, and errors in a sentence.

    What comes before the ``*`` in its signature is an argument, the rest are flags; its docstring says what each is.
    The parameters ``reading`` and ``known`` stand for the flags of :func:`reading_options` and :func:`known_from`; with
    ``quiet``, what the library logs is shown unless it is set.
    """
    own = inspect.signature(function, eval_str=True).parameters
    makers = {name: make for name, make in MAKERS.items() if name in own}
    flags = {name: inspect.signature(make, eval_str=True).parameters for name, make in makers.items()}
    shown = {k: flag for name in own for k, flag in (flags[name] if name in flags else {name: own[name]}).items()}
    described = SHARED | READING | KNOWN | _described(function)

    @wraps(function)
    def run(debug: bool, **given: Any) -> None:
        def words(option: str, value: object) -> str | None:
            name = "compare" if option == "compared" else option
            return as_flag(name, value) if name in given else None

        with user_errors(debug), spelling(words):
            if "quiet" in given:
                log_to_terminal(given["quiet"])
            for name in given:
                if hasattr(shown[name].annotation, "__metadata__"):  # with a range
                    check_value(name, given[name], shown[name].annotation)
            made = {name: make(**{flag: given[flag] for flag in flags[name]}) for name, make in makers.items()}
            function(**{name: made[name] if name in made else given[name] for name in own})

    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)
    parameters = [_typer_parameter(flag, described.get(flag.name)) for flag in (*shown.values(), debug)]
    run.__signature__, run.__annotations__ = inspect.Signature(parameters), {}  # type: ignore[attr-defined]
    run.__doc__ = str(inspect.getdoc(function)).partition("\n\nParameters")[0]
    return run


def _described(function: Callable[..., Any]) -> dict[str, str]:
    """What the section "Parameters" of a docstring says of each, on one line."""
    section = str(inspect.getdoc(function)).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    return {name: " ".join(words.split()) for name, words in re.findall(r"^(\w+).*\n((?: .*\n?)+)", section, re.M)}


def _spelled(name: str) -> str:
    return "--" + name.rstrip("_").replace("_", "-")


def as_flag(option: str, value: object) -> str:
    """An option of the library as the command line has it, as often as it has values.

    Examples
    --------
    >>> as_flag("types", {"size": ["low", "high"], "a b": "count"})
    "--types 'size=low<high' --types 'a b=count'"
    >>> as_flag("leave_out", ["id", "-x"]), as_flag("compare", ("north", "south")), as_flag("types", ...)
    ('--leave-out id --leave-out=-x', '--compare north south', '--types')
    """
    flag = _spelled(option)
    if value is ALONE or value is ...:
        return flag
    if isinstance(value, tuple):
        return shlex.join([flag, *map(str, value)])
    if isinstance(value, dict):
        value = [f"{name}={'<'.join(kind) if isinstance(kind, list) else kind}" for name, kind in value.items()]
    texts = [str(item) for item in (value if isinstance(value, list) else [value])]
    return " ".join(shlex.quote(f"{flag}={t}") if t.startswith("-") else f"{flag} {shlex.quote(t)}" for t in texts)


def _typer_parameter(parameter: inspect.Parameter, words: str | None) -> inspect.Parameter:
    """A parameter as typer takes it; a switch that is off has no opposite."""
    kind, name = parameter.annotation, _spelled(parameter.name)
    if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
        made: Any = typer.Argument(help=words)
    else:
        two_way = bool in (kind, *get_args(kind)) and parameter.default is not False
        spelled = [f"{name}/--no-{name[2:]}" if two_way else name, *filter(None, [SHORT.get(parameter.name)])]
        panel = next((panel for panel, names in PANELS.items() if parameter.name in names), None)
        made = typer.Option(*spelled, help=words, rich_help_panel=panel)
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, made])


def reading_options(
    *,
    missing: str = "em",
    leave_out: Texts = None,
    types: Texts = None,
    na: Texts = None,
    decimal: str | None = None,
    interventions: str | None = None,
    lags: str = "0",
    group: str | None = None,
) -> Options:
    """The options of :func:`precede.load_table` that the flags give.

    Parameters
    ----------
    missing
        What to do with missing values: em, pairwise, drop, impute, refuse.
    leave_out
        A column to leave out; may be repeated, * is any text.
    types
        Kind of a column, as name=categorical (or number, count, ordinal, binary), or its levels from low to high, as
        name=small<medium<large; may be repeated.
    na
        A text that stands for a missing value, or column=text for one in that column; may be repeated.
    decimal
        The mark, . or , of cells that can be read either way, as 1,234.
    interventions
        Column that names the variable that was set in a row, if any.
    lags
        For rows in sequence: earlier steps that may be causes, a number or auto.
    group
        With --lags: the column that says whose row it is.
    """
    given: Options = {
        "leave_out": leave_out, "types": _kinds(types or []), "lags": int(lags) if lags.isdecimal() else lags,
        "group": group, "interventions": interventions, "na": (*NA_MARKERS, *na) if na else None,
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
    *, knowledge: Path | None = None, root: Texts = None, sink: Texts = None, tier: str | None = None
) -> Knowledge | None:
    """What the file says and what the flags add; None where there is neither.

    Parameters
    ----------
    knowledge
        JSON or TOML file with what is known.
    root
        A variable without causes; may be repeated.
    sink
        A variable without effects; may be repeated.
    tier
        What comes first, from early to late: 'a,b<c'.

    Examples
    --------
    >>> known_from(root=["age"], tier="a, b < c").tiers
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


MAKERS: dict[str, Callable[..., Any]] = {"reading": reading_options, "known": known_from}
READING, KNOWN = (_described(make) for make in MAKERS.values())
PANELS = {
    "How the table is read": {*READING, "odd"},
    "What is known": set(KNOWN),
    "What is shown": {"verbose", "quiet", "json_", "debug"},
}
"""Under which heading of a command's help its flags stand."""


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


def load_named(data: str, options: Options) -> precede.Table:
    """Read a file, standard input or the bundled data."""
    if data == SACHS:
        return precede.load_table(precede.load_sachs().data, **options)
    with as_file(data) as path:
        return precede.load_table(path, **options)
