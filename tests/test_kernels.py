"""The same graph on every machine: fits under the kernels of other CPUs, other thread counts and shuffled rows."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
import pandas as pd
import precede as pc

shuffled = len(sys.argv) > 1
sachs = pc.load_sachs().data
simulated = {
    sem: pc.simulate(n_variables=8, degree=2, sem=sem, n_samples=400, random_state=1).data
    for sem in ("linear-gaussian", "lingam", "gp")
}
levels = simulated["linear-gaussian"].apply(lambda column: pd.qcut(column, 3, labels=["low", "middle", "high"]))
mixed = pd.concat([levels.iloc[:, :4], simulated["linear-gaussian"].iloc[:, 4:]], axis=1)
CASES = [
    ("sparse-linear", "sachs", sachs), ("nongaussian", "sachs", sachs), ("linear", "sachs", sachs),
    ("sparse-linear", "linear-gaussian", simulated["linear-gaussian"]),
    ("linear", "linear-gaussian", simulated["linear-gaussian"]),
    ("nongaussian", "lingam", simulated["lingam"]),
    ("quadratic", "gp", simulated["gp"][:150]), ("gp", "gp", simulated["gp"][:100]),
    ("sparse-gp", "gp", simulated["gp"].iloc[:80, :6]), ("sparse-gp-additive", "gp", simulated["gp"].iloc[:80, :6]),
    ("location-scale", "gp", simulated["gp"].iloc[:150, :6]), ("policy", "lingam", simulated["lingam"]),
    ("degenerate-gaussian", "mixed", mixed), ("conditional-gaussian", "mixed", mixed),
    ("discrete-bic", "levels", levels), ("bdeu", "levels", levels),
]
found = {}
for score, name, data in CASES:
    for scaled in (False, True) if name not in ("mixed", "levels") else (False,):
        table = (data - data.mean()) / data.std() if scaled else data
        if shuffled:
            table = table.sample(frac=1, random_state=int(sys.argv[1]))
        options = {"n_iterations": 10, "batch_size": 16, "diagnose": False, "random_state": 0, "verbose": False}
        model = pc.CORL(score, **options).fit(table)
        found[f"{score} on {name}, {'standardized' if scaled else 'raw'}"] = sorted(
            f"{cause} -> {effect}" for cause, effect, _ in model.graph_.edge_list()
        )
for name, options in (("direct-lingam", {}), ("ica-lingam", {"random_state": 0}), ("eqvar", {})):
    if not shuffled:
        graph = pc.discover(sachs, method=name, verbose=False, **options)
        found[f"{name} on sachs"] = sorted(f"{cause} -> {effect}" for cause, effect, _ in graph.edge_list())
print(json.dumps(found))
"""

KERNELS = {
    "torch without vectors": {"ATEN_CPU_CAPABILITY": "default"},
    "torch with AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "MKL of any machine": {"MKL_CBWR": "COMPATIBLE"},
    "OpenBLAS of a Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"},
}

MORE_KERNELS = {
    "OpenBLAS of a SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "OpenBLAS of a Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "OpenBLAS of a Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "NumPy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
    "numba for any machine": {"NUMBA_CPU_NAME": "generic"},
    "numba for a Haswell": {"NUMBA_CPU_NAME": "haswell"},
    "nothing but the oldest": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Prescott",
        "NUMBA_CPU_NAME": "generic",
    },
}
"""Numba makes other code for another CPU, with or without fused multiplication."""


def fits(environment: dict[str, str], *arguments: str) -> dict[str, list[str]]:
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env={**os.environ, **one_thread, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def here() -> dict[str, list[str]]:
    return fits({})


@pytest.mark.parametrize("name", [*KERNELS, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_KERNELS)])
def test_the_graph_does_not_depend_on_the_kernels(name: str, here: dict[str, list[str]]) -> None:
    there = fits((KERNELS | MORE_KERNELS)[name])
    assert len(here) == 31
    assert {case for case in here if here[case] != there[case]} == set()


def test_the_graph_does_not_depend_on_the_sequence_of_the_rows(here: dict[str, list[str]]) -> None:
    there = fits({}, "5")
    assert len(there) == 28
    assert {case for case in there if here[case] != there[case]} == set()
