"""The wheel of the present commit under other Pythons and other versions of what it needs: the suite, folder by folder.

    python benchmarks/wheels.py FOLDER --python python3.11 --versions lowest
    python benchmarks/wheels.py FOLDER --python python3.14 --versions newest
    python benchmarks/wheels.py FOLDER

FOLDER keeps a clean export of the commit that the first call found, its wheel, an environment for each interpreter and
choice of versions, and what each folder of tests printed; a call runs what is not there yet. The last form only prints
the table. ``lowest`` are the floors of ``pyproject.toml`` (the lowest above them that have a wheel for this Python) and
the newest of what these need in turn; warnings of such old packages are no errors. ``uv`` must be on the PATH: pip
cannot choose the lowest.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXTRAS = ("excel", "studio", "tables")
FOR_TESTS = ("pytest", "hypothesis", "httpx2", "httpx", "pydot")  # older test clients of starlette take httpx
SHOWN = ("torch", "numpy", "scipy", "pandas", "scikit-learn", "numba", "pyarrow", "pydantic")
OLD_NAMES = ("confidence", "constraint", "diagnostics", "falsification")
"""Modules that warn when they are imported: doctests leave them out, as in ``pyproject.toml``."""
CHOSEN = "not slow and not peers and not browser"
SECONDS = 3600


def export(top: Path) -> None:
    """The files of the commit, nothing else, and the wheel of them."""
    if (top / "commit").exists():
        return
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True)
    archive = subprocess.check_output(["git", "archive", "HEAD"], cwd=ROOT)
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(top / "tree", filter="data")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(top / "wheel"), str(top / "tree")]
    subprocess.run(build, check=True)
    (top / "commit").write_text(commit)


def environment(top: Path, python: str, versions: str) -> Path:
    """An environment with the wheel, and with the lowest or the newest versions of what it needs."""
    version = subprocess.check_output([python, "-c", "import platform as p; print(p.python_version())"], text=True)
    place = top / f"{version.strip()}-{versions}"
    inside = place / "bin" / "python"
    if (place / "versions.json").exists():
        return place
    subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", python, str(place)], check=True)
    wheel = next((top / "wheel").glob("*.whl"))
    install = ["uv", "pip", "install", "--quiet", "--python", str(inside), *FOR_TESTS]
    if versions == "lowest":
        pins = place / "lowest.txt"
        extras = [word for extra in EXTRAS for word in ("--extra", extra)]
        lowest = ["--resolution", "lowest-direct", "--only-binary", ":all:", "--python", str(inside), "-o", str(pins)]
        subprocess.run(
            ["uv", "pip", "compile", "--quiet", *extras, *lowest, str(top / "tree/pyproject.toml")], check=True
        )
        subprocess.run([*install, "--only-binary", ":all:", "-r", str(pins), str(wheel)], check=True)
    else:
        subprocess.run([*install, f"precede[{','.join(EXTRAS)}] @ {wheel.absolute().as_uri()}"], check=True)
    listed = subprocess.check_output(["uv", "pip", "list", "--format", "json", "--python", str(inside)], text=True)
    (place / "versions.json").write_text(json.dumps({row["name"]: row["version"] for row in json.loads(listed)}))
    return place


def parts(top: Path, site: Path) -> dict[str, list[str]]:
    """What one run of pytest is given each: a folder of tests, a file above all folders, and the doctests."""
    tests = sorted(path for path in (top / "tree" / "tests").iterdir() if any(path.glob("**/test_*.py")))
    tests += sorted((top / "tree" / "tests").glob("test_*.py"))
    old = [f"--ignore={site / 'precede' / name}.py" for name in OLD_NAMES]
    return {path.stem: [str(path)] for path in tests} | {"doctests": ["--pyargs", "precede", *old]}


def run(top: Path, place: Path, only: list[str]) -> None:
    """Each part that was not run yet, in a process of its own."""
    python = str(place.absolute() / "bin" / "python")
    find = "import precede, pathlib; print(pathlib.Path(precede.__file__).parents[1])"
    site = Path(subprocess.check_output([python, "-c", find], cwd=top, text=True).strip())
    assert site.is_relative_to(place.absolute()), f"another precede is imported: {site}"
    weights = Path("docs") / "results" / "weights"  # of the paper, in no wheel; where a copy of the repository has them
    shutil.copytree(top / "tree" / weights, site.parent / weights, dirs_exist_ok=True)
    tolerant = ["-o", "filterwarnings=default"] if place.name.endswith("lowest") else []
    for name, given in parts(top.absolute(), site).items():
        target = place / f"{name}.json"
        if target.exists() or (only and name not in only):
            continue
        asked = [
            python,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-rfE",
            "--tb=short",
            "-m",
            CHOSEN,
            *tolerant,
            *given,
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(place / f"{name}.txt", "w") as log:
            done = subprocess.run(
                asked,
                cwd=top / "tree",
                stdout=log,
                stderr=log,
                timeout=SECONDS,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = (place / f"{name}.txt").read_text()
        counts = {what: int(n) for n, what in re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", text[-300:])}
        row: dict[str, Any] = {
            "counts": counts,
            "code": done.returncode,
            "seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
            "failures": re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE),
        }
        target.write_text(json.dumps(row))
        print(f"{place.name} {name}: {counts}, {row['seconds']} s", *row["failures"], sep="\n    ", flush=True)


def table(top: Path) -> None:
    """A line for each environment, then its versions, what was not run, and what failed."""
    print(f'commit {(top / "commit").read_text().strip()}, {platform.machine()}, `-m "{CHOSEN}"`\n')
    print(
        "| Python | versions | passed | skipped | failed | not run | processor, s |\n|---|---|---:|---:|---:|---|---:|"
    )
    notes = []
    for place in sorted(path.parent for path in top.glob("*/versions.json")):
        names = parts(top, place)
        done = {name: place / f"{name}.json" for name in names if (place / f"{name}.json").exists()}
        rows = [json.loads(path.read_text()) for path in done.values()]
        passed, skipped = (sum(row["counts"].get(what, 0) for row in rows) for what in ("passed", "skipped"))
        failed = sum(len(row["failures"]) for row in rows)
        missing = ", ".join(name for name in names if name not in done) or "–"
        python, _, versions = place.name.rpartition("-")
        seconds = sum(row["seconds"] for row in rows)
        print(f"| {python} | {versions} | {passed:,} | {skipped} | {failed} | {missing} | {seconds:,} |")
        installed = json.loads((place / "versions.json").read_text())
        notes.append(f"{place.name}: " + ", ".join(f"{name} {installed[name]}" for name in SHOWN))
        notes += [f"    {test}" for row in rows for test in row["failures"]]
    print("", *notes, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", help="an interpreter; without it, only the table is printed")
    parser.add_argument("--versions", choices=("lowest", "newest"), default="newest")
    parser.add_argument("--only", nargs="*", default=[], help="folders of tests, files above them, 'doctests'")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.python:
        export(given.folder)
        run(given.folder, environment(given.folder, given.python, given.versions), given.only)
    else:
        table(given.folder)


if __name__ == "__main__":
    main()
