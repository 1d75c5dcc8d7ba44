"""Whatever a result holds becomes JSON that a strict parser reads."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from precede.strict_json import plain, to_json


@dataclass
class Edge:
    cause: str
    weight: float


class Odd:
    def __repr__(self) -> str:
        return "<odd>"


def test_plain_values_stay():
    for value in (None, "é", True, 3, 0.5, [], {}):
        assert plain(value) == value
        assert type(plain(value)) is type(value)


def test_numpy_becomes_plain():
    assert plain(np.int64(3)) == 3
    assert type(plain(np.int64(3))) is int
    assert plain(np.bool_(True)) is True
    assert plain(np.array([[1.0, np.inf], [np.nan, -2.0]])) == [[1.0, None], [None, -2.0]]


def test_nothing_infinite_is_left():
    assert [plain(value) for value in (float("inf"), float("-inf"), float("nan"), np.float32("nan"))] == [None] * 4


def test_containers_and_objects():
    assert plain({1: (Edge("a", float("nan")),), "s": {2}}) == {"1": [{"cause": "a", "weight": None}], "s": [2]}
    assert plain([Odd(), Edge]) == ["<odd>", repr(Edge)]


def test_text_is_strict_and_readable():
    value = {"b": [1.5, float("inf")], "a": "ß"}
    assert to_json(value) == '{"b": [1.5, null], "a": "ß"}'
    assert to_json(value, sort_keys=True).index('"a"') < to_json(value, sort_keys=True).index('"b"')
    assert to_json(value, 2).splitlines()[1].startswith('  "b"')
    assert json.loads(to_json(value)) == {"b": [1.5, None], "a": "ß"}
