"""A newcomer's path, timed: from pip install to a constrained report of an untidy table, and what mistakes are told.

    python benchmarks/newcomer.py [--rows 400]

Makes a fresh environment in a temporary folder, installs the working tree with the project's constraints, writes a
table with an ID column, categories, missing cells and decimal commas, and types what a newcomer would type. Then each
likely mistake: the command must fail with a sentence that says what to type next. Prints Markdown
(docs/results/answers/newcomer.md); the exit status is 1 where a step fails or a mistake gets no advice.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

PROJECT = Path(__file__).resolve().parents[1]

PATH = (
    "pip install --quiet --constraint {constraints} {project}",
    "precede check patients.csv",
    "precede discover patients.csv --root age --sink blood_pressure --out results/",
)
"""What is typed; the report is then results/report.html."""

MISTAKES = (
    ("precede discover pateints.csv", "did you mean 'patients.csv'"),
    ("precede discvoer patients.csv", "Did you mean 'discover'"),
    ("precede discover patients.csv --rot age", "--root"),
    ("precede discover patients.csv --root Age", "did you mean 'age'"),
    ("precede discover patients.csv --tier age,income", "as 'a,b<c'"),
    ("precede discover patients.csv --leave-out region_", "did you mean 'region'"),
    ("precede discover patients.csv --score gaussian", "Known: "),
    ("precede discover patients.csv --method notear", "did you mean 'notears'"),
    ("precede report result", "precede discover data.csv --out result"),
    ("precede effect results age pressure", "did you mean 'blood_pressure'"),
    ("precede compare results", "name another"),
)
"""Wrong commands, and a part of what must be said."""


def write_untidy(path: Path, rows: int) -> None:
    """IDs, a category, missing cells written as n/a, semicolons and decimal commas."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, rows)
    region = rng.choice(["north", "south", "west"], rows)
    income = 20 + 0.5 * age + 8 * rng.laplace(size=rows)
    stress = 50 - 0.3 * income + 4 * (region == "north") + 4 * rng.laplace(size=rows)
    pressure = 90 + 0.4 * age + 0.6 * stress + 5 * rng.laplace(size=rows)
    columns = {"age": age, "region": region, "income": income.round(2), "stress": stress.round(2)}
    frame = pd.DataFrame({"patient_id": [f"P{k:05d}" for k in range(rows)], **columns})
    frame["blood_pressure"] = pressure.round(1)
    frame.loc[rng.random(rows) < 0.05, "income"] = np.nan
    frame.loc[rng.random(rows) < 0.04, "blood_pressure"] = np.nan
    frame.to_csv(path, sep=";", decimal=",", index=False, na_rep="n/a")


def typed(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str, float]:
    """Exit status, all that was printed, and seconds."""
    start = time.perf_counter()
    done = subprocess.run(command.split(), cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split()), time.perf_counter() - start


def walk(folder: Path, environment: dict[str, str]) -> bool:
    """The path itself; whether all went well and the report obeys what was said."""
    print("| typed | seconds |\n|---|---:|")
    whole = 0.0
    for template in PATH:
        command = template.format(constraints=PROJECT / "constraints.txt", project=PROJECT)
        status, said, seconds = typed(command, folder, environment)
        whole += seconds
        print(f"| `{template.format(constraints='constraints.txt', project='.')}` | {seconds:.0f} |", flush=True)
        if status:
            print(f"\nfailed: {said[-2000:]}")
            return False
    graph = json.loads((folder / "results" / "graph.json").read_text())
    edges = {(edge["cause"], edge["effect"]) for edge in graph["edges"]}
    obeyed = not any(effect == "age" or cause == "blood_pressure" for cause, effect in edges)
    size = (folder / "results" / "report.html").stat().st_size
    print(f"\n{whole:.0f} s in all; report.html has {size / 1000:.0f} KB and {len(edges)} edges, ", end="")
    print("none into age or out of blood_pressure." if obeyed else "and the constraints are BROKEN.")
    return obeyed


def stumble(folder: Path, environment: dict[str, str]) -> bool:
    """Every mistake; whether each was told what to type."""
    print("\n| mistake | exit status | says what to type next |\n|---|---:|---|")
    fine = True
    for command, wanted in MISTAKES:
        status, said, _ = typed(command, folder, environment)
        told = status == 2 and wanted in said and "Traceback" not in said
        fine &= told
        print(
            f"| `{command}` | {status} | {f'yes: “{wanted.strip()}”' if told else f'NO: {said[-200:]}'} |", flush=True
        )
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
        write_untidy(folder / "patients.csv", given.rows)
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        environment |= {"PATH": f"{folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
        environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {given.rows} rows.\n")
        fine = walk(folder, environment) and stumble(folder, environment)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
