"""Files: written whole or not at all, appended by whole lines, used by one run at a time."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from precede.errors import OptionError

if sys.platform != "win32":
    import fcntl

PathLike = str | os.PathLike[str]


def write_whole(path: PathLike, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a new file beside the target, which then takes its place; a failure leaves the target alone.

    The new file has the permissions of any new file; the process's mask is left to the system to apply.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
    try:
        write(beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 file whole or not at all."""
    write_whole(path, lambda beside: beside.write_bytes(_encoded(text)))


def _encoded(text: str) -> bytes:
    r"""UTF-8; half a character, which a name of the data may hold, is written as JSON writes it: ``\ud800``."""
    return text.encode("utf-8", "backslashreplace")


def remove_leftovers(path: PathLike) -> None:
    """Remove what killed runs have left of :func:`write_whole`, for a file that only one run writes."""
    target = Path(path)
    for beside in target.parent.glob(f".{target.name[:100]}.{'[0-9a-f]' * 12}"):
        beside.unlink(missing_ok=True)


def append_line(path: PathLike, line: str) -> None:
    """Append a whole line or nothing: what a full disk has torn is taken back before the error is passed on."""
    content = _encoded(line) + b"\n"
    with open(path, "ab", buffering=0) as file:
        end = file.tell()
        try:
            written = file.write(content)
            if written != len(content):
                raise OSError(28, "No space left on device", str(path))
        except OSError:
            file.truncate(end)
            raise


def cut_torn_line(path: PathLike) -> None:
    """Remove what a killed run left of its last line."""
    with open(path, "r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


@contextmanager
def only_user(folder: PathLike) -> Iterator[None]:
    """Keep other runs out of a folder within the block; the system lets them in when this process dies."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OptionError(f"{str(folder)!r} is in use by another run: wait for it, or take another.") from None
        yield
    finally:
        os.close(handle)
