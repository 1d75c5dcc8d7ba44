"""The limits that keep the tree readable: sizes of files and functions, one name for one thing, one spelling."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "precede"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES, MOST_FUNCTION_LINES, MOST_PARAMETERS = 350, 60, 8

PUBLIC_CALLS = {"simulate"}
"""Functions of the public contract whose flat options are the point of them."""

SAME_NAME = {"climb", "to_json"}
"""Names in two modules: compiled code and what calls it; the JSON of a graph and of anything."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> list[tuple[Function, bool]]:
    """Every function, and whether others dictate its parameters.

    Those are constructors of estimators (scikit-learn reads their options from the signature), commands (typer makes a
    flag of each parameter), the calls of the public contract, and GPU kernels, which take addresses and sizes alone.
    """
    command = "typer" in {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    estimators = {
        node
        for cls in ast.walk(tree)
        if isinstance(cls, ast.ClassDef) and any("_learn" in ast.unparse(item)[:200] for item in cls.body)
        for node in cls.body
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    }
    commands = {node for node in tree.body if command and isinstance(node, Function) and not node.name.startswith("_")}
    contract = {node for node in tree.body if isinstance(node, Function) and node.name in PUBLIC_CALLS}
    kernels = {
        node
        for node in tree.body
        if isinstance(node, Function)
        and any(ast.unparse(item).startswith("triton.jit") for item in node.decorator_list)
    }
    dictated = estimators | commands | contract | kernels
    return [(node, node in dictated) for node in ast.walk(tree) if isinstance(node, Function)]


def parameters(function: Function) -> list[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [item.arg for item in named if item is not None and item.arg not in ("self", "cls")]


def lines_of_code(function: Function, lines: list[str], body_only: bool) -> int:
    """Without docstrings, comments and blank lines; without the signature where others dictate it."""
    left_out: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, Function | ast.ClassDef) and ast.get_docstring(node) is not None:
            left_out |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    first = function.body[0].lineno if body_only else function.lineno
    kept = [number for number in range(first, (function.end_lineno or 0) + 1) if number not in left_out]
    return sum(bool(text := lines[number - 1].strip()) and not text.startswith("#") for number in kept)


ROOT = SOURCE.parents[1]
FOLDERS = ("src", "tests", "docs", "benchmarks", "examples")
BRITISH = re.compile(
    r"\w*(?:centre[ds]?\b|behaviour|neighbour|colour|favour|licence|labell(?:ed(?!by)|ing)|modelled"
    r"|optimis(?:e|ing|ation)|(?:standard|normal|regular|maxim|minim|factor|initial|penal|recogn|summar|general|random"
    r"|discret|marginal|categor)is(?:e|ing|ation))\w*",
    re.IGNORECASE,
)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_small(module):
    text = module.read_text()
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    for function, dictated in functions(ast.parse(text)):
        assert lines_of_code(function, lines, dictated) <= MOST_FUNCTION_LINES, function.name
        assert dictated or len(parameters(function)) <= MOST_PARAMETERS, function.name


def test_the_limits_see_what_they_should():
    text = "def f(a, b, *c, d=1, **e):\n    '''Say.\n\n    More.'''\n    # why\n    x = 1\n\n    return x\n"
    (function, dictated), *_ = functions(ast.parse(text))
    assert not dictated
    assert parameters(function) == ["a", "b", "d", "c", "e"]
    assert lines_of_code(function, text.splitlines(), body_only=False) == 3
    assert lines_of_code(function, text.splitlines(), body_only=True) == 2


def test_a_name_is_used_once():
    """But for commands and pages, named after what they call, and pretraining, which has batches of what data has."""
    places = defaultdict(set)
    for module in MODULES:
        if module.parent.name in ("cli", "studio", "pretraining"):
            continue
        for node in ast.parse(module.read_text()).body:
            if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(str(module.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1 and name not in SAME_NAME} == {}


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
    folders = {path.parent.name for path in Path(__file__).parent.glob("*/test_*.py")}
    assert folders == packages


def test_plain_records_are_rare():
    """Records have types; mappings of any content go by two names, ``JsonObject`` and ``Options``."""
    found = [str(path.relative_to(SOURCE)) for path in MODULES if "dict[str, Any]" in path.read_text()]
    assert len(found) <= 5, found
