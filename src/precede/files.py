"""Files: written whole or not at all, several as one, appended by whole lines, used by one run at a time."""

import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from precede.errors import OptionError

if sys.platform != "win32":
    import fcntl

PathLike = str | os.PathLike[str]


def atomic_write(path: PathLike, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a new file beside the target, which then takes its place; a failure leaves the target alone.

    The new file has the permissions of any new file, whatever ``write`` gives it, and an error names the target.
    """
    target = Path(path)
    beside = _beside(target)
    try:
        with _named(target):
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less the process's mask
            permissions = beside.stat().st_mode
            write(beside)
            os.chmod(beside, permissions)
            os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Let an error of the system name the file that was to be written: a full disk names none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from None


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 file whole or not at all."""
    atomic_write(path, lambda beside: beside.write_bytes(encoded(text)))


def encoded(text: str) -> bytes:
    r"""UTF-8; half a character, which a name of the data may hold, is written as JSON writes it: ``\ud800``."""
    return text.encode("utf-8", "backslashreplace")


SWAP_FILE = ".precede-swap"
"""Which new files of a folder take the place of which old ones; there only while they do."""


def write_together(folder: PathLike, contents: Mapping[str, str | bytes], remove: Collection[str] = ()) -> list[Path]:
    """Replace several files of a folder as one; killed at any moment, it leaves the old ones or the new ones.

    All are written under other names first. Then a record says which is to become which, and from then on the new ones
    count: :func:`finish_swap`, which every reader of results calls, does what a killed process has left to do.

    Parameters
    ----------
    folder : path
    contents : mapping of str to str or bytes
        By file name.
    remove : collection of str
        Files that are removed in the same moment.

    Returns
    -------
    files : list of Path
    """
    place = Path(folder)
    finish_swap(place)
    targets = [place / name for name in contents]
    beside = [_beside(target) for target in targets]
    try:
        for target, new, content in zip(targets, beside, contents.values(), strict=True):
            remove_leftovers(target)
            with _named(target):
                new.write_bytes(encoded(content) if isinstance(content, str) else content)
        moves = {new.name: target.name for new, target in zip(beside, targets, strict=True)}
        write_text(place / SWAP_FILE, json.dumps({"moves": moves, "remove": list(remove)}))
    except BaseException:
        if not (place / SWAP_FILE).exists():
            for new in beside:
                new.unlink(missing_ok=True)
        raise
    finish_swap(place)
    return targets


def finish_swap(folder: PathLike) -> None:
    """Finish what a killed :func:`write_together` has begun; nothing where there is nothing to finish."""
    place = Path(folder)
    try:
        told = json.loads((place / SWAP_FILE).read_bytes())
        moves, remove = dict(told["moves"]), list(told["remove"])
        if not all(
            isinstance(name, str) and name == os.path.basename(name) for name in (*moves, *moves.values(), *remove)
        ):
            raise ValueError("it names files elsewhere")
    except (FileNotFoundError, NotADirectoryError):
        return
    except (ValueError, TypeError, KeyError, RecursionError):
        raise OptionError(f"{str(place / SWAP_FILE)!r} is damaged: remove it.") from None
    for new, target in moves.items():
        with suppress(FileNotFoundError):  # moved before
            os.replace(place / new, place / target)
    for name in remove:
        (place / name).unlink(missing_ok=True)
    (place / SWAP_FILE).unlink(missing_ok=True)


def check_outputs(
    folder: PathLike, names: Collection[str], marks: Mapping[str, str], inputs: Mapping[str, PathLike | None]
) -> None:
    """Refuse to write over what is read, or over files that this package did not write.

    Parameters
    ----------
    folder : path
    names : collection of str
        What will be written or removed.
    marks : mapping of str to str
        Files that tell whose the others are, with the format that they must name; any that is there must, and one must
        be there for others to be replaced.
    inputs : mapping of str to path
        What is read, by what it is.
    """
    place = Path(folder)
    there = [name for name in names if os.path.lexists(place / name)]
    for what, path in inputs.items():
        for name in there:
            if path is not None and os.path.exists(path) and os.path.samefile(path, place / name):
                raise OptionError(f"{str(place / name)!r} is {what}, and would be replaced: name another folder.")
    ours = [name for name, form in marks.items() if _says(place / name, form)]
    foreign = [name for name in there if not ours or (name in marks and name not in ours)]
    if foreign:
        raise OptionError(
            f"{str(place / foreign[0])!r} was not written by precede, and would be replaced: name another folder, or "
            "move it away."
        )


def _says(path: Path, form: str) -> bool:
    """Whether a file of JSON names a format at its beginning."""
    try:
        with path.open("rb") as file:
            return re.match(rb'\s*\{\s*"format":\s*"' + re.escape(form.encode()) + b'"', file.read(200)) is not None
    except OSError:
        return False


def remove_leftovers(path: PathLike) -> None:
    """Remove what killed runs have left of :func:`atomic_write`, for a file that only one run writes."""
    target = Path(path)
    for beside in target.parent.glob(f".{target.name[:100]}.{'[0-9a-f]' * 12}"):
        beside.unlink(missing_ok=True)


def append_line(path: PathLike, line: str) -> None:
    """Append a whole line or nothing: what a full disk has torn is taken back before the error is passed on."""
    content = encoded(line) + b"\n"
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
def folder_lock(folder: PathLike) -> Iterator[None]:
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
