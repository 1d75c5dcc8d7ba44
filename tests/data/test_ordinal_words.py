"""Ordinal words need their order."""

import numpy as np
import pandas as pd
import pytest

import precede as pc
from precede.cli.flags import as_flag
from precede.data.kinds import SCALES, known_order
from precede.errors import PrecedeError


def column(words: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"severity": words * 40, "x": np.random.default_rng(0).normal(size=40 * len(words))})


def test_words_without_a_known_order_are_refused_with_the_levels() -> None:
    with pytest.raises(PrecedeError, match="order of its levels is not known") as caught:
        pc.load_table(column(["acute", "chronic", "gone"]), types={"severity": "ordinal"})
    assert "types={'severity': ['acute', 'chronic', 'gone']}" in str(caught.value)
    assert as_flag("types", {"severity": ["acute", "chronic", "gone"]}) == "--types 'severity=acute<chronic<gone'"
    told = pc.load_table(column(["acute", "chronic", "gone"]), types={"severity": ["gone", "chronic", "acute"]})
    assert told.kinds[0].labels == ("gone", "chronic", "acute")


@pytest.mark.parametrize(
    "words", [["high", "low", "medium"], ["Agree", "Disagree", "Strongly agree"], ["10", "9", "x"]]
)
def test_known_words_are_ordered_and_said_so(words: list[str]) -> None:
    if "x" in words:
        assert known_order(words) is None
        return
    table = pc.load_table(column(words), types={"severity": "ordinal"})
    assert list(table.kinds[0].labels) == known_order(words)
    assert any("are in the order" in remark for remark in table.remarks)
    assert table.kinds[0].name == "ordinal"


def test_every_scale_orders_itself() -> None:
    for scale in SCALES:
        words = [words.split("|")[0].strip() for words in scale.split(",")]
        assert known_order(sorted(words)) == words


def test_a_table_in_memory_has_the_order_it_was_read_with() -> None:
    table = pc.load_table(column(["acute", "chronic", "gone"]))
    with pytest.raises(PrecedeError, match="is not known"):
        pc.load_table(table, types={"severity": "ordinal"})
