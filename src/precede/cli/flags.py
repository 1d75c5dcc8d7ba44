"""What commands share: flags, what makes a command of a function, what is printed, and errors in one sentence."""

from __future__ import annotations

import errno
import inspect
import json
import logging
import re
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

import precede
from precede.data.numbers import NA_MARKERS
from precede.errors import ALONE, OptionError, PrecedeError, spelling
from precede.knowledge import Knowledge
from precede.options import Options, check_value
from precede.strict_json import to_json

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


INVISIBLE = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F),
                 *range(0x2066, 0x206A))
}  # fmt: skip
"""Characters that steer a terminal or turn the direction of the text, and how they are shown."""


class SafeConsole(Console):
    """A console on which a name of the data cannot move the cursor, change colors or turn text around."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, **options)

    def say(self, *lines: str) -> None:
        """Print lines as they are."""
        for line in lines:
            self.print(line, markup=False)

    def written(self, where: object, names: str = "", wrap: bool = False) -> None:
        """Say where the result lies."""
        self.print(f"[bold]Written[/bold]  {escape(str(where))}{names}", soft_wrap=wrap)

    def table(
        self, headings: Iterable[str], rows: Iterable[Iterable[str]], right: Collection[str] = (), **style: Any
    ) -> None:
        """Print rows of cells; some columns are set to the right."""
        table = Table(title_justify="left", **style)
        for heading in headings:
            table.add_column(escape(heading), justify="right" if heading in right else "left")
        for row in rows:
            table.add_row(*row)
        self.print(table)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(text.translate(INVISIBLE), **options)


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).translate(INVISIBLE)


def name_of(name: object) -> str:
    """A name of the data in a table or list of the terminal: on one line, without markup."""
    return escape(str(name).replace("\n", "\\n"))


def say_json(value: object) -> None:
    """Print JSON; with escapes where standard output has no UTF-8."""
    text = to_json(value)
    plain = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    typer.echo(text if plain else json.dumps(json.loads(text)))


@contextmanager
def user_errors(debug: bool) -> Iterator[None]:
    """Turn an error that the user can mend into one sentence and exit code 2; Ctrl-C and SIGTERM into 130."""
    try:
        with _ended_like_ctrl_c():
            yield
    except PrecedeError as error:
        if debug:
            raise
        _complain(str(error))
        raise typer.Exit(2) from None
    except BrokenPipeError:  # the reader of the output went away, as 'head' does
        raise
    except (MemoryError, RuntimeError, SystemError, ImportError, OSError) as error:
        sentence = _sentence(error)
        if debug or sentence is None:
            raise
        _complain(sentence)
        raise typer.Exit(2) from None
    except KeyboardInterrupt as error:
        _complain(f"interrupted {error.args[0] if error.args else 'before there was a result.'}")
        raise typer.Exit(130) from None


def _sentence(error: Exception) -> str | None:
    """What the system lacks; None for a fault of ours."""
    if _lacks_memory(error):
        return "there is not enough memory: give fewer rows or columns, or a score that needs less ('linear')."
    if isinstance(error, OSError):
        name = error.filename2 or error.filename
        where = "a file" if name is None else repr(str(name))
        return f"{where} cannot be read or written: {error.strerror or error}."
    return None


def _complain(sentence: str) -> None:
    console = SafeConsole(stderr=True, soft_wrap=True)
    console.print(f"[bold red]precede:[/bold red] {escape(sentence)}")


LACKING = ("can't allocate memory", "failed to map segment", "returned NULL without setting an exception")


def _lacks_memory(error: Exception) -> bool:
    """Torch says it with a RuntimeError, the system with an error of its own or of an import, Python without one."""
    told = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    told = told or getattr(error, "errno", None) == errno.ENOMEM
    return told or any(words in str(error) for words in LACKING)


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does: what is known is written, no worker process stays behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    wanted = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]  # nohup stays
    earlier = {number: signal.signal(number, signal.default_int_handler) for number in wanted}
    try:
        yield
    finally:
        for number, before in earlier.items():
            signal.signal(number, before)


def log_to_terminal(quiet: bool) -> None:
    """Show what the library logs, on standard error; with ``quiet``, errors only."""
    from rich.logging import RichHandler

    handler = RichHandler(console=Console(stderr=True), show_path=False, show_level=False, show_time=False)
    handler.setFormatter(_SafeFormatter("%(message)s"))
    logger = logging.getLogger("precede")
    logger.handlers = [handler]
    logger.setLevel(logging.ERROR if quiet else logging.INFO)
