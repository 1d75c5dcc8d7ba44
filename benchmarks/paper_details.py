"""What the paper leaves open: number and scale of rows, returns, gradients, critic, on seeds that no table uses.

    PYTHONPATH=src python3 benchmarks/paper_details.py --device cuda --jobs 12 --out details.jsonl
    python benchmarks/paper_details.py --render details.jsonl

Each line of the file is one training run of the paper's mode: mean of a batch and best so far at some iterations, as
differences from the score of the greedy order, and the SHD of the best order after pruning. The table has means over
seeds. Scores differ between data sets by orders of magnitude, so a distance is a share of the distance that random
orders have at the start.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed

from precede import CORL, evaluate, simulate
from precede.corl.settings import training_of
from precede.data.load import load_table
from precede.graph import CausalGraph
from precede.knowledge import Constraints
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime.device import one_thread
from precede.scores.linear import LinearScore
from precede.search.learner import Learner
from precede.search.local import greedy_order
from precede.search.settings import Details, TrainingSettings
from precede.search.train import Trainer

MARKS = (100, 300, 600, 1000, 1500, 2000, 3000)
APPENDIX = {"corl-1": "every-state", "corl-2": "initial-state"}


def variant(name: str, mode: str) -> TrainingSettings:
    """The paper's mode with one thing changed: "rows=64", "common", "raw returns", ..."""
    settings = replace(training_of(CORL.paper(mode), None), n_encoder_rows=32, details=Details(patience_on="mean"))
    for change in name.split(", "):
        match change.split("="):
            case ["rows", n]:
                settings = replace(settings, n_encoder_rows=int(n))
            case ["batch", n]:
                settings = replace(settings, batch_size=int(n))
            case ["common rows"]:
                settings = replace(settings, details=replace(settings.details, row_scale="common"))
            case ["raw returns"]:
                settings = replace(settings, details=replace(settings.details, standardize_returns=False))
            case ["no clipping"]:
                settings = replace(settings, details=replace(settings.details, largest_gradient=None))
            case ["appendix critic"]:
                settings = replace(settings, details=replace(settings.details, critic=APPENDIX[mode]))
            case ["layer norm"]:
                settings = replace(settings, normalization="layer")
            case ["base"]:
                pass
            case _:
                raise SystemExit(f"unknown change {change!r}")
    return settings


def trained(name: str, mode: str, kind: str, nodes: int, degree: int, seed: int, options: Any) -> dict[str, Any]:
    """One run, as a line of the file."""
    with one_thread():
        made = simulate(kind, nodes, degree, random_state=seed)
        table = load_table(made.data)
        score, free = LinearScore(table.values, device=torch.device(options.device)), Constraints.none(nodes)
        greedy = score.score_of(greedy_order(score, free))
        settings = replace(variant(name, mode), n_iterations=options.iterations, patience=None)
        trainer = Trainer([Learner(score, table.values, settings, free, np.random.default_rng(10_000 + seed))])
        start, curve, first = time.perf_counter(), {}, None
        for (record,) in trainer.run():
            assert record is not None
            first = record.mean_score if first is None else first
            if record.iteration in MARKS:
                curve[record.iteration] = [record.mean_score - greedy, record.best_score - greedy]
        edges = order_to_graph(
            trainer.best.order(), table, score, free, pruning="threshold", threshold=0.3, cutoff=0.001
        )
        found = CausalGraph.from_matrix(edges, None, trainer.best.order(), list(made.data.columns))
    assert first is not None
    return {
        "variant": name, "mode": mode, "data": f"{nodes}-{kind}{degree}", "seed": seed, "start": first - greedy,
        "curve": curve, "shd": evaluate(found, made.graph).shd, "seconds": round(time.perf_counter() - start, 1),
    }  # fmt: skip


def render(lines: list[dict[str, Any]]) -> None:
    """Means over seeds, by data, mode and variant."""
    print("| data | mode | variant | seeds | mean at 300 | at 600 | at 1,000 | best at 600 | at 1,000 | SHD |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for line in lines:
        rows.setdefault((line["data"], line["mode"], line["variant"]), []).append(line)
    for (data, mode, name), runs in sorted(rows.items()):
        shares = [
            np.mean([run["curve"][mark][place] / run["start"] for run in runs if mark in run["curve"]] or [np.nan])
            for place, mark in ((0, "300"), (0, "600"), (0, "1000"), (1, "600"), (1, "1000"))
        ]
        texts = [f"{100 * share:.3f} %" for share in shares]
        shd = np.mean([run["shd"] for run in runs])
        print(f"| {data} | {mode} | {name} | {len(runs)} | {' | '.join(texts)} | {shd:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--variants", nargs="+", default=[
        "base", "rows=64", "rows=256", "common rows", "rows=256, common rows", "raw returns", "no clipping",
        "raw returns, no clipping", "appendix critic", "layer norm",
    ])  # fmt: skip
    parser.add_argument("--modes", nargs="+", default=["corl-1", "corl-2"])
    parser.add_argument("--graphs", nargs="+", default=["er-30-5", "sf-30-5"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[100, 101])
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("details.jsonl"))
    parser.add_argument("--render", type=Path)
    options = parser.parse_args()
    if options.render is None:
        tasks = [
            (name, mode, kind, int(nodes), int(degree), seed, options)
            for seed in options.seeds
            for kind, nodes, degree in (graph.split("-") for graph in options.graphs)
            for mode in options.modes
            for name in options.variants
        ]
        pool = Parallel(n_jobs=options.jobs, return_as="generator_unordered", batch_size=1)
        with options.out.open("a") as file:
            for line in pool(delayed(trained)(*task) for task in tasks):
                file.write(json.dumps(line) + "\n")
                file.flush()
                print(line["data"], line["mode"], line["variant"], line["shd"], line["seconds"], flush=True)
    path = options.render or options.out
    render([json.loads(line) for line in path.read_text().splitlines()])


if __name__ == "__main__":
    main()
