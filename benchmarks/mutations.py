"""Do the tests notice? One small fault at a time in eleven modules, and the tests of that module alone.

    OMP_NUM_THREADS=1 python benchmarks/mutations.py [MODULE ...] [--most 15]

A fault is a comparison turned or moved by its border, ``not`` left out, ``and`` for ``or``, ``+`` for ``-``, a whole
number one larger. Of all that a module has, ``--most`` are drawn with a fixed seed. A mutant is killed when a test
fails or takes longer than ``--seconds``. Prints a line for each survivor and a table at the end. Each mutant is a
forked process that imports the package from a copy.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS: dict[str, tuple[str, ...]] = {
    "ties.py": ("tests/test_ties.py",),
    "runtime/deadline.py": ("tests/test_ties.py", "tests/runtime/test_deadline.py"),
    "options.py": ("tests/test_options.py", "-k", "not recorded and not bootstrap"),  # without the fits
    "files.py": ("tests/test_files.py",),
    "strict_json.py": ("tests/test_strict_json.py",),
    "knowledge/knowledge.py": ("tests/knowledge",),
    "graph/dags.py": ("tests/graph/test_equivalence.py", "tests/graph/test_graph.py"),
    "pruning/weights.py": ("tests/pruning/test_pruning_weights.py",),
    "scores/covariance.py": ("tests/scores/test_linear_score.py", "tests/scores/test_covariance.py"),
    "metrics.py": ("tests/test_metrics.py", "tests/test_mark_metrics.py"),
    "search/local/__init__.py": ("tests/search/test_search.py",),
}
BORDER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
TURNED = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """What each fault is, with its line, and the module that has it."""
    n_nodes = sum(1 for _ in ast.walk(ast.parse(text)))
    for place in range(n_nodes):
        for kind in range(2):
            tree = ast.parse(text)
            annotations = {id(node) for node in _in_annotations(tree)}
            node = list(ast.walk(tree))[place]
            if id(node) in annotations:
                continue
            line = getattr(node, "lineno", 0)
            before = ast.unparse(node) if line else ""
            if _change(node, kind):
                yield f"line {line}: {before[:70]!r} -> {ast.unparse(node)[:70]!r}", ast.unparse(tree)


def _in_annotations(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(part, ast.AST):
                yield from ast.walk(part)


def _change(node: ast.AST, kind: int) -> bool:
    """Put a fault into a node, of its first or second kind; whether there is one."""
    match node:
        case ast.Compare(ops=[operator]):
            table = (TURNED, BORDER)[kind]
            if type(operator) not in table:
                return False
            node.ops = [table[type(operator)]()]
        case ast.BoolOp() if kind == 0:
            node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        case ast.BinOp() if kind == 0 and type(node.op) in ARITHMETIC:
            node.op = ARITHMETIC[type(node.op)]()
        case ast.UnaryOp(op=ast.Not()) if kind == 0:
            node.op = ast.UAdd()
            node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
        case ast.Constant(value=bool()) if kind == 0:
            node.value = not node.value
        case ast.Constant(value=int()) if kind == 0 and not isinstance(node.value, bool):
            node.value += 1
        case _:
            return False
    ast.fix_missing_locations(node)
    return True


def survives(module: str, mutant: str, copy: Path, seconds: float) -> bool:
    """Whether every test of the module passes with this fault in it."""
    target = copy / "precede" / module
    original = target.read_text()
    target.write_text(mutant)
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            signal.alarm(int(seconds))
            code = _run_tests(module, copy)
        os._exit(code)
    _, status = os.waitpid(child, 0)
    target.write_text(original)
    return status == 0


def _run_tests(module: str, copy: Path) -> int:
    import pytest

    sys.path.insert(0, str(copy))
    os.chdir(ROOT)
    present = [word for word in TESTS[module] if not word.startswith("tests/") or (ROOT / word).exists()]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        paths = [*present, str(copy / "precede" / module)]
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow", *paths]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", default=list(TESTS))
    parser.add_argument("--most", type=int, default=15, help="faults of each module")
    parser.add_argument("--seconds", type=float, default=120.0, help="for the tests of a mutant")
    parser.add_argument("--line", type=int, help="only faults of this line")
    options = parser.parse_args()
    for name in ("torch", "numba", "pandas", "scipy.stats", "sklearn.linear_model", "networkx"):
        import_module(name)  # before the forks

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src" / "precede", copy / "precede")
        for module in options.modules:
            start = time.perf_counter()
            text = (ROOT / "src" / "precede" / module).read_text()
            if not survives(module, text, copy, 10 * options.seconds):
                sys.exit(f"the tests of {module} fail without any fault")
            every = [fault for fault in mutants(text) if options.line is None or f"line {options.line}:" in fault[0]]
            drawn = random.Random(0).sample(every, min(options.most, len(every)))
            left = [what for what, mutant in drawn if survives(module, mutant, copy, options.seconds)]
            for what in left:
                print(f"{module} {what}", flush=True)
            killed = len(drawn) - len(left)
            print(f"{module}: {killed} of {len(drawn)}, {time.perf_counter() - start:.0f} s", flush=True)
            rows.append((module, len(every), len(drawn), killed))
    print("| module | faults possible | drawn | killed |\n|---|---:|---:|---:|")
    for row in rows:
        print(f"| `{row[0]}` | {row[1]} | {row[2]} | {row[3]} |")


if __name__ == "__main__":
    main()
