"""Long work that is stopped, files that are damaged, knowledge of every kind: the result is valid or a sentence."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from precede import CORL, CausalGraph, Knowledge, load_table, methods, simulate
from precede.baselines import METHODS
from precede.cli import app
from precede.errors import DataError, KnowledgeError
from precede.graph.dags import ancestors, full_dag

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


# --- stopped work ---

COMMAND = """
import sys
import precede.search.checkpoint as checkpoint
checkpoint.SECONDS_BETWEEN_SAVES = 0.0  # so that the test can see when training is under way
from precede.cli import main
main()
"""


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    simulate(n_variables=5, degree=1, n_samples=200, random_state=0).data.to_csv(path, index=False)
    return path


QUICK_FLAGS = ["--seed=0", "--set=encoder=null", "--set=decoder=mlp", "--set=batch_size=8", "--set=patience=none"]


def test_ctrl_c_keeps_the_best_and_writes_a_valid_result(data_file: Path, tmp_path: Path) -> None:
    out, saved = tmp_path / "out", tmp_path / "run.safetensors"
    flags = ["--score=linear", "--quiet", *QUICK_FLAGS, "--set=n_iterations=1000000"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "discover", str(data_file), f"--out={out}", f"--checkpoint={saved}", *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    try:
        limit = time.monotonic() + 120
        while not saved.exists() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert CausalGraph.from_json(out / "graph.json").n_variables == 5
    result = json.loads((out / "result.json").read_text())
    assert result["diagnostics"]["search"]["interrupted"] is True
    assert np.isfinite(result["score"])


def test_ctrl_c_before_there_is_a_result(data_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("precede.load_table", interrupt)
    result = CliRunner().invoke(app, ["discover", str(data_file), f"--out={tmp_path / 'out'}"])
    assert result.exit_code == 130
    assert "interrupted before there was a result" in result.output
    assert not (tmp_path / "out").exists()


def test_ctrl_c_while_polishing_keeps_the_policys_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("precede.search.run.polish", interrupt)
    model = CORL(score="linear", n_iterations=5, batch_size=8, random_state=0, verbose=False)
    model.fit(simulate(n_variables=4, degree=1, n_samples=100, random_state=0).data)
    search = model.diagnostics_["search"]
    assert search["interrupted"] is True
    assert search["best_score"] == max(search["policy_score"], search["greedy_score"]) == model.score_


def test_the_command_line_resumes(data_file: Path, tmp_path: Path) -> None:
    saved = tmp_path / "run.safetensors"
    base = ["discover", str(data_file), "--score=linear", "--quiet", "--json", *QUICK_FLAGS]

    def outcome(*flags: str) -> Any:
        result = CliRunner().invoke(app, [*base, *flags])
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        return found["score"], found["order"], found["diagnostics"]["search"]["iterations"]

    whole = outcome("--set=n_iterations=20")
    outcome("--set=n_iterations=10", f"--checkpoint={saved}")
    assert outcome("--set=n_iterations=20", f"--checkpoint={saved}", "--resume") == whole
    again = CliRunner().invoke(app, [*base, f"--checkpoint={saved}"])
    assert again.exit_code == 2
    assert "already exists" in again.output
    other = CliRunner().invoke(app, ["discover", str(data_file), "--method=eqvar", f"--checkpoint={saved}"])
    assert other.exit_code == 2  # a method without training


def test_three_kills_of_each_kind() -> None:
    """The same script, with fifty, is the benchmark."""
    command = [sys.executable, str(BENCHMARKS / "kills.py"), "--kills=1", "--jobs", "fit", "bootstrap", "results"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("every resumed result the same") == 3


# --- damaged files ---


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)  # benchmarks import their neighbors, as when they are run
        spec.loader.exec_module(module)
    return module


def test_malformed_files_get_a_sentence() -> None:
    """The same function, with a thousand, is the benchmark."""
    counts = benchmark("fuzz").fuzz(cases=80, seed=1, through_cli=0.15)
    assert counts["by the command line"] > 0


def test_damaged_runs_bring_nothing_down_and_hide_no_other() -> None:
    """The same function, with three thousand, is the benchmark."""
    pytest.importorskip("starlette")
    counts = benchmark("damaged_results").fuzz(cases=25, seed=1)
    assert counts["refused by load_results"] > 0
    assert counts["exit code 2"] > 0
    assert counts["answered 400"] > 0


@pytest.mark.parametrize("bomb", ["far_cell", "two_million_rows", "many_far_cells"])
def test_a_workbook_that_asks_for_all_memory_is_refused_with_its_numbers(bomb: str, tmp_path: Path) -> None:
    """The benchmark measures seconds and memory, of four other files as well."""
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    getattr(benchmark("bombs"), bomb)(tmp_path / bomb)
    (path,) = tmp_path.iterdir()
    with pytest.raises(DataError, match=r"[\d,]+ (rows|bytes).* save (a part of its rows|the cells)"):
        load_table(path)


# --- knowledge is obeyed ---

NAMES = ["a", "b", "c", "d"]

WAYS: dict[str, dict[str, Any]] = {
    "policy": {"polish": False, "pruning": "none"},
    "polish": {"pruning": "none", "n_restarts": 1},
    "bic": {},
    "threshold": {"pruning": "threshold", "threshold": 0.05},
    "exact": {"search": "exact"},
    "sparse": {"score": "sparse-linear", "search": "exact"},
    "episodic": {"reward": "episodic", "inputs": "resample"},
}
"""The parts of CORL that must obey: sampling, polish, exact search, each pruning, sparse scores."""

UNTRAINED = {"verbose": False}
QUICK = {"n_iterations": 2, "batch_size": 4, "n_encoder_rows": 4, "encoder": "null", "decoder": "mlp", **UNTRAINED}


def columns() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    a, b, c, d = rng.laplace(size=(4, 80))
    b += a
    c += b - a
    d += c + b
    return pd.DataFrame(np.column_stack([a, b, c, d]), columns=NAMES)


DATA = columns()


@st.composite
def random_knowledge(draw: st.DrawFn) -> Knowledge:
    """Knowledge that some DAG obeys, most often against the data."""
    order = draw(st.permutations(NAMES))
    pairs = [(order[i], order[j]) for i in range(4) for j in range(i + 1, 4)]
    required = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3))
    others = [(i, j) for i in NAMES for j in NAMES if i != j and (i, j) not in required]
    forbidden = draw(st.lists(st.sampled_from(others), unique=True, max_size=5))
    tiers: list[Any] = []
    if draw(st.booleans()):
        cut = draw(st.integers(1, 3))
        tiers = [order[:cut], order[draw(st.integers(cut, 3)) : draw(st.integers(cut, 4))]]  # not always all of them
    roots = draw(st.lists(st.sampled_from([v for v in NAMES if all(v != j for _, j in required)]), max_size=1))
    free = [v for v in NAMES if all(v != i for i, _ in required)]
    return Knowledge(required, forbidden, tiers, roots, draw(st.lists(st.sampled_from(free), max_size=1)))


CASES: Counter[str] = Counter()
"""How many fits under knowledge were looked at, by method."""


@pytest.fixture(scope="module", autouse=True)
def _say_how_many(request: pytest.FixtureRequest) -> Iterator[None]:
    """Print the number of cases after a long run (make test-slow)."""
    yield
    if CASES.total() >= 1000:
        with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            each = ", ".join(f"{name} {count}" for name, count in sorted(CASES.items()))
            print(f"\n{CASES.total()} cases of random knowledge, each obeyed: {each}")


def obeys(name: str, model: Any, knowledge: Knowledge) -> None:
    """Fit, then look every statement up in the graph, edge by edge and path by path."""
    try:
        constraints = knowledge.over(NAMES)
    except KnowledgeError:  # a contradiction is no case
        reject()
    model.fit(DATA)
    edges = model.graph_.adjacency.astype(bool)
    path = pd.DataFrame(ancestors(model.graph_.edges), NAMES, NAMES)
    assert all(edges.loc[pair] for pair in knowledge.required)
    assert not any(edges.loc[pair] for pair in knowledge.forbidden)
    assert not any(path.loc[late, soon] for k, tier in enumerate(knowledge.tiers) for late in tier
                   for earlier in knowledge.tiers[:k] for soon in earlier)  # fmt: skip
    assert not edges[list(knowledge.roots)].any(axis=None)
    assert not edges.loc[list(knowledge.sinks)].any(axis=None)
    assert not constraints.violated_by(model.graph_.edges)
    order = np.array([NAMES.index(name) for name in model.causal_order_])
    assert not (model.graph_.edges & ~full_dag(order)).any()
    CASES[name] += 1


def corl(way: str, knowledge: Knowledge, seed: int) -> CORL:
    quick = UNTRAINED if "search" in WAYS[way] else QUICK
    return CORL(knowledge=knowledge, random_state=seed, **{"score": "linear", **quick, **WAYS[way]})


many = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("way", sorted(WAYS))
@given(knowledge=random_knowledge(), seed=st.integers(0, 1000))
@many
def test_no_part_of_corl_breaks_knowledge(way: str, knowledge: Knowledge, seed: int) -> None:
    obeys(f"corl ({way})", corl(way, knowledge, seed), knowledge)


@pytest.mark.slow
@pytest.mark.parametrize("way", sorted(WAYS))
@given(knowledge=random_knowledge(), seed=st.integers(0, 1000))
@settings(many, max_examples=500)
def test_no_part_of_corl_breaks_knowledge_thousands(way: str, knowledge: Knowledge, seed: int) -> None:
    obeys(f"corl ({way})", corl(way, knowledge, seed), knowledge)


OF_CAUSAL_LEARN = ("pc", "ges", "fci")
ABLE = sorted(n for n, cls in METHODS.items() if "knowledge" in cls.option_names() and n not in OF_CAUSAL_LEARN)
FEW = {"l1obs": {"n_evaluations": 30}}


def baseline(name: str, knowledge: Knowledge, seed: int) -> Any:
    method = methods()[name]
    seeded = {"random_state": seed} if "random_state" in method.option_names() else {}
    return method(knowledge=knowledge, verbose=False, **seeded, **FEW.get(name, {}))


@pytest.mark.parametrize("name", ABLE)
@given(knowledge=random_knowledge(), seed=st.integers(0, 1000))
@many
def test_no_baseline_breaks_knowledge(name: str, knowledge: Knowledge, seed: int) -> None:
    obeys(name, baseline(name, knowledge, seed), knowledge)


@pytest.mark.slow
@pytest.mark.parametrize("name", ABLE)
@given(knowledge=random_knowledge(), seed=st.integers(0, 1000))
@settings(many, max_examples=500)
def test_no_baseline_breaks_knowledge_thousands(name: str, knowledge: Knowledge, seed: int) -> None:
    obeys(name, baseline(name, knowledge, seed), knowledge)


def test_there_are_methods_that_take_knowledge() -> None:
    assert {"cam", "direct-lingam", "eqvar", "random"} <= set(ABLE)
