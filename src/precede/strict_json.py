"""The one way to JSON and back: plain values, nothing that a strict parser refuses, and records of a known shape."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.errors import OptionError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Record = TypeVar("Record")

DEEPEST, LARGEST_FILE, LARGEST = 40, 1 << 28, 1e200
"""Levels, bytes and numbers beyond are none that this package wrote."""

JsonObject = dict[str, Any]
"""Plain values by name, where the names are not known beforehand: options of any method, JSON that others wrote."""


@dataclass(frozen=True)
class _Lists:
    """Lets :func:`checked` make an array of lists; a number that is null is none."""

    depth: int
    kind: type

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> object:
        """Lists of lists of what the array holds."""
        from pydantic_core import core_schema

        schema: Any = core_schema.bool_schema() if self.kind is bool else core_schema.float_schema()
        schema = core_schema.nullable_schema(schema)
        for _ in range(self.depth):
            schema = core_schema.list_schema(schema)
        return core_schema.no_info_after_validator_function(lambda found: np.array(found, dtype=self.kind), schema)


Vector = Annotated[FloatArray, _Lists(1, float)]
Matrix = Annotated[FloatArray, _Lists(2, float)]
Flags = Annotated[BoolArray, _Lists(2, bool)]
"""Arrays as fields of records that are written to JSON and read again."""


def plain(value: Any) -> Any:
    """What JSON can hold of a value: a number that is not finite becomes None, an object its ``repr``.

    Examples
    --------
    >>> plain({"score": float("nan"), "order": np.arange(2), "edge": ("a", np.float64(0.5))})
    {'score': None, 'order': [0, 1], 'edge': ['a', 0.5]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return repr(value)


class Spoken:
    """A record with a ``sentence``, or ``sentences``, in plain words."""

    def to_dict(self) -> JsonObject:
        """Plain values by name, JSON-ready."""
        said = {name: getattr(self, name) for name in ("sentence", "sentences") if hasattr(self, name)}
        return {**plain(self), **said}


def to_json(value: Any, indent: int | None = None, *, sort_keys: bool = False) -> str:
    """Strict JSON of any value: see :func:`plain`."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=sort_keys)
    return text.encode("utf-8", "backslashreplace").decode()  # half a character, as JSON writes it


def read_json(path: Path) -> Any:
    """What a file of JSON holds; damage of any kind is a sentence, and a file that is not there a FileNotFoundError."""
    if path.stat().st_size > LARGEST_FILE:
        raise OptionError(f"{str(path)!r} is too large to be what this package wrote.")
    return parsed(path.read_bytes(), repr(str(path)))


def parsed(text: str | bytes, what: str) -> Any:
    """What a text holds that is to be JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise OptionError(f"{what} is not valid JSON: {reason}.") from None


def document(found: Any, form: str, version: int, what: str) -> JsonObject:
    """What was read, once it is known to be what this package writes, in the version that this release reads."""
    if not isinstance(found, dict) or found.get("format") != form:
        raise OptionError(f"{what} is not what 'precede discover --out' writes: it lacks format={form!r}.")
    if found.get("version") != version:
        raise OptionError(
            f"{what} is of version {str(found.get('version'))[:20]}, and this release of precede reads version "
            f"{version}: run 'precede discover' again."
        )
    return found


def checked(value: Any, shape: type[Record], what: str) -> Record:
    """A value of JSON as the record that it is, a ``TypedDict`` or a dataclass; else the first place where it is none.

    Examples
    --------
    >>> from typing_extensions import TypedDict
    >>> checked({"name": 5}, TypedDict("Entry", {"name": str}), "the entry")
    Traceback (most recent call last):
        ...
    precede.errors.OptionError: the entry is damaged: 'name' should be a text, and is 5.
    """
    from pydantic import ValidationError

    adapter, clean = _adapter(cast(Any, shape)), _clean(value, what, 0)
    try:
        if is_dataclass(shape):
            adapter.validate_json(json.dumps(clean), strict=True)  # where its tuples and sets are lists
            return cast(Record, adapter.validate_python(value))  # half a character stays what it is
        adapter.validate_python(clean, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        if first["type"] == "missing":
            raise OptionError(f"{what} is damaged: {where!r} is missing.") from None
        wanted = WORDS.get(first["type"]) or str(first.get("ctx", {}).get("expected", "something else"))
        found = repr(first["input"])
        found = found if len(found) <= 40 else f"{found[:37]}..."
        raise OptionError(f"{what} is damaged: {where!r} should be {wanted}, and is {found}.") from None
    return cast(Record, value)


WORDS = {
    "string_type": "a text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false",
    "list_type": "a list", "tuple_type": "a list", "frozen_set_type": "a list", "dict_type": "a group of named values",
    "dataclass_type": "a group of named values", "value_error": "rows of equal length",
}  # fmt: skip


@lru_cache(maxsize=16)
def _adapter(shape: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(shape)


def _clean(value: Any, what: str, depth: int) -> Any:
    """The value with whole characters only; what is too deep or too large is refused."""
    if depth > DEEPEST:
        raise OptionError(f"{what} is damaged: it is nested too deeply.")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_clean(name, what, depth): _clean(item, what, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, what, depth + 1) for item in value]
    if isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise OptionError(f"{what} is damaged: it holds a number that is too large, or none.")
    return value
