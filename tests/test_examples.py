"""Every script of the gallery runs as it stands; each asserts that its own message holds."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("plot_*.py"))


@pytest.fixture(autouse=True)
def _quiet_figures(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def test_there_are_examples():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example(script):
    runpy.run_path(str(script), run_name="__main__")
    assert plt.get_fignums(), "an example shows a figure"
    assert "assert" in script.read_text(encoding="utf-8")
