"""Thousands of malformed files: each must give one sentence, soon, and exit code 2 from the command line.

    OMP_NUM_THREADS=1 python benchmarks/fuzz.py [--cases 1000] [--seed 0] [--through-cli 0.2]

Valid tables (CSV, Excel, Parquet), knowledge files (JSON, TOML), policies, checkpoints of training and of pretraining,
journals, ledgers, summaries, confidences and graphs are cut, torn, stirred and replaced; in half of the files that hold
JSON, the headers of policies and checkpoints among them, one value is replaced by an odd one. What is still valid
afterwards does not count. Exit code 1 at the first traceback or hang.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from interrupts import small_tasks
from typer.testing import CliRunner

from precede import CORL, CausalGraph, Knowledge, load_table, simulate
from precede.baselines import EqVar
from precede.cli import app
from precede.errors import PrecedeError
from precede.evidence.confidence import Confidence
from precede.experiments.cells import Cell
from precede.experiments.designs import EXPERIMENTS
from precede.experiments.ledger import Ledger
from precede.experiments.reproduce import reproduce
from precede.policy.prediction import load_pretrained
from precede.pretraining.supervised import pretrain_into
from precede.report import rebuild_report, write_report

SECONDS_FOR_ONE = 60
SACHS = EXPERIMENTS["sachs"]
DATASET = simulate(n_variables=4, degree=1, n_samples=40, random_state=0)
TINY = {"score": "linear", "encoder": "null", "decoder": "mlp", "n_iterations": 2, "batch_size": 2, "n_encoder_rows": 4}
WORDS = simulate(n_variables=4, degree=1, sem="mixed", n_samples=40, random_state=0).data
WORDS = WORDS.mask(np.random.default_rng(0).random(WORDS.shape) < 0.1)
QUIET = {"random_state": 0, "verbose": False, "diagnose": False}
STEPS = {"variant": "default", "tiny": True, "n_steps": 1, "max_time": 600.0, "random_state": 0, "device": "cpu"}
KNOWLEDGE = {
    "required": [["x1", "x2"]],
    "forbidden": [["x3", "x*"]],
    "tiers": [["x1", "x3"], ["x2", "x4"]],
    "roots": ["x1"],
    "sinks": ["x4"],
}


class TooSlow(BaseException):
    """A case that hangs."""


def valid_files(folder: Path) -> dict[str, bytes]:
    """One valid file of each kind."""
    DATASET.data.to_csv(folder / "data.csv", index=False)
    DATASET.data.to_parquet(folder / "data.parquet")
    CORL(checkpoint=str(folder / "run"), **QUIET, **TINY).fit(DATASET.data)
    table = load_table(DATASET.data)
    write_report(folder, EqVar(verbose=False).fit(table), table)
    with Ledger(folder) as ledger:
        for seed in range(3):
            cell = Cell(SACHS.data[0], SACHS.methods[-1], seed)
            record = {"key": cell.key, "settings": cell.settings(), "metrics": {"shd": 17}, "error": None}
            ledger.add(record, {"key": cell.key, "seconds": 0.1, "run": "one", "device": "cpu"})
    list(pretrain_into(folder, "policy", small_tasks(**STEPS)))
    found = EqVar(verbose=False).bootstrap(DATASET.data, n_resamples=3, random_state=0, checkpoint=folder / "journal")
    toml = "\n".join(f"{name} = {json.dumps(value)}" for name, value in KNOWLEDGE.items())
    WORDS.to_csv(folder / "words.csv", index=False)
    WORDS.to_excel(folder / "words.xlsx", index=False)
    return {
        "csv": (folder / "data.csv").read_bytes(),
        "words": (folder / "words.csv").read_bytes(),
        "utf-16": (folder / "words.csv").read_text().encode("utf-16"),
        "excel": (folder / "words.xlsx").read_bytes(),
        "parquet": (folder / "data.parquet").read_bytes(),
        "policy": (folder / "policy.safetensors").read_bytes(),
        "pretraining": (folder / "policy.pt").read_bytes(),
        "summary": (folder / "summary.json").read_bytes(),
        "ledger": (folder / "cells.jsonl").read_bytes(),
        "json": json.dumps(KNOWLEDGE, indent=1).encode(),
        "toml": toml.encode(),
        "checkpoint": (folder / "run").read_bytes(),
        "journal": (folder / "journal").read_bytes(),
        "confidence": found.to_json().encode(),
        "graph": DATASET.graph.to_json().encode(),
        "matrix": DATASET.graph.to_csv().encode(),
    }


def read_knowledge(path: Path) -> None:
    Knowledge.from_file(path).over(list(DATASET.data.columns))


def read_checkpoint(path: Path) -> None:
    CORL(checkpoint=str(path), resume=True, **QUIET, **TINY).fit(DATASET.data)


def read_journal(path: Path) -> None:
    EqVar(verbose=False).bootstrap(DATASET.data, n_resamples=3, random_state=0, checkpoint=path)


def read_pretraining(path: Path) -> None:
    next(iter(pretrain_into(path.parent, path.stem, small_tasks(**STEPS), resume=True)), None)


def read_ledger(path: Path) -> None:
    folder = path.parent / SACHS.name
    folder.mkdir(exist_ok=True)
    (folder / path.name).write_bytes(path.read_bytes())
    reproduce(SACHS, out=path.parent, render=True, verbose=False)


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "csv": ("data.csv", load_table),
    "words": ("words.csv", load_table),
    "utf-16": ("words.csv", load_table),
    "excel": ("words.xlsx", load_table),
    "parquet": ("data.parquet", load_table),
    "policy": ("policy.safetensors", load_pretrained),
    "pretraining": ("policy.pt", read_pretraining),
    "summary": ("summary.json", lambda path: rebuild_report(path.parent)),
    "ledger": ("cells.jsonl", read_ledger),
    "json": ("known.json", read_knowledge),
    "toml": ("known.toml", read_knowledge),
    "checkpoint": ("run.safetensors", read_checkpoint),
    "journal": ("journal.jsonl", read_journal),
    "confidence": ("confidence.json", Confidence.from_json),
    "graph": ("graph.json", CausalGraph.from_json),
    "matrix": ("graph.csv", CausalGraph.from_csv),
}
"""Kind to file name and the function that reads it."""

RARE = {"pretraining": 0.1, "ledger": 0.3, "policy": 0.5, "checkpoint": 0.5}
"""Kinds that take long to read, and how often they come for one of the others."""


def command_line(kind: str, path: Path, data: Path) -> list[str] | None:
    """How the command line reads a file of this kind; None where it does not."""
    quick = ["discover", str(data), "--method", "eqvar", "--quiet"]
    tiny = [f"--set={name}={value}" for name, value in TINY.items()]
    match kind:
        case "csv" | "parquet":
            return ["discover", str(path), "--method", "eqvar", "--quiet"]
        case "policy":
            return ["order", str(data), "--pretrained", str(path), "--quiet"]
        case "pretraining":
            return [
                "pretrain",
                "--tiny",
                "--steps=1",
                f"--out={path.parent}",
                "--name=policy",
                "--resume",
                "--seed=0",
                "--quiet",
            ]
        case "summary":
            return ["report", str(path.parent)]
        case "ledger":
            return ["reproduce", SACHS.name, f"--out={path.parent}", "--render", "--quiet"]
        case "json" | "toml":
            return [*quick, "--knowledge", str(path)]
        case "checkpoint":
            return ["discover", str(data), "--seed=0", "--quiet", "--resume", "--checkpoint", str(path), *tiny]
        case "graph" | "matrix":
            return ["evaluate", str(path), str(path)]
        case _:
            return None


ODD_VALUES = (None, True, -1, 0, 10**400, 1.5, 1e308, -1e-320, "", "x1", "nan", "\ud800", [], [[]], {}, [1, "a"],
              {"x1": None}, "<script>", "a" * 5000, [0] * 500, float("nan"), float("inf"))  # fmt: skip


def replaced_somewhere(tree: Any, rng: np.random.Generator) -> Any:
    """The same JSON with an odd value, key or length at a random place."""
    if isinstance(tree, dict | list) and tree and rng.random() < 0.85:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        key = keys[int(rng.integers(len(keys)))]
        changed = tree.copy()
        match int(rng.integers(12)):
            case 0:
                del changed[key]
            case 1 if isinstance(changed, dict):
                changed[f"{key}?"] = changed.pop(key)
            case 1:
                changed.append(changed[key])
            case _:
                changed[key] = replaced_somewhere(tree[key], rng)
        return changed
    return ODD_VALUES[int(rng.integers(len(ODD_VALUES)))]


def twisted(content: bytes, rng: np.random.Generator) -> bytes | None:
    """A file of JSON, JSON lines or safetensors with one value replaced; None for any other."""

    def twist(text: bytes) -> bytes:
        return json.dumps(replaced_somewhere(json.loads(text), rng)).encode()

    try:
        header = int.from_bytes(content[:8], "little")
        if header < 2**20:
            told = twist(content[8 : 8 + header])
            return len(told).to_bytes(8, "little") + told + content[8 + header :]
        if content[:1] != b"{":
            return None
        lines = content.rstrip().split(b"\n") if content.count(b"\n{") else [content]
        k = int(rng.integers(len(lines)))
        return b"\n".join([*lines[:k], twist(lines[k]), *lines[k + 1 :], b""])
    except ValueError:
        return None


def malformed(content: bytes, rng: np.random.Generator) -> bytes:
    """Do something bad to a file."""
    if rng.random() < 0.5 and (found := twisted(content, rng)) is not None:
        return found
    size = len(content)
    lines = content.split(b"\n")
    where = int(rng.integers(size if rng.random() < 0.5 else min(size, 4000)))  # large files have their sense up there
    odd = [b"\x00", b"\xff\xfe", b"nan", b"inf", b"-", b'"', b"'", b",", b";", b"[", b"]", b"{", b"}", b"[/b]", b"\r",
           b"1e999", b"null", b"true", b"x1", "é".encode("latin-1"), b"=", b"#", b"9" * 400, b"\t", b"-1"]  # fmt: skip
    piece = odd[int(rng.integers(len(odd)))]
    match int(rng.integers(10)):
        case 0:
            return content[:where]
        case 1:
            return rng.bytes(int(rng.integers(200)))
        case 2:
            return content[:where] + piece + content[where:]
        case 3:
            return content[:where] + piece + content[where + len(piece) :]
        case 4:  # a line twice or missing
            k = int(rng.integers(len(lines)))
            return b"\n".join(lines[:k] + lines[k + int(rng.integers(2)) * 2 - 1 :])
        case 5:
            stirred = bytearray(content)
            for k in rng.integers(size, size=int(rng.integers(1, 30))):
                stirred[k] = int(rng.integers(256))
            return bytes(stirred)
        case 6:
            return content.replace(*(odd[int(k)] for k in rng.integers(len(odd), size=2)))
        case 7:
            return content[where:]
        case 8:
            return piece * int(rng.integers(1, 2000))
        case _:
            words = content.split(b'"')
            rng.shuffle(words)
            return b'"'.join(words)


def one_sentence(text: str) -> bool:
    return bool(text.strip()) and "\n" not in text.strip() and text.strip().endswith(".") and "Traceback" not in text


def _ring(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def fuzz(cases: int, seed: int, through_cli: float, kinds: list[str] | None = None) -> Counter[str]:
    """Count the refusals of each kind; an error of any other class comes through as it is."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        with tempfile.TemporaryDirectory() as top:
            folder = Path(top)
            originals = valid_files(folder)
            data = folder / "data.csv"
            case = folder / "case"
            case.mkdir()
            chosen = kinds or list(READERS)
            shares = np.array([RARE.get(kind, 1.0) for kind in chosen])
            shares /= shares.sum()
            while counts.total() - counts["still valid"] - counts["by the command line"] < cases:
                kind = chosen[int(rng.choice(len(chosen), p=shares))]
                name, read = READERS[kind]
                content = malformed(originals[kind], rng)
                (case / name).write_bytes(content)
                signal.alarm(SECONDS_FOR_ONE)
                try:
                    read(case / name)
                    counts["still valid"] += 1
                    continue
                except PrecedeError as error:
                    said = str(error)
                except BaseException:
                    print(f"{kind}: {content[:300]!r}", file=sys.stderr)
                    raise
                assert one_sentence(said), f"{kind}: not a sentence: {said:.500}"
                counts[kind] += 1
                (case / name).write_bytes(content)  # a journal loses its torn line
                arguments = command_line(kind, case / name, data)
                if arguments is not None and rng.random() < through_cli:
                    result = CliRunner().invoke(app, arguments)
                    raised = result.exception
                    assert result.exit_code == 2, f"{kind}: exit code {result.exit_code}: {result.output:.500}"
                    assert isinstance(raised, SystemExit), f"{kind}: {raised!r}"
                    counts["by the command line"] += 1
                signal.alarm(0)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(READERS), default=None)
    parser.add_argument("--through-cli", type=float, default=0.2, help="share that also goes through the command line")
    given = parser.parse_args()
    start = time.perf_counter()
    counts = fuzz(given.cases, given.seed, given.through_cli, given.kinds)
    for kind, count in sorted(counts.items()):
        print(f"{kind:20} {count}")
    refused = given.cases
    print(f"{refused} malformed files, each refused with one sentence; {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
