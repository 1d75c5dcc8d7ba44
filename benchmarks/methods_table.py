"""Write the time columns of docs/methods.md from the results of ``precede reproduce times``.

    precede reproduce times --seeds 1 --max-time 300 --device cpu --out docs/results
    python benchmarks/methods_table.py

A fit that ``--max-time`` ended says so, as does one that was not run; below the table come command and machine.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from statistics import mean

from precede.corl import methods
from precede.errors import PrecedeError
from precede.experiments.ledger import CELLS, RUNS, TIMES, Record, by_key, read_lines

UNTIMED = {"corl-1", "corl-2", "pc", "ges", "fci"}
"""Methods without a row of their own: CORL by its paper's names, and those of causal-learn."""

BEGIN, END = "<!-- times: written by benchmarks/methods_table.py -->", "<!-- /times -->"
SIZES = ("30", "100")
"""Data of the experiment ``times``, in the sequence of the last columns."""


def shown(method: str, size: str, cells: dict[str, Record], times: dict[str, Record]) -> str:
    """Mean seconds of a method's fits, or why there are none."""
    keys = [key for key, cell in cells.items() if key.startswith(f"{size}/") and is_default(method, cell)]
    if not keys:
        return "not run"
    if any(cells[key]["error"] is not None for key in keys):
        return "failed"
    for key in keys:
        limit = cells[key]["settings"]["max_time"]
        if limit is not None and times[key]["seconds"] >= limit:
            return f"> {limit:g}, cut"
    return f"{mean(times[key]['seconds'] for key in keys):.1f}"


def is_default(method: str, cell: Record) -> bool:
    """Whether a fit is the method with its defaults; the score of "corl" is named in the experiment."""
    settings = cell["settings"]
    return settings["estimator"] == method and settings["paper"] is None and not {*settings["options"]} - {"score"}


def rewritten(table: str, cells: dict[str, Record], times: dict[str, Record]) -> str:
    """The table with its last columns replaced."""
    lines, found = [], set()
    for line in table.strip().splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if name := re.fullmatch(r"`(.+)`", row[0]):
            found.add(name[1])
            row[-len(SIZES) :] = [shown(name[1], size, cells, times) for size in SIZES]
            line = f"| {' | '.join(row)} |"
        lines.append(line)
    known = set(methods()) - UNTIMED
    if found != known:
        raise PrecedeError(f"the table and pc.methods() differ in {sorted(found ^ known)}.")
    return "\n".join(lines)


def sources(runs: list[Record], times: dict[str, Record]) -> str:
    """What was measured, and with what command on what machine."""
    used = {record["run"] for record in times.values()}
    lines = [
        f"- `{run['command']}`, commit {run['commit']}, {run['date']}, {run['cpu']}"
        + (f", {run['gpu']}" if any(r["device"] == "cuda" and r["run"] == run["run"] for r in times.values()) else "")
        for run in runs
        if run["run"] in used
    ]
    return "\n".join(["Seconds of one fit on linear Gaussian ER2 data, m = 3000, one CPU thread:", "", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("docs/results/times"))
    parser.add_argument("--page", type=Path, default=Path("docs/methods.md"))
    options = parser.parse_args()
    cells, times = (by_key(read_lines(options.results / name)) for name in (CELLS, TIMES))
    if not cells:
        parser.error(f"{options.results} holds no results: run precede reproduce times --out {options.results.parent}.")
    before, rest = options.page.read_text().split(BEGIN)
    inside, after = rest.split(END)
    table = rewritten(inside.split("\n\n")[0], cells, times)
    below = sources(read_lines(options.results / RUNS), times)
    options.page.write_text(f"{before}{BEGIN}\n{table}\n\n{below}\n{END}{after}")
    print(f"{options.page}: {len(cells)} fits")


if __name__ == "__main__":
    main()
