"""The errors people get: one sentence that names the culprit and what would work."""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from numbers import Integral
from typing import TypeGuard

import numpy as np


class PrecedeError(ValueError):
    """Root of every error that the user can mend; the command line shows it without a traceback."""


class DataError(PrecedeError):
    """The data cannot be used as it is."""


class OptionError(PrecedeError):
    """An option has a value that is not among the known ones, or that cannot work here."""


class KnowledgeError(PrecedeError):
    """The background knowledge contradicts itself, or names what is not there."""


class GraphError(PrecedeError):
    """A graph is cyclic, misshapen, or does not fit the other one."""


MISSHAPEN = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading a value of an unexpected form raises."""


@contextmanager
def refusing(
    errors: type[Exception] | tuple[type[Exception], ...], kind: type[PrecedeError], what: str
) -> Iterator[None]:
    """Raise errors that are not ours as one sentence: ``what``, and the reason where it ends with a colon.

    Examples
    --------
    >>> with refusing(OSError, DataError, "the table cannot be read:"):
    ...     open("/no/such/file")
    Traceback (most recent call last):
    precede.errors.DataError: the table cannot be read: No such file or directory.
    """
    try:
        yield
    except errors as error:
        if isinstance(error, PrecedeError):
            raise
        reason = getattr(error, "strerror", None) or str(error).removesuffix(".")
        raise kind(f"{what} {reason}." if what.endswith(":") else what) from None


ALONE = object()
"""In place of a value: the name of the option is meant."""


def _in_python(option: str, value: object) -> str:
    return option if value is ALONE else f"{option}=..." if value is ... else f"{option}={value!r}"


_spelling: ContextVar[Callable[[str, object], str]] = ContextVar("_spelling", default=_in_python)


@contextmanager
def spelling(words: Callable[[str, object], str | None]) -> Iterator[None]:
    """Let sentences spell options as an interface has them, and as Python does where the interface says None."""
    token = _spelling.set(lambda option, value: words(option, value) or _in_python(option, value))
    try:
        yield
    finally:
        _spelling.reset(token)


def typed(option: str, value: object = ALONE) -> str:
    """An option as one types it where the sentence is read; ``...`` stands for any value.

    Examples
    --------
    >>> typed("missing", "drop"), typed("types", ...), typed("types")
    ("missing='drop'", 'types=...', 'types')
    >>> with spelling(lambda option, value: f"--{option} {value}"):
    ...     typed("missing", "drop")
    '--missing drop'
    """
    return _spelling.get()(option, value)


def check_choice(option: str, value: object, known: Iterable[str]) -> None:
    """Refuse a value that is not among the known ones, with the nearest spelling.

    Examples
    --------
    >>> check_choice("reward", "dens", ("dense", "episodic"))
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: reward='dens' is unknown: did you mean 'dense'? Known: 'dense', 'episodic'.
    """
    choices = list(known)
    if isinstance(value, str) and value in choices:
        return
    hint = did_you_mean(value, choices)
    said = f"is unknown:{hint}" if hint else "is unknown."
    raise OptionError(f"{typed(option, value)} {said} Known: {', '.join(map(repr, choices))}.")


def did_you_mean(value: object, known: Iterable[object]) -> str:
    """The nearest spelling as a question, with a space before it; empty where none is near.

    Examples
    --------
    >>> did_you_mean("Age", ["age", "income"]), did_you_mean("gaussian", ["nongaussian"])
    (" did you mean 'age'?", '')
    """
    spelled = str(value)
    opposites = {f"non{spelled}", f"non-{spelled}", spelled.removeprefix("non").lstrip("-")} - {spelled}
    folded = {str(item).casefold(): item for item in known if str(item) not in opposites}
    nearest = get_close_matches(spelled.casefold(), folded, n=1)
    return f" did you mean {folded[nearest[0]]!r}?" if nearest else ""


def unknown_column(option: str, name: object, columns: Iterable[object]) -> DataError:
    """The error for a name that is none of the columns."""
    known = list(columns)
    hint = did_you_mean(name, known)
    return DataError(
        f"{typed(option)} names {name!r}, which is not a column;{hint} the columns are {listed(known, 20)}."
    )


def is_number(value: object, *, whole: bool = False) -> TypeGuard[float]:
    """Whether a value is a finite number of Python or NumPy, and a whole one if asked for; 64.0 and True are not.

    Examples
    --------
    >>> is_number(64.0), is_number(64.0, whole=True), is_number(float("inf")), is_number(True)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral if whole else (Integral, float, np.floating)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def check_positive(option: str, value: object, *, integer: bool = False) -> None:
    """Refuse anything but a positive number (a positive whole number with ``integer``)."""
    if not is_number(value, whole=integer) or not value > 0:
        kind = "whole number" if integer else "number"
        raise OptionError(f"{typed(option, value)} cannot be used: it must be a positive {kind}.")


def check_not_negative(option: str, value: object) -> None:
    """Refuse anything but a number of at least zero."""
    if not is_number(value) or not value >= 0:
        raise OptionError(f"{typed(option, value)} cannot be used: it must be a number of at least 0.")


def listed(items: Iterable[object], most: int = 5) -> str:
    """Join names for a message, cut after a few.

    Examples
    --------
    >>> listed("abc")
    "'a', 'b', 'c'"
    """
    return joined(map(repr, items), most)


def joined(words: Iterable[str], most: int = 5, mark: str = ", ") -> str:
    """Join words for a message, cut after a few."""
    given = list(words)
    rest = f" and {len(given) - most} more" if len(given) > most else ""
    return mark.join(given[:most]) + rest


def renamed(old: str, new: str, depth: int = 3) -> None:
    """Warn that a user's line has an old name; ``depth`` calls up, for what users call themselves."""
    warnings.warn(f"{old} is now {new}; the old name goes in the next release", DeprecationWarning, stacklevel=depth)
