"""The one gate for options: what a signature declares is what ``fit`` and the command line accept.

An option is declared once, by its annotation in the method's class: its type, its range (:class:`Range`), its
choices (``Literal``), and whether ``None`` is allowed. A wrong value is refused with a sentence, never dropped.
"""

import ast
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from precede.errors import OptionError, check_choice, did_you_mean, is_number, listed, typed


@dataclass(frozen=True)
class Range:
    """Which numbers an option takes: above one bound or at least the other, and at most a third."""

    above: float = -math.inf
    least: float = -math.inf
    most: float = math.inf

    def holds(self, value: float) -> bool:
        """Whether a number is within the range."""
        return self.above < value and self.least <= value <= self.most

    def in_words(self, kind: str) -> str:
        """The range as a message says it, ``kind`` being "number" or "whole number"."""
        words = f"a positive {kind}" if self.above == 0 else f"a {kind}"
        bounds = [f"at least {self.least:g}"] if self.least > -math.inf else []
        bounds += [f"at most {self.most:g}"] if self.most < math.inf else []
        return f"{words} of {' and '.join(bounds)}" if bounds else words


Count = Annotated[int, Range(above=0)]
"""A positive whole number."""
CountOrZero = Annotated[int, Range(least=0)]
"""A whole number of at least zero."""
Positive = Annotated[float, Range(above=0)]
"""A positive number."""
NotNegative = Annotated[float, Range(least=0)]
"""A number of at least zero."""
Share = Annotated[float, Range(above=0, most=1)]
"""A positive number of at most one."""


Options = dict[str, Any]
"""Options of a method by name, as its constructor takes them."""


def declared(owner: type) -> Mapping[str, object]:
    """Annotation of each option of a class, with its range, in the order of the constructor.

    Examples
    --------
    >>> from precede.baselines import EqVar
    >>> list(declared(EqVar))[:3]
    ['max_time', 'verbose', 'pruning']
    """
    hints = get_type_hints(owner, include_extras=True)
    return {option.name: hints[option.name] for option in fields(owner)} if is_dataclass(owner) else {}


def check_options(owner: type | Callable[..., object], options: Mapping[str, object]) -> None:
    """Refuse a value that its option's declaration, in a class or a function's signature, does not allow."""
    hints = get_type_hints(owner, include_extras=True)
    for name, value in options.items():
        check_value(name, value, hints[name])


def check_value(name: str, value: object, hint: Any) -> None:
    """Refuse a value that an annotation does not allow, in a sentence that says what it does.

    Examples
    --------
    >>> check_value("patience", 2.5, Count | None)
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: patience=2.5 cannot be used: it must be a positive whole number or None.
    """
    kinds = alternatives(hint)
    if any(_accepts(kind, value) for kind in kinds):
        return
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    only_choices = all(get_origin(kind) is Literal for kind in kinds)
    if isinstance(value, str) and (only_choices or get_close_matches(value, choices)) and choices:
        check_choice(name, value, choices)  # a slip of the pen: says which is nearest
    wanted = [_in_words(kind) for kind in kinds]
    raise OptionError(f"{typed(name, value)} cannot be used: it must be {either(wanted)}.")


def check_names(owner: str, names: Iterable[str], known: list[str]) -> None:
    """Refuse an option that does not exist, with the nearest spelling and all that do."""
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise OptionError(f"{owner} has no option {name!r};{hint} its options are {listed(known, len(known))}.")


def from_text(name: str, text: str, hint: Any) -> object:
    """Read an option's value from the command line, by its declaration.

    A choice is itself, so ``encoder=null`` is the encoder of that name; else ``none`` is None, ``true`` and ``false``
    are those, and a number is a number. What the declaration does not allow is refused.

    Examples
    --------
    >>> from_text("patience", "none", Count | None) is None
    True
    >>> from_text("pruning", "none", Literal["bic", "none"])
    'none'
    """
    kinds = alternatives(hint)
    if any(get_origin(kind) is Literal and text in get_args(kind) for kind in kinds):
        return text
    if text.lower() == "none" and NoneType in kinds:
        return None
    value: object = text
    for kind in kinds:
        plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        if plain is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if plain in (int, float) or (get_origin(plain) in (list, tuple) and text[:1] in ("[", "(")):
            value = _written(text)
            break
    check_value(name, value, hint)
    return value


def parsed(owner: type, texts: Mapping[str, str]) -> Options:
    """Options of a class from their texts, each by its declaration."""
    hints = declared(owner)
    return {name: from_text(name, text, hints[name]) for name, text in texts.items()}


def alternatives(hint: Any) -> list[Any]:
    """The members of a union, or the annotation itself."""
    return list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]


def either(words: list[str]) -> str:
    """Join alternatives: "a", "a or b", "a, b or c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _written(text: str) -> object:
    """A number, list or tuple as Python writes it, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _accepts(kind: Any, value: object) -> bool:
    plain, range_ = _parts(kind)
    if get_origin(plain) is Literal:
        return isinstance(value, str) and value in get_args(plain)
    if plain is bool:
        return isinstance(value, (bool, np.bool_))
    if plain in (int, float):
        return is_number(value, whole=plain is int) and range_.holds(value)
    return isinstance(value, get_origin(plain) or plain)


def _in_words(kind: Any) -> str:
    plain, range_ = _parts(kind)
    if get_origin(plain) is Literal:
        return either([repr(choice) for choice in get_args(plain)])
    if plain in (int, float):
        return range_.in_words("whole number" if plain is int else "number")
    if plain is bool:
        return "True or False"
    if plain is str:
        return "text"
    if plain is NoneType:
        return "None"
    if get_origin(plain) in (list, tuple):
        return f"a {get_origin(plain).__name__}"
    return f"a precede.{plain.__name__}" if plain.__name__ == "Knowledge" else f"an object of type {plain.__name__}"


def _parts(kind: Any) -> tuple[Any, Range]:
    """An annotation without its range, and the range."""
    if get_origin(kind) is Annotated:
        plain, range_, *_ = get_args(kind)
        return plain, range_
    return kind, Range()
