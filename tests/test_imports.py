"""What is imported when: help and names at once, a first look without the packages it has no use for."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest

import precede
from precede.data.load import load_table
from precede.lazy import without_collections
from precede.simulation import simulate

HEAVY = {"torch", "sklearn", "scipy", "networkx", "pandas", "joblib", "matplotlib", "jinja2"}


def imported(code: str) -> set[str]:
    """Every module that a fresh interpreter has imported after some code."""
    ending = "\nimport json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + ending], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def command(*words: str) -> str:
    """Code that runs a command and goes on after it."""
    return f"import sys\nfrom precede.cli import app\napp({list(words)}, prog_name='precede', standalone_mode=False)"


def test_the_package_itself_imports_nothing_heavy() -> None:
    assert not HEAVY & imported("import precede; dir(precede); precede.__version__; precede.PrecedeError")


@pytest.mark.parametrize("words", [("--help",), ("methods",), ("order", "--help"), ("discover", "--help")])
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not HEAVY & imported(command(*words))


def test_a_first_look_imports_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data.to_csv(path, index=False)
    modules = imported(command("order", str(path)))
    assert modules & HEAVY == {"torch", "scipy", "pandas"}  # as every fit
    assert not modules & {"scipy.stats", "scipy.optimize", "torch._dynamo", "sympy"}


def test_a_fit_that_trains_nothing_does_without_torchs_compiler() -> None:
    code = """
import numpy as np, precede
values = np.random.default_rng(0).normal(size=(60, 3))
found = precede.CORL("linear", search="local", random_state=0, verbose=False).fit(values)
assert len(found.history_) == 0
"""
    assert not imported(code) & {"torch._dynamo", "sympy"}


def test_a_fit_needs_neither_scikit_learn_nor_scipy_stats() -> None:
    code = """
import numpy as np, precede
values = np.random.default_rng(0).normal(size=(60, 3))
precede.CORL(random_state=0, verbose=False).fit(values)
"""
    assert not imported(code) & {"sklearn", "scipy.stats", "scipy.optimize", "scipy.spatial", "networkx", "matplotlib"}


COLLECTIONS = """
import gc
full = []
gc.callbacks.append(lambda phase, about: full.append(1) if about["generation"] == 2 and phase == "start" else None)
{before}
frozen = gc.get_freeze_count()  # Python 3.12 starts with some
import precede
precede.CORL
print(len(full), gc.isenabled(), (gc.get_freeze_count() > 0) == (frozen > 0))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "0 True True"), ("gc.disable()", "0 False True"), ("gc.freeze()", "0 True True")],
)
def test_imports_are_not_searched_for_garbage(before: str, after: str) -> None:
    code = COLLECTIONS.format(before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == after


def test_collections_resume_when_the_last_block_ends() -> None:
    with without_collections():
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_names_come_from_their_modules() -> None:
    assert dir(precede) == sorted(precede.__all__)
    assert {name: getattr(precede, name) for name in precede.__all__}
    assert precede.load_table is load_table
    assert precede.baselines.EqVar is precede.methods()["eqvar"]
    assert issubclass(precede.scores.linear.LinearScore, precede.OrderScore)
    assert issubclass(precede.OptionError, precede.PrecedeError)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'precede' has no attribute 'CROL'"):
        precede.CROL  # noqa: B018
    with pytest.raises(ImportError, match="CROL"):
        exec("from precede import CROL")
