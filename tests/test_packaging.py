"""What a distribution holds: one version, the notices it owes, the documentation, and no dependency without a use."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import precede

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_written_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "precede.__version__"}
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert citation is not None
    assert citation[1] == precede.__version__
    assert precede.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_the_notice_of_the_data_comes_along() -> None:
    notice = Path(precede.__file__).parent / "data" / "files" / "LICENSE-cdt"
    assert "Copyright (c) 2018 Diviyan Kalainathan" in notice.read_text()
    assert any(path.endswith("LICENSE-cdt") for path in PROJECT["project"]["license-files"])


@pytest.mark.parametrize("folder", ["docs", "examples", "benchmarks", "tests"])
def test_the_source_archive_holds_what_the_tests_need(folder: str) -> None:
    assert f"graft {folder}\n" in (ROOT / "MANIFEST.in").read_text()


MODULES = {"scikit-learn": "sklearn", "typing-extensions": "typing_extensions"}


@pytest.mark.parametrize("requirement", PROJECT["project"]["dependencies"])
def test_every_dependency_is_imported_and_pinned(requirement: str) -> None:
    """plotly was required and used by nothing."""
    name, least = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
    module = MODULES.get(name, name)
    pattern = re.compile(rf"^\s*(from|import) {module}\b|lazy_module\(\"{module}\"|\"{module}\"", re.MULTILINE)
    assert any(pattern.search(path.read_text()) for path in (ROOT / "src").rglob("*.py")), f"nothing imports {name}"
    numbers = [tuple(int(part) for part in re.findall(r"\d+", text)[:2]) for text in (version(name), least)]
    assert numbers[0] >= numbers[1]
    pins = (ROOT / "constraints.txt").read_text().lower()
    assert re.search(rf"^{name.lower()}==", pins, re.MULTILINE)


def test_the_studios_tests_collect_without_starlette():
    """As in the environment of ``make test-peers``, which would end at collection otherwise."""
    program = "import sys, pytest; sys.modules['starlette'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    asked = ["--collect-only", "-p", "no:cacheprovider", str(ROOT / "tests" / "studio")]
    found = subprocess.run([sys.executable, "-c", program, *asked], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 5, found.stdout  # pytest's "no tests were collected"; an error would be 2
    assert "error" not in found.stdout.lower()
