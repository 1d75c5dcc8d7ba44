"""What keeps the tree readable and no linter looks for: one spelling, tests that mirror the packages, typed records."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "precede"
MODULES = sorted(SOURCE.rglob("*.py"))
ROOT = SOURCE.parents[1]
FOLDERS = ("src", "tests", "docs", "benchmarks", "examples")
BRITISH = re.compile(
    r"\w*(?:centre[ds]?\b|behaviour|neighbour|colour|favour|licence|labell(?:ed(?!by)|ing)|modelled"
    r"|optimis(?:e|ing|ation)|(?:standard|normal|regular|maxim|minim|factor|initial|penal|recogn|summar|general|random"
    r"|discret|marginal|categor)is(?:e|ing|ation))\w*",
    re.IGNORECASE,
)


def test_spelling_is_american():
    found = []
    for path in [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]:
        parts = path.relative_to(ROOT).parts
        generated = "vendor" in parts or "_build" in parts or parts[:2] in (("docs", "generated"), ("docs", "gallery"))
        if path.suffix in (".py", ".md", ".html", ".js", ".css") and not generated and path != Path(__file__):
            found += [f"{path.relative_to(ROOT)}: {word[0]}" for word in BRITISH.finditer(path.read_text())]
    assert found == []


def test_the_spelling_test_sees_names_and_words():
    words = "centred max_neighbours standardised_table Colours labelled optimiser normalisation centre"
    assert [word[0] for word in BRITISH.finditer(words)] == words.split()
    assert not BRITISH.search("aria-labelledby optimistic centered neighbor license generality")


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_scripts_import_what_exists(folder):
    """They are run now and then, not by the suite: a name that has moved must not wait for that."""
    missing = []
    for script in (ROOT / folder).glob("*.py"):
        for node in ast.walk(ast.parse(script.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "precede":
                module = import_module(str(node.module))
                names = {alias.name for alias in node.names} - set(dir(module))
                missing += [f"{script.name}: {node.module}.{name}" for name in names if not hasattr(module, name)]
    assert missing == []


def test_each_decision_has_its_own_number():
    records = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    assert [int(path.name[:3]) for path in records] == list(range(1, len(records) + 1))
    assert [path.read_text().split(".")[0] for path in records] == [f"# {k}" for k in range(1, len(records) + 1)]


def test_tests_mirror_the_tree():
    """A folder of tests for each package, and none for anything else; what concerns all of them lies above."""
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    folders = {
        path.relative_to(Path(__file__).parent).parts[0] for path in Path(__file__).parent.glob("*/**/test_*.py")
    }
    assert folders == packages


def test_plain_records_are_rare():
    """Records have types; mappings of any content go by two names, ``JsonObject`` and ``Options``."""
    found = [str(path.relative_to(SOURCE)) for path in MODULES if "dict[str, Any]" in path.read_text()]
    assert len(found) <= 5, found
