"""What the commands share: common flags, errors in one sentence, and a graph on the terminal."""

from __future__ import annotations

import errno
import json
import logging
import math
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as TerminalTable
from rich.text import Text

from precede.errors import OptionError, PrecedeError
from precede.strict_json import to_json

if TYPE_CHECKING:
    from precede.data.load import Table
    from precede.evidence.checks import Diagnostics, EdgeDiagnostics
    from precede.graph import CausalGraph, MixedGraph
    from precede.knowledge import Knowledge
    from precede.options import Options


SACHS = "sachs"
"""Stands for the bundled protein data in place of a file."""

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but the result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show every edge, every check and the log of the search.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Same seed, same result.")]
FEW_EDGES, ORDER_LENGTH = 12, 200
"""Lines of the table of edges, and letters of the order, that leave room for the rest on a screen."""

DataFile = Annotated[
    str,
    typer.Argument(help="A CSV, Excel or Parquet file, - for standard input, or 'sachs' for the bundled protein data."),
]
KnowledgeFile = Annotated[Path | None, typer.Option("--knowledge", help="JSON or TOML file with what is known.")]
Roots = Annotated[list[str] | None, typer.Option("--root", help="A variable without causes; may be repeated.")]
Sinks = Annotated[list[str] | None, typer.Option("--sink", help="A variable without effects; may be repeated.")]
Tiers = Annotated[str | None, typer.Option("--tier", help="What comes first, from early to late: 'a,b<c'.")]
Missing = Annotated[str, typer.Option(help="What to do with missing values: em, pairwise, drop, impute, refuse.")]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option("--leave-out", help="A column to leave out; may be repeated, * is any text."),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--types",
        help="Kind of a column, as name=categorical (or number, count, ordinal, binary), or its levels from low to "
        "high, as name=small<medium<large; may be repeated.",
    ),
]


def _lags(text: str | int) -> int | str:
    """A whole number, or "auto"."""
    if text == "auto" or isinstance(text, int):
        return text
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a whole number of at least 0 nor 'auto'.")
    return int(text)


Lags = Annotated[
    Any,
    typer.Option(
        "--lags", parser=_lags, metavar="N|auto", help="For rows in sequence: earlier steps that may be causes."
    ),
]
Group = Annotated[str | None, typer.Option("--group", help="With --lags: the column that says whose row it is.")]
Interventions = Annotated[
    str | None, typer.Option("--interventions", help="Column that names the variable that was set in a row, if any.")
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", help="The mark, . or , of cells that can be read either way, as 1,234.")
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        "--na", help="A text that stands for a missing value, or column=text for one in that column; may be repeated."
    ),
]

READING, KNOWN, SHOWN = "How the table is read", "What is known", "What is shown"
GROUPS: dict[str, tuple[Any, ...]] = {
    READING: (Missing, LeaveOut, Types, Na, Decimal, Interventions, Lags, Group),
    KNOWN: (KnowledgeFile, Roots, Sinks, Tiers),
    SHOWN: (Quiet, AsJson, Verbose, Debug),
}
"""Options that stand together on a page of help."""
for _group, _options in GROUPS.items():
    for _option in _options:
        _option.__metadata__[0].rich_help_panel = _group


INVISIBLE = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F),
                 *range(0x2066, 0x206A))
}  # fmt: skip
"""Characters that steer a terminal or turn the direction of the text, and how they are shown."""


class SafeConsole(Console):
    """A console on which a name of the data cannot move the cursor, change colors or turn text around."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(text.translate(INVISIBLE), **options)


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return as_flags(super().format(record)).translate(INVISIBLE)


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
        _complain(as_flags(str(error)))
        raise typer.Exit(2) from None
    except BrokenPipeError:  # the reader of the output went away, as 'head' does
        raise
    except (MemoryError, RuntimeError, ImportError, OSError) as error:
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
    console.print(f"[bold red]precede:[/bold red] {escape(sentence)}", highlight=False)


def _lacks_memory(error: Exception) -> bool:
    """Torch says it with a RuntimeError, the system with an error of its own or of the import of a library."""
    told = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    told = told or getattr(error, "errno", None) == errno.ENOMEM
    return told or any(words in str(error) for words in ("can't allocate memory", "failed to map segment"))


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does: what is known is written, no worker process stays behind."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    earlier = {n: signal.signal(n, stop) for n in numbers if signal.getsignal(n) is not signal.SIG_IGN}  # nohup stays
    try:
        yield
    finally:
        for number, before in earlier.items():
            signal.signal(number, before)


def as_flags(sentence: str) -> str:
    """The library's words with its options as they are typed on the command line.

    Examples
    --------
    >>> as_flags("na=['x'] makes it missing, types={'a b': 'categorical'} a level, missing='drop' drops the row.")
    "--na 'x' makes it missing, --types 'a b=categorical' a level, --missing drop drops the row."
    """
    sentence = re.sub(r"\bmissing='(\w+)'", r"--missing \1", sentence)
    sentence = re.sub(r"\bdecimal='([.,])'", r"--decimal \1", sentence)
    sentence = re.sub(r"\bodd='(\w+)'", r"--odd \1", sentence)
    sentence = re.sub(r"\bcompared=\((.*?), (.*?)\)", r"--compare \1 \2", sentence)
    sentence = re.sub(r"\boutcome_level=", "--outcome-level ", sentence)
    sentence = re.sub(r"\bna=\[('[^']*'|\"[^\"]*\")\]", r"--na \1", sentence)
    sentence = re.sub(r"\btypes=\{['\"]([^'\"]*)['\"]: '(\w+)'\}", r"--types '\1=\2'", sentence)
    sentence = re.sub(r"\btypes=\{['\"]([^'\"]*)['\"]: \[([^]]*)\]\}", _levels_as_flag, sentence)
    sentence = re.sub(r"\bleave_out names\b", "--leave-out names", sentence)
    sentence = re.sub(r"(?<![\w-])(types|interventions|group) names\b", r"--\1 names", sentence)
    return sentence.replace("types={...}", "--types")


def _levels_as_flag(found: re.Match[str]) -> str:
    levels = "<".join(level.strip(" '") for level in found[2].split(","))
    return f"--types '{found[1]}={levels}'"


def log_to_terminal(quiet: bool) -> None:
    """Show what the library logs, on standard error; with ``quiet``, errors only."""
    from rich.logging import RichHandler

    handler = RichHandler(console=Console(stderr=True), show_path=False, show_level=False, show_time=False)
    handler.setFormatter(_SafeFormatter("%(message)s"))
    logger = logging.getLogger("precede")
    logger.handlers = [handler]
    logger.setLevel(logging.ERROR if quiet else logging.INFO)


def loading_options(
    missing: str,
    leave_out: list[str] | None,
    types: list[str] | None = None,
    na: list[str] | None = None,
    interventions: str | None = None,
    lags: int | str = 0,
    group: str | None = None,
    decimal: str | None = None,
) -> Options:
    """The options of :func:`precede.load_table` that the flags give."""
    from precede.data.numbers import NA_MARKERS

    given: Options = {"leave_out": leave_out, "types": _kinds(types or []), "lags": lags, "group": group}
    given |= {"interventions": interventions, "na": (*NA_MARKERS, *na) if na else None}
    given |= {"decimal": decimal, "missing": None if missing == "em" else missing}
    return {name: value for name, value in given.items() if value}


def load_named(data: str, options: Options) -> Table:
    """Read a file, standard input or the bundled data."""
    from precede.data.datasets import load_sachs
    from precede.data.load import load_table

    if data == SACHS:
        return load_table(load_sachs().data, **options)
    with as_file(data) as path:
        return load_table(path, **options)


def _kinds(pairs: list[str]) -> dict[Hashable, str | Sequence[Hashable]]:
    """Read ``name=kind`` and ``name=low<high``."""
    result: dict[Hashable, str | Sequence[Hashable]] = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals:
            raise OptionError(f"--types {pair!r} cannot be used: write it as name=categorical, or name=low<high.")
        result[name.strip()] = [level.strip() for level in kind.split("<")] if "<" in kind else kind.strip()
    return result


def show_graph(console: Console, graph: CausalGraph, known: Diagnostics, verbose: bool = False) -> None:
    """Print the order and the strongest edges: standardized strength, confidence, where the direction comes from."""
    from precede.evidence.checks.record import SOURCE_WORDS, counted, unchecked_edges

    if graph.pag is not None:
        _show_marks(console, graph.pag)
        return
    order = " < ".join(map(name_of, graph.order))
    if len(order) > ORDER_LENGTH and not verbose:
        order = f"{order[:ORDER_LENGTH].rpartition(' < ')[0]} < …"
    console.print(f"[bold]Causal order[/bold]  {order}", highlight=False)
    if not graph.n_edges:
        console.print("No edges.")
        return
    shown = sorted(
        known.edges or unchecked_edges(graph),
        key=lambda edge: -abs(edge.strength) if math.isfinite(edge.strength) else 0.0,
    )
    shown = shown if verbose else shown[:FEW_EDGES]
    table = TerminalTable(box=None, pad_edge=False, header_style="bold")
    policy = not known.has_confidence and any(edge.policy_probability is not None for edge in shown)
    for heading in ("Edge", "Strength", "Policy" if policy else "Confidence", "Direction from"):
        table.add_column(heading, justify="left" if heading in ("Edge", "Direction from") else "right")
    for edge in shown:
        tip = "→" if edge.directed else "–"
        rests = "" if edge.influence is None else f"; rests on {counted(len(edge.influence.rows), 'row')}"
        table.add_row(
            f"{name_of(graph.names[edge.cause])} {tip} {name_of(graph.names[edge.effect])}",
            _strength_words(edge),
            "–" if (sure := edge.policy_probability if policy else edge.confidence) is None else f"{sure:.2f}",
            SOURCE_WORDS[edge.source] + rests,
        )
    if shown:
        console.print(table)
    which = "" if len(shown) == graph.n_edges else f", the {len(shown)} strongest shown"
    meaning = "; confidence: share of resamples with the edge" if known.has_confidence else ""
    meaning = "; policy: the pretrained policy's probability" if policy else meaning
    console.print(
        f"{counted(graph.n_edges, 'edge')}{which}; strength in standard deviations{meaning}.", highlight=False
    )


def _show_marks(console: Console, pag: MixedGraph) -> None:
    """Print the edges with their marks, and what the marks mean."""
    for first, second, mark in pag.edge_list():
        console.print(f"  {name_of(first)} {mark} {name_of(second)}", highlight=False)
    for mark, words, count in pag.legend():
        console.print(f"[bold]A {mark} B[/bold]  {words} ({count})", highlight=False)


def _strength_words(edge: EdgeDiagnostics) -> str:
    """Standardized, with a sign where the effect rises or falls throughout."""
    if not math.isfinite(edge.strength):
        return "–"
    return {"rising": "+", "falling": "−", "mixed": "±"}[edge.trend] + f"{edge.strength:.2f}"


def edge_records(graph: CausalGraph, known: Diagnostics) -> list[dict[str, object]]:
    """The edges for ``--json``: names and weight, and what the checks found of each."""
    found = {(graph.names[edge.cause], graph.names[edge.effect]): edge for edge in known.edges}
    records: list[dict[str, object]] = []
    for cause, effect, weight in graph.edge_list():
        records.append({"cause": cause, "effect": effect, "weight": weight})
        edge = found.get((cause, effect))
        if edge is not None:
            strength = edge.strength if math.isfinite(edge.strength) else None
            records[-1] |= {"strength": strength, "confidence": edge.confidence, "source": edge.source}
            if edge.policy_probability is not None:
                records[-1]["policy_probability"] = edge.policy_probability
    return records


STANDARD_INPUT = "-"


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


def known_from(
    file: Path | None, roots: list[str] | None, sinks: list[str] | None, tier: str | None
) -> Knowledge | None:
    """What the file says and what the flags add; None where there is neither.

    Parameters
    ----------
    file : Path, optional
        JSON or TOML.
    roots, sinks : list of str, optional
    tier : str, optional
        Tiers from early to late, ``"a,b<c"``.

    Examples
    --------
    >>> known_from(None, ["age"], None, "a, b < c").tiers
    (('a', 'b'), ('c',))
    """
    from precede.knowledge import Knowledge

    if file is None and not roots and not sinks and tier is None:
        return None
    known = Knowledge() if file is None else Knowledge.from_file(file)
    if tier is not None:
        if known.tiers:
            raise OptionError("the tiers were given twice: write them in the file, or as --tier.")
        known = replace(known, tiers=_tiers(tier))
    return replace(known, roots=(*known.roots, *(roots or ())), sinks=(*known.sinks, *(sinks or ())))


def _tiers(text: str) -> tuple[tuple[str, ...], ...]:
    tiers = tuple(tuple(name.strip() for name in part.split(",") if name.strip()) for part in text.split("<"))
    if len(tiers) < 2 or not all(tiers):
        raise OptionError(f"--tier {text!r} cannot be used: write tiers from early to late, as 'a,b<c'.")
    return tiers
