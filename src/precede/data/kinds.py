"""Kinds of columns: numbers, counts, ordinal, binary and categorical ones, told from the data or by the user."""

from collections.abc import Hashable, Mapping, Sequence
from typing import get_args

import numpy as np

from precede.arrays import FloatArray
from precede.data.numbers import spells_number
from precede.errors import DataError, OptionError, check_choice, listed, typed, unknown_column
from precede.kinds import NUMBER, ColumnKind, KindName

Types = Mapping[Hashable, "str | Sequence[Hashable]"]

MOST_STEPS = 10
"""A numeric column with more distinct values is a number or a count."""

ROWS_PER_LEVEL = 4
"""A numeric column has few distinct values only where each of them has this many rows on average."""

LOOK = 1000
"""Rows that are looked at first: most columns of numbers are told from them."""

SCALES = (
    "no|false, maybe, yes|true",
    "none|no, minimal, mild, moderate, severe, critical",
    "very low, low, medium|moderate|middle|normal|mid, high, very high",
    "very small, small, medium, large, very large",
    "xs, s, m, l, xl, xxl",
    "never, rarely|seldom, sometimes, often, always",
    "strongly disagree, disagree, neutral|undecided|neither agree nor disagree, agree, strongly agree",
    "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
    "very poor, poor, fair, good, very good, excellent",
)
"""Words whose order everybody knows, from low to high; | is between two words for one level."""


def from_labels(labels: Sequence[Hashable], ordered: bool) -> ColumnKind:
    """Kind of a column whose levels are words: the matrix holds their places."""
    name: KindName = "binary" if len(labels) == 2 else "ordinal" if ordered else "categorical"
    return ColumnKind(name, tuple(float(k) for k in range(len(labels))), tuple(map(str, labels)))


def known_order(labels: Sequence[str]) -> list[str] | None:
    """Levels from low to high where these are numbers or words of a known scale; None where they are not.

    Examples
    --------
    >>> known_order(["high", "Low", "medium"]), known_order(["10", "9"]), known_order(["blue", "red"])
    (['Low', 'medium', 'high'], ['9', '10'], None)
    """
    if all(map(spells_number, labels)):
        return sorted(labels, key=float)
    for scale in SCALES:
        place = {word.strip(): k for k, words in enumerate(scale.split(",")) for word in words.split("|")}
        found = {
            place.get(" ".join(label.lower().replace("_", " ").replace("-", " ").split())): label for label in labels
        }
        if None not in found and len(found) == len(labels):
            return [found[k] for k in sorted(k for k in found if k is not None)]
    return None


def one_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Levels that differ in case, blanks and abbreviation alone, and the most frequent spelling of each.

    One letter stands for a word where each such level begins exactly one longer one. Nothing is merged where fewer than
    two levels would be left, as with the genotypes AA, Aa and aa.

    Examples
    --------
    >>> one_spelling({"male": 50, "Male ": 3, "M": 2, "female": 40, "f": 1})
    {'Male ': 'male', 'M': 'male', 'f': 'female'}
    >>> one_spelling({"AA": 5, "Aa": 9, "aa": 3})
    {}
    """
    plain = {level: " ".join(level.replace("_", " ").casefold().split()).rstrip(".") for level in counts}
    words = sorted({word for word in plain.values() if len(word) > 1})
    letters = {word: [longer for longer in words if longer[0] == word] for word in plain.values() if len(word) == 1}
    if words and all(len(longer) == 1 for longer in letters.values()):
        plain = {level: letters[word][0] if word in letters else word for level, word in plain.items()}
    usual: dict[str, str] = {}
    for level, word in plain.items():
        if word not in usual or counts[level] > counts[usual[word]]:
            usual[word] = level
    return {level: usual[word] for level, word in plain.items() if level != usual[word]} if len(usual) > 1 else {}


def kind_of(column: FloatArray) -> ColumnKind:
    """Tell the kind of a numeric column; missing values do not count.

    Examples
    --------
    >>> kind_of(np.tile([1.0, 2.0, 3.0], 10)).name
    'ordinal'
    >>> kind_of(np.linspace(0, 1, 30)).name
    'number'
    """
    few = min(MOST_STEPS, len(column) // ROWS_PER_LEVEL)
    first = np.unique(_present(column[:LOOK]))
    if len(first) > few and not _whole(first):
        return NUMBER
    distinct = np.unique(_present(column))
    if 2 <= len(distinct) <= few:
        return _stepped(distinct, "binary" if len(distinct) == 2 else "ordinal")
    counts = len(distinct) > MOST_STEPS and 0 <= distinct[0] <= 1 and len(distinct) <= len(column) / 2
    return ColumnKind("count") if counts and _whole(distinct) else NUMBER


def kinds_of(
    values: FloatArray, names: Sequence[Hashable], stated: Mapping[int, ColumnKind], types: Types
) -> tuple[ColumnKind, ...]:
    """Kinds of all columns.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    names : sequence
    stated : mapping
        Of the columns that came as words or with a type of their own, by position.
    types : mapping
        What the user says, by name: a kind, or the levels of an ordinal column from low to high.

    Returns
    -------
    kinds : tuple of ColumnKind
    """
    position = {name: k for k, name in enumerate(names)}
    for name in types:
        if name not in position:
            raise unknown_column("types", name, names)
    said = {position[name]: kind for name, kind in types.items()}
    return tuple(
        _as_told(values[:, k], name, said[k], stated.get(k)) if k in said else stated.get(k) or kind_of(values[:, k])
        for k, name in enumerate(names)
    )


def _as_told(
    column: FloatArray, name: Hashable, told: str | Sequence[Hashable], stated: ColumnKind | None
) -> ColumnKind:
    """The kind that the user asks for, where the column can have it."""
    if not isinstance(told, str):
        kind = _as_told(column, name, "ordinal", stated)
        labels = list(map(label_of, kind.labels))
        if [level for level in map(label_of, told) if level in labels] != labels:  # places are given out on reading
            raise OptionError(
                f"types: the levels of {name!r} are {' < '.join(kind.labels)} in this table: give another order when "
                "the data are read."
            )
        return kind
    check_choice(f"the type of {name!r}", told, get_args(KindName))
    distinct = np.unique(_present(column))
    words = stated is not None and stated.labels != tuple(map(_spelled, stated.levels))
    if told in ("number", "count"):
        if words:
            raise OptionError(f"types: column {name!r} holds words, so it cannot be a {told}.")
        return ColumnKind("number" if told == "number" else "count")
    if told == "ordinal" and words and stated is not None and stated.name == "categorical":
        raise OptionError(
            f"types: the order of the levels of {name!r} ({', '.join(stated.labels)}) is not known: give them from low "
            "to high when the data are read."
        )
    if told == "binary" and len(distinct) != 2:
        raise OptionError(f"types: column {name!r} has {len(distinct)} distinct values, so it is not binary.")
    chosen: KindName = "binary" if told == "binary" else "ordinal" if told == "ordinal" else "categorical"
    if stated is not None and stated.discrete:
        return ColumnKind(chosen, stated.levels, stated.labels)
    return _stepped(distinct, chosen)


def label_of(level: Hashable) -> str:
    """What a level is called: numbers are called alike however they are written.

    Examples
    --------
    >>> label_of(3.0), label_of("3"), label_of("three")
    ('3', '3', 'three')
    """
    text = str(level)
    return _spelled(float(text)) if spells_number(text) else text


def _stepped(distinct: FloatArray, name: KindName) -> ColumnKind:
    return ColumnKind(name, tuple(distinct.tolist()), tuple(map(_spelled, distinct)))


def _spelled(value: float) -> str:
    return f"{value:.12g}"


def _present(column: FloatArray) -> FloatArray:
    missing = np.isnan(column)
    return column[~missing] if missing.any() else column


def _whole(values: FloatArray) -> bool:
    return bool((values == np.round(values)).all())


def remark_on(names: Sequence[Hashable], kinds: Sequence[ColumnKind]) -> list[str]:
    """What was decided, in a sentence; nothing where every column is a number.

    Examples
    --------
    >>> remark_on(["a", "b"], [NUMBER, ColumnKind("binary", (0.0, 1.0), ("0", "1"))])
    ["Kinds of columns: 'b' binary; the others are numbers. types=... changes a kind."]
    """
    parts = []
    for name in ("binary", "categorical", "ordinal", "count"):
        members = [column for column, kind in zip(names, kinds, strict=True) if kind.name == name]
        if members:
            parts.append(
                f"{listed(members)} {name if name != 'count' else 'counts' if len(members) > 1 else 'a count'}"
            )
    if not parts:
        return []
    rest = "; the others are numbers" if any(kind.name == "number" for kind in kinds) else ""
    return [f"Kinds of columns: {', '.join(parts)}{rest}. {typed('types', ...)} changes a kind."]


def refuse_categories(names: Sequence[Hashable], kinds: Sequence[ColumnKind], who: str) -> None:
    """Refuse categories where the method or score would read their numbers as sizes."""
    words = [name for name, kind in zip(names, kinds, strict=True) if kind.name == "categorical"]
    if words:
        one = len(words) == 1
        raise DataError(
            f"column{'' if one else 's'} {listed(words)} {'is' if one else 'are'} categorical, and {who} takes "
            f"numbers: leave {'it' if one else 'them'} out, or say that the order of the levels means something "
            f"({typed('types', {words[0]: 'ordinal'})})."
        )
