"""The one way to JSON: plain values, and nothing that a strict parser refuses."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

JsonObject = dict[str, Any]
"""Plain values by name, where the names are not known beforehand: options of any method, JSON that others wrote."""


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
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return repr(value)


def to_json(value: Any, indent: int | None = None, *, sort_keys: bool = False) -> str:
    """Strict JSON of any value: see :func:`plain`."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=sort_keys)
