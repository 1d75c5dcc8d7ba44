"""The terminal: what is printed on it, and errors in one sentence."""

import errno
import json
import logging
import signal
import sys
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from precede.errors import PrecedeError
from precede.strict_json import to_json

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
