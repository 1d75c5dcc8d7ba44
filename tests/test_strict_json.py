"""Whatever a result holds becomes JSON that a strict parser reads."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from precede.errors import OptionError
from precede.graph.parts import Sample
from precede.kinds import ColumnKind
from precede.strict_json import checked, plain, to_json


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


def test_a_record_is_read_as_it_was_written():
    words = ColumnKind("binary", (0.0, 1.0), ("\ud800", "yes"))  # half a character, as a table of Python may hold
    absent = ((frozenset([0]), 3), (frozenset(), 6))
    written = Sample(9, np.array([0.5]), np.array([[np.nan]]), kinds=(words,), absent=absent)
    read = checked(json.loads(to_json(written)), Sample, "it")
    assert (read.n_samples, read.kinds, read.absent) == (9, (words,), absent)
    np.testing.assert_array_equal(read.covariance, written.covariance)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_samples": "9"}, "'n_samples' should be a whole number, and is '9'"),
        ({"kinds": [{"name": "binary", "levels": 3, "labels": []}]}, r"'kinds\[0\].levels' should be a list, and is 3"),
        ({"covariance": [[1.0], [1.0, 2.0]]}, "'covariance' should be rows of equal length"),
    ],
)
def test_a_record_of_another_shape_is_refused(change, words):
    content = {"n_samples": 9, "mean": [0.5], "covariance": [[1.0]]}
    with pytest.raises(OptionError, match=words):
        checked(content | change, Sample, "it")
