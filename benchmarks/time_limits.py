"""Wall clock of commands with a time limit: how long after ``--max-time`` is everything written?

    OMP_NUM_THREADS=1 python benchmarks/time_limits.py [--repeats 1]

Each command is a process of its own, from its start to its end: imports, reading, score, search, checks, report. The
processor seconds beside the wall clock say how much a busy machine has added. On one that is far too busy, --processor
lets the limit count processor seconds too: their sum is then the wall clock of one core with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from precede import simulate

GP = {"n_variables": 20, "degree": 2, "sem": "gp", "n_samples": 500}
WIDE = {"n_variables": 300, "degree": 2, "n_samples": 1000}
CASES = {
    "GP, 20 columns": (GP, ["--score=gp"], 40),
    "GP, 20 columns, sparse": (GP, ["--score=sparse-gp"], 40),
    "GP, 3,000 rows": ({**GP, "n_samples": 3000}, ["--score=gp"], 30),
    "300 columns": ({**WIDE, "sem": "lingam"}, [], 20),
    "300 columns, Gaussian": (WIDE, [], 20),
}
"""Name to data, flags and limit."""


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


BY_PROCESSOR = """
import time
from precede.runtime.deadline import Deadline
Deadline.__init__.__defaults__ = (None, time.process_time)
from precede.cli import main
main()
"""


def timed(name: str, top: Path, by_processor: bool) -> str:
    """Run one command and say what it took."""
    made, flags, limit = CASES[name]
    data, out = top / "data.csv", top / name.replace(" ", "-")
    simulate(random_state=0, **made).data.to_csv(data, index=False)
    program = ["-c", BY_PROCESSOR] if by_processor else ["-m", "precede"]
    command = [sys.executable, *program, "discover", str(data), f"--out={out}", "--seed=0", "--quiet"]
    before, start = children_seconds(), time.perf_counter()
    subprocess.run([*command, f"--max-time={limit}", *flags], check=True, stdout=subprocess.DEVNULL, env=os.environ)
    wall, used = time.perf_counter() - start, children_seconds() - before
    search = json.loads((out / "result.json").read_text())["diagnostics"]["search"]
    ended = "by the limit" if search["out_of_time"] else "before the limit"
    return (
        f"{name:24} --max-time {limit}: {wall:5.1f} s wall, {used:5.1f} s of processor; "
        f"the search took {search['seconds']:.1f} s and ended {ended}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processor", action="store_true", help="count processor seconds, not those of the wall")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        for name in given.cases:
            for _ in range(given.repeats):
                print(timed(name, Path(top), given.processor), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
