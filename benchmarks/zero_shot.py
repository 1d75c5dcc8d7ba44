"""Zero-shot orders of the pretrained policies, no RL: order TPR beside sorting baselines and EqVar.

    python benchmarks/zero_shot.py --out docs/results [--seeds 10] [--cells lingam-30 ...] [--render]

Writes pretraining-zero-shot.csv, a row for each data set and method, and pretraining-zero-shot.md from it. A cell that
the CSV already has is not run again. Data sets have seeds from 1000 on: neither the validation suite (900,000 on) nor
training has seen them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from precede.arrays import FloatArray
from precede.baselines import EqVar, R2SortRegress, SortRegress
from precede.data.datasets import Dataset, load_sachs
from precede.data.load import load_table
from precede.experiments.ledger import provenance, sentence
from precede.knowledge import constraints_over
from precede.metrics import share_in_order
from precede.policy.prediction import Pretrained, load_pretrained
from precede.scores.build import build_score
from precede.scores.protocol import OrderScore
from precede.simulation import simulate

FIRST_SEED = 1000
N_DRAWS = 64
N_RANDOM = 100
CPU = torch.device("cpu")
COLUMNS = ["default greedy", "default best of 64", "paper greedy", "random", "variance", "R²", "EqVar"]
KINDS: dict[str, dict[str, Any]] = {
    "lg-er2": {"graph": "er", "sem": "linear-gaussian", "score": "linear"},
    "lg-sf2": {"graph": "sf", "sem": "linear-gaussian", "score": "linear"},
    # no score identifies the order of Gaussian data without its scale: greedy alone
    "lg-er2-standardized": {"graph": "er", "sem": "linear-gaussian", "standardize": True},
    "lingam-er2": {"graph": "er", "sem": "lingam", "score": "nongaussian"},
    "lingam-er2-standardized": {"graph": "er", "sem": "lingam", "score": "nongaussian", "standardize": True},
    "gp-er2": {"graph": "er", "sem": "gp"},
    "gp-er2-standardized": {"graph": "er", "sem": "gp", "standardize": True},
    "gp-additive-er2": {"graph": "er", "sem": "gp-additive"},
    "gp-additive-er2-standardized": {"graph": "er", "sem": "gp-additive", "standardize": True},
}
GOALS = {
    "lg-er2-30": 0.97,
    "lingam-er2-standardized-30": 0.85,
    "gp-er2-standardized-30": 0.75,
    "gp-additive-er2-standardized-30": 0.75,
}
LARGEST_LOSS = 0.05
"""Goal for size transfer: order TPR at 100 variables below that at 30 by at most this."""


def cells() -> dict[str, dict[str, Any]]:
    """Name -> options of simulate and the score for the best of 64; Sachs has none of the former."""
    result: dict[str, dict[str, Any]] = {}
    for kind, options in KINDS.items():
        nonlinear = options["sem"].startswith("gp")
        for size in (30,) if nonlinear else (30, 50, 100):
            result[f"{kind}-{size}"] = {**options, "n_variables": size, "n_samples": 500 if nonlinear else 3000}
    return {**result, "sachs": {"score": "gp"}}


def data_sets(name: str, options: dict[str, Any], n_seeds: int) -> Iterator[tuple[int, Dataset]]:
    if name == "sachs":
        yield 0, load_sachs()
        return
    made = {key: value for key, value in options.items() if key != "score"}
    for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
        yield seed, simulate(degree=2, random_state=seed, **made)


@torch.no_grad()
def states_of(policy: Pretrained, values: FloatArray, seed: int) -> torch.Tensor:
    inputs = policy.architecture.inputs(values, np.random.default_rng(seed), CPU)
    result: torch.Tensor = policy.actor.eval().encoder(inputs.draw(1)).mean(0, keepdim=True)  # over the looks
    return result


def greedy(policy: Pretrained, values: FloatArray, seed: int) -> torch.Tensor:
    d = values.shape[1]
    return policy.actor.sample(states_of(policy, values, seed), torch.zeros(1, d, d))[0]


def best_drawn(policy: Pretrained, values: FloatArray, seed: int, score: OrderScore) -> torch.Tensor:
    d = values.shape[1]
    generator = torch.Generator().manual_seed(seed)
    noise = -torch.empty((N_DRAWS, d, d)).exponential_(generator=generator).log_()
    orders = policy.actor.sample(states_of(policy, values, seed), noise)
    return orders[score.total(score.terms(orders).sum(1)).argmax()]


def order_shares(
    dataset: Dataset, score: str | None, policies: dict[str, Pretrained], seed: int
) -> dict[str, tuple[float, float]]:
    """Order TPR and seconds of each method."""
    values, truth = dataset.data.to_numpy(), dataset.graph.edges
    shares: dict[str, tuple[float, float]] = {}

    def measure(method: str, find: Callable[[], Any]) -> None:
        start = time.perf_counter()
        order = find()
        shares[method] = (share_in_order(np.asarray(order), truth), time.perf_counter() - start)

    for name, policy in policies.items():
        measure(f"{name} greedy", partial(greedy, policy, values, seed))
    if score is not None:
        table = load_table(dataset.data)
        judge = build_score(score, table, constraints_over(None, table.names), device=CPU)  # type: ignore[arg-type]
        measure(f"default best of {N_DRAWS}", partial(best_drawn, policies["default"], values, seed, judge))
    rng = np.random.default_rng(seed)
    random = [share_in_order(rng.permutation(values.shape[1]), truth) for _ in range(N_RANDOM)]
    shares["random"] = (float(np.mean(random)), 0.0)
    options = {"pruning": "none", "verbose": False}
    measure("variance", lambda: SortRegress(**options).fit(values).causal_order_)  # type: ignore[arg-type]
    measure("R²", lambda: R2SortRegress(**options).fit(values).causal_order_)  # type: ignore[arg-type]
    measure("EqVar", lambda: EqVar(**options).fit(values).causal_order_)  # type: ignore[arg-type]
    return shares


def render(rows: pd.DataFrame, run: str) -> str:
    """Markdown: mean order TPR of each cell, spread of the greedy decode, and the goals."""
    means = rows.pivot_table(index="cell", columns="method", values="order_tpr", sort=False)
    spread = rows[rows.method == "default greedy"].groupby("cell").order_tpr.std()
    counts = rows[rows.method == "default greedy"].groupby("cell").size()
    seconds = rows[rows.method == "default greedy"].groupby("cell").seconds.median()
    lines = [
        "# Zero-shot orders of the pretrained policies",
        "",
        "Order TPR: the share of true edges that agree with the order; chance is .5. No reinforcement learning and no",
        "polish. *Greedy* is the most likely variable at each step; *best of 64* is the sampled order with the best",
        'score ("linear" for raw LG, "nongaussian" for LiNGAM, "gp" for Sachs; no score identifies the order of',
        "standardized Gaussian data, and GP scores of 64 orders of 30 variables cost far more than a decode). LG and",
        "LiNGAM: 3,000 samples, of which the default policy reads 1,000 and the paper variant 64; GP: 500 samples.",
        "ER2 is Erdős–Rényi with two edges per variable; SF2 is scale-free with edges from newer nodes to older.",
        "*variance* and *R²* sort the variables; *random* is the mean of 100 orders. Bold: best of the row.",
        "",
        f"Command: {run}. Seconds: the default policy's greedy decode, median, one thread of a shared machine.",
        "",
        "| data | sets | " + " | ".join(COLUMNS) + " | sd of greedy | seconds |",
        "|---|---|" + "---|" * (len(COLUMNS) + 2),
    ]
    for cell in [name for name in cells() if name in means.index]:
        row = means.loc[cell].reindex(COLUMNS)
        texts = [_figure(value, bold=value == row.max()) for value in row]
        lines.append(
            f"| {cell} | {counts[cell]} | {' | '.join(texts)} | {_figure(spread[cell])} | {seconds[cell]:.2f} |"
        )
    lines += ["", "## Goals", "", "| goal | reached | |", "|---|---|---|"]
    for cell, goal in GOALS.items():
        if cell in means.index:
            value = means.loc[cell, "default greedy"]
            lines.append(f"| {cell} at least {goal} | {_figure(value)} | {'met' if value >= goal else 'not met'} |")
    for kind in KINDS:
        if {f"{kind}-30", f"{kind}-100"} <= set(means.index):
            loss = means.loc[f"{kind}-30", "default greedy"] - means.loc[f"{kind}-100", "default greedy"]
            verdict = "met" if loss <= LARGEST_LOSS else "not met"
            lines.append(f"| {kind}: 100 variables at most {LARGEST_LOSS} below 30 | {loss:.3f} below | {verdict} |")
    return "\n".join(lines) + "\n"


def _figure(value: float, bold: bool = False) -> str:
    text = "–" if np.isnan(value) else f"{value:.3f}"
    return f"**{text}**" if bold else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cells", nargs="*", help="only cells with one of these in their names")
    parser.add_argument("--render", action="store_true", help="run nothing, write the Markdown of what is there")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    csv, markdown = (options.out / f"pretraining-zero-shot.{suffix}" for suffix in ("csv", "md"))
    rows = pd.read_csv(csv) if csv.exists() else pd.DataFrame(columns=["cell"])
    if not options.render:
        policies = {name: load_pretrained(name) for name in ("default", "paper")}
        for name, settings in cells().items():
            wanted = options.cells is None or any(part in name for part in options.cells)
            if not wanted or name in set(rows.cell):
                continue
            fresh = [
                {"cell": name, "seed": seed, "method": method, "order_tpr": share, "seconds": seconds}
                for seed, dataset in data_sets(name, settings, options.seeds)
                for method, (share, seconds) in order_shares(dataset, settings.get("score"), policies, seed).items()
            ]
            added = pd.DataFrame(fresh)
            rows = added if rows.empty else pd.concat([rows, added])
            rows.to_csv(csv, index=False, float_format="%.5g")
            print(f"{name:32s}", added.groupby("method").order_tpr.mean().round(3).to_dict(), flush=True)
    run = sentence(provenance(" ".join(["python", *sys.argv]), torch.get_num_threads(), "cpu"))
    if not options.render or not markdown.exists():
        markdown.write_text(render(rows, run))
    else:  # figures stay those of the run that made them
        kept = next(line for line in markdown.read_text().splitlines() if line.startswith("Command: "))
        markdown.write_text(render(rows, kept.removeprefix("Command: ").partition(". Seconds:")[0]))


if __name__ == "__main__":
    main()
