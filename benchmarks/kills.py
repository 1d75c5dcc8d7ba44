"""Kill work at random moments; nothing may be corrupt, and resuming must agree.

    OMP_NUM_THREADS=1 python benchmarks/kills.py [--kills 50] [--seed 0]

Each round forks a child, kills it (SIGKILL) at a random moment of its course, looks at every file that it left, then
runs again to the end and compares with what an uninterrupted run gave, byte for byte. A kill that comes too late does
not count and shortens the time from which the moments are drawn. The jobs are a fit, a bootstrap, the writing of
results, and pretraining. The job "overwrite" writes one result over another and is killed at each of its writes, moves
and removals in turn, half-way through a write: the folder, once read, holds the old files or the new ones, never a
mixture. ``benchmarks/interrupts.py`` does the same, and Ctrl-C and SIGTERM, to the command line. Exit code 1 at the
first fault.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from interrupts import small_tasks, strict

import precede.pretraining.supervised as run_folder
import precede.pretraining.supervised as supervised
import precede.search.checkpoint as checkpoint_module
from precede import CORL, CausalGraph, simulate
from precede.baselines import EqVar
from precede.data.load import load_table
from precede.evidence.confidence.resampling import FORMAT as JOURNAL_FORMAT
from precede.files import write_text, write_together
from precede.policy.prediction import load_pretrained
from precede.report.collect import Provenance
from precede.report.folder import load_results, write_report, write_results
from precede.strict_json import to_json

torch.optim.Adam([torch.zeros(1)])  # loads what every child would otherwise load again
DATA = simulate(n_variables=6, degree=2, n_samples=300, random_state=0).data
CHECKPOINT = "run.safetensors"
TOO_LATE, IN_TIME = 0.9, 1.02
"""How the time from which moments are drawn follows the machine: one in six is too late, so the end has its share."""
QUICK = {
    "score": "linear",
    "encoder": "null",
    "decoder": "mlp",
    "batch_size": 8,
    "n_encoder_rows": 16,
    "verbose": False,
}


def fit(folder: Path) -> None:
    """Train with a checkpoint every ten iterations; ends with fit.json."""
    checkpoint_module.SECONDS_BETWEEN_SAVES = 0.0
    path = str(folder / CHECKPOINT)
    model = CORL(n_iterations=60, patience=None, random_state=0, checkpoint=path, resume=True, **QUICK).fit(DATA)
    history = model.history_.drop(columns="seconds").to_dict("list")
    write_text(folder / "fit.json", json.dumps([model.score_, list(map(str, model.causal_order_)), history]))


def check_fit(folder: Path) -> None:
    path = folder / CHECKPOINT
    if path.exists():
        checkpoint_module.read_checkpoint(path)


def bootstrap(folder: Path) -> None:
    """Forty resamples with a journal; ends with bootstrap.json."""
    journal = folder / "journal.jsonl"
    found = EqVar(verbose=False).bootstrap(DATA, n_resamples=40, random_state=0, checkpoint=journal)
    found.to_json(folder / "bootstrap.json")


def check_bootstrap(folder: Path) -> None:
    path = folder / "journal.jsonl"
    if path.exists():
        whole, _, _ = path.read_text().rpartition("\n")  # a torn last line is allowed
        header, *lines = (strict(line) for line in whole.split("\n"))
        assert header["format"] == JOURNAL_FORMAT
        assert all("order" in line for line in lines)


def results(folder: Path) -> None:
    """Write the folder of results, report and all, three times over."""
    table = load_table(DATA)
    model = EqVar(verbose=False).fit(table)
    for _ in range(3):
        write_results(folder, model, table)
        write_report(folder, model, table, provenance=Provenance("a day"))  # the same, whenever it is written again


def check_results(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name.startswith("."):  # a file in the making
            continue
        text = path.read_text()
        if path.name == "graph.json":
            assert CausalGraph.from_json(path).n_variables == 6
        elif path.suffix == ".json":
            strict(text)
        elif path.suffix == ".html":
            assert text.rstrip().endswith("</html>")
        elif path.suffix == ".dot":
            assert text.rstrip().endswith("}")


def pretrain(folder: Path) -> None:
    """Twelve steps of pretraining, saved after every four; ends with pretraining.json."""
    run_folder.SECONDS_BETWEEN_CHECKPOINTS = 0.0
    supervised.READ_EVERY = supervised.BATCHES_AT_ONCE = 4
    supervised.SIZES_AT_ONCE = 1
    settings = small_tasks("default", tiny=True, n_steps=12, max_time=600.0, random_state=0, device="cpu")
    for _ in run_folder.pretrain_into(folder, "policy", settings, resume=True):
        pass
    weights = load_pretrained(folder / "policy.safetensors").actor.state_dict()
    write_text(folder / "pretraining.json", to_json({name: float(value.sum()) for name, value in weights.items()}))


def check_pretraining(folder: Path) -> None:
    if (folder / "policy.safetensors").exists():
        load_pretrained(folder / "policy.safetensors")


JOBS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "fit": (fit, check_fit),
    "bootstrap": (bootstrap, check_bootstrap),
    "results": (results, check_results),
    "pretraining": (pretrain, check_pretraining),
}


def in_child(job: Callable[[Path], None], folder: Path, seconds: float | None) -> bool:
    """Run a job in a fork, killed after some seconds; True when it came to its end first."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            job(folder)
            code = 0
        finally:
            os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, "the job failed by itself"
    return True


def content(folder: Path) -> dict[str, bytes]:
    """What a job left behind, but for journals and what says how long it took."""
    timed = (CHECKPOINT, "journal.jsonl", "policy.pt", "policy.jsonl", "policy.safetensors")
    files = (path for path in folder.iterdir() if path.name not in timed and not path.name.startswith("."))
    return {path.name: path.read_bytes() for path in files}


def rounds(name: str, kills: int, rng: random.Random) -> tuple[int, int, int]:
    """Kill one job so often in its course; returns (kills, those that left files, those that came too late)."""
    job, check = JOBS[name]
    killed = with_files = late = 0
    with tempfile.TemporaryDirectory() as top:
        whole = Path(top) / "whole"
        whole.mkdir()
        start = time.perf_counter()
        in_child(job, whole, None)
        course = time.perf_counter() - start
        expected = content(whole)
        while killed < kills:
            folder = Path(top) / str(killed + late)
            folder.mkdir()
            if in_child(job, folder, rng.uniform(0, course)):
                late += 1
                course *= TOO_LATE
            else:
                killed += 1
                course *= IN_TIME
                with_files += any(folder.iterdir())
            check(folder)
            in_child(job, folder, None)
            assert content(folder) == expected, f"{name}, kill {killed}: not the result of an uninterrupted run"
            shutil.rmtree(folder)
    return killed, with_files, late


def overwrite(kills: int, rng: random.Random) -> tuple[int, int, int]:
    """Kill the writing of one result over another at each step in turn; (kills, old results, new results)."""
    table = load_table(DATA)
    found: dict[str, int] = {"old": 0, "new": 0}
    with tempfile.TemporaryDirectory() as top:
        folders = {name: Path(top) / name for name in ("old", "new")}
        texts = {}
        for k, name in enumerate(folders):
            model = EqVar(verbose=False).fit(load_table(DATA + k * DATA.abs()))
            write_results(folders[name], model, table)
            write_report(folders[name], model, table, provenance=Provenance(f"day {k}"))
            texts[name] = content(folders[name])
        assert all(texts["old"][name] != texts["new"][name] for name in ("graph.json", "summary.json", "report.html"))
        step = 0
        while sum(found.values()) < kills:
            case = Path(top) / "case"
            shutil.copytree(folders["old"], case)

            def write(folder: Path, at: int = step) -> None:
                _die_at(at, rng.random())
                write_together(folder, texts["new"])

            ended = in_child(write, case, None)
            load_results(case)
            left = content(case)
            which = next((name for name in texts if left == texts[name]), None)
            assert which is not None, f"a mixture after a kill at step {step}"
            found[which] += not ended
            step = 0 if ended else step + 1
            shutil.rmtree(case)
    return sum(found.values()), found["old"], found["new"]


def _die_at(step: int, share: float) -> None:
    """Let this process kill itself at its n-th write, move or removal; a write is then half done."""
    steps = itertools.count()

    def dying(function: Callable[..., object], half: Callable[..., object] | None = None) -> Callable[..., object]:
        def act(*given: object, **named: object) -> object:
            if next(steps) == step:
                if half is not None:
                    half(*given)
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*given, **named)

        return act

    whole = Path.write_bytes
    Path.write_bytes = dying(whole, lambda path, data: whole(path, data[: int(share * len(data))]))  # type: ignore[method-assign, assignment]
    Path.unlink = dying(Path.unlink)  # type: ignore[method-assign, assignment]
    os.replace = dying(os.replace)  # type: ignore[assignment]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="that land, of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", nargs="+", choices=[*JOBS, "overwrite"], default=[*JOBS, "overwrite"])
    given = parser.parse_args()
    for name in given.jobs:
        start = time.perf_counter()
        if name == "overwrite":
            killed, old, new = overwrite(given.kills, random.Random(given.seed))
            seconds = time.perf_counter() - start
            print(
                f"overwrite: {killed} kills, {old} left the old result, {new} the new one, no mixture ({seconds:.0f} s)"
            )
            continue
        killed, with_files, late = rounds(name, given.kills, random.Random(given.seed))
        seconds = time.perf_counter() - start
        print(
            f"{name}: {killed} kills in its course, {with_files} of them with files there ({late} more came too late); "
            f"no corrupt file, every resumed result the same ({seconds:.0f} s)",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
