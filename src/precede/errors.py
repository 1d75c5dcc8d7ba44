"""The errors people get: one sentence that names the culprit and what would work."""

from collections.abc import Iterable
from difflib import get_close_matches


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
    nearest = get_close_matches(str(value), choices, n=1)
    hint = f" did you mean {nearest[0]!r}?" if nearest else ""
    raise OptionError(f"{option}={value!r} is unknown:{hint} Known: {', '.join(map(repr, choices))}.")


def check_positive(option: str, value: object, *, integer: bool = False) -> None:
    """Refuse anything but a positive number (a positive whole number with ``integer``)."""
    kind = "whole number" if integer else "number"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (integer and value != int(value)) or not value > 0:  # type: ignore[operator, call-overload]
        raise OptionError(f"{option}={value!r} will not do: it must be a positive {kind}.")


def check_not_negative(option: str, value: object) -> None:
    """Refuse anything but a number of at least zero."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not value >= 0:
        raise OptionError(f"{option}={value!r} will not do: it must be a number of at least 0.")


def listed(items: Iterable[object], most: int = 5) -> str:
    """Join names for a message, cut after a few.

    Examples
    --------
    >>> listed("abc")
    "'a', 'b', 'c'"
    """
    names = [repr(item) for item in items]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
