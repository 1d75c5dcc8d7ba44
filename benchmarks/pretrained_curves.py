"""Learning curves of CORL-1 and CORL-2 from random and pretrained starts (Figure 3 and Appendix G of the paper).

    python benchmarks/pretrained_curves.py --out DIR [--device cuda] [--iterations 300] [--seeds 5] [--resume]
    python benchmarks/pretrained_curves.py --render DIR/pretraining-curves.csv

The first writes pretraining-curves.csv (a row for each iteration of each run), .json (command, commit, machine), .md
and, with matplotlib, .png; with --resume it keeps the runs that are there, and seconds are those of the first device.
The second writes only .md and .png, of a CSV that is there. The data sets are LG ER2 with seeds
from 1100 on, which neither training nor the validation suite has seen.

"random" is CORL as it is: the paper's transformer, weights drawn at random. "paper" is the same network pretrained on
30-node data. "default" is the default policy: its encoder looks at the data once, its states are then trained.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from precede import CORL, simulate
from precede.experiments.ledger import provenance, sentence

FIRST_SEED = 1100
STARTS = {"random": None, "paper": "paper", "default": "default"}
REWARDS = {"CORL-2": "dense", "CORL-1": "episodic"}
SHARE = 0.99
GOAL = 0.5
COLORS = {"random": "#888888", "paper": "#c0562a", "default": "#0b6e99"}


def learn(data: pd.DataFrame, reward: str, start: str, seed: int, iterations: int, device: str) -> pd.DataFrame:
    """Curve of one run; seconds count from before the policy is read and has looked at the data."""
    model = CORL(
        score="linear", reward=REWARDS[reward], pretrained=STARTS[start], polish=False, pruning="threshold",
        n_iterations=iterations, patience=None, diagnose=False, device=device, random_state=seed, verbose=False,
    ).fit(data)  # type: ignore[arg-type]  # fmt: skip
    curve = model.history_[["iteration", "seconds", "mean_score", "best_score"]].copy()
    curve["seconds"] += model.diagnostics_["search"]["seconds"] - curve["seconds"].iloc[-1]
    return curve.assign(algorithm=reward, start=start, seed=seed, device=device)


def run_all(options: argparse.Namespace, csv: Path) -> None:
    for start in STARTS:  # so that no run pays for the start of the device
        learn(simulate(n_variables=10, random_state=0).data, "CORL-2", start, 0, 2, options.device)
    done = set()
    if options.resume and csv.exists():
        done = set(pd.read_csv(csv)[["seed", "algorithm", "start"]].itertuples(index=False, name=None))
    else:
        csv.unlink(missing_ok=True)
    for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
        data = simulate("er", options.nodes, 2, "linear-gaussian", 3000, random_state=seed).data
        for reward in REWARDS:
            for start in STARTS:
                if (seed, reward, start) in done:
                    continue
                curve = learn(data, reward, start, seed, options.iterations, options.device)
                curve.to_csv(csv, mode="a", header=not csv.exists(), index=False, float_format="%.7g")
                last = curve.iloc[-1]
                print(
                    f"{seed} {reward} {start:8s} {last.seconds:6.1f} s  first mean {curve.mean_score.iloc[0]:.0f}  "
                    f"last mean {last.mean_score:.0f}  best {last.best_score:.1f}",
                    flush=True,
                )


def reached(rows: pd.DataFrame) -> pd.DataFrame:
    """Iterations and seconds of each run until its mean score, and its best score, are at 99 % of the way.

    The way, for each data set and algorithm, leads from the first mean score of the random start to the best score
    that any start ends with. A run that does not get there has nan.
    """
    result = []
    for (algorithm, seed), group in rows.groupby(["algorithm", "seed"], sort=False):
        bottom = group[(group.start == "random") & (group.iteration == 1)].mean_score.iloc[0]
        target = bottom + SHARE * (group.best_score.max() - bottom)
        for start, run in group.groupby("start", sort=False):
            entry: dict[str, object] = {"algorithm": algorithm, "seed": seed, "start": start}
            entry |= {"end": run.best_score.iloc[-1], "gap": group.best_score.max() - run.best_score.iloc[-1]}
            entry |= {"first": (run.mean_score.iloc[0] - bottom) / (group.best_score.max() - bottom)}
            for curve in ("mean", "best"):
                there = run[run[f"{curve}_score"] >= target]
                entry[f"{curve} iterations"] = there.iteration.iloc[0] if len(there) else np.nan
                entry[f"{curve} seconds"] = there.seconds.iloc[0] if len(there) else np.nan
            result.append(entry)
    return pd.DataFrame(result)


def render(rows: pd.DataFrame, origin: str) -> str:
    figures, limit = reached(rows), int(rows.iteration.max())
    n_seeds = rows.seed.nunique()
    lines = [
        "# Learning curves from random and pretrained starts (Figure 3, Appendix G)",
        "",
        f"LG ER2, m = 3,000, {n_seeds} data sets, {limit} iterations of 64 orders, no polish. CORL-1 has",
        "episodic rewards, CORL-2 dense ones. *random*: the paper's transformer from random weights; *paper*:",
        "the same network, pretrained on 30-node ER2 and SF2 data; *default*: the default policy. For each",
        "data set the way leads from the random start's first mean score to the best score that any of the",
        "starts ends with; the columns say when 99% of it is behind, by the mean score of the batch (the",
        "paper's curve) and by the best order so far. Means over data sets; a run that does not get there",
        f"counts as {limit} iterations, and the number of such runs is in brackets. *First*: share of the way",
        "that the first batch's mean has behind it. *Gap*: final best score below the best of all starts.",
        f"Seconds ({rows.device.iloc[0]}) count from the reading of the policy and are read every ten iterations.",
        "",
        f"Run by {origin}.",
        "",
        "| algorithm | start | first | iterations, mean | seconds | of random's | iterations, best | gap | goal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for algorithm, group in figures.groupby("algorithm", sort=False):
        by_start = dict(iter(group.groupby("start", sort=False)))
        base = by_start["random"]["mean iterations"].fillna(limit).mean()
        for start, part in by_start.items():
            mean, missing = part["mean iterations"].fillna(limit).mean(), int(part["mean iterations"].isna().sum())
            runs = rows[(rows.algorithm == algorithm) & (rows.start == start)]
            timed = runs[runs.device == rows.device.iloc[0]]
            part = part.assign(timed=part.seed.isin(timed.seed.unique()))
            seconds = part["mean seconds"].fillna(timed.groupby("seed").seconds.max().mean())[part.timed].mean()
            note = f" ({missing})" if missing else ""
            best = part["best iterations"].fillna(limit).mean()
            verdict = "" if start == "random" else "met" if mean <= GOAL * base else "not met"
            lines.append(
                f"| {algorithm} | {start} | {part['first'].mean():.3f} | {mean:.1f}{note} | {seconds:.2f} | "
                f"{mean / base:.2f} | {best:.1f} | {part.gap.mean():.1f} | {verdict} |"
            )
    lines += ["", f"Goal: a pretrained start needs at most {GOAL:g} of the random start's iterations.", ""]
    return "\n".join(lines)


def draw(rows: pd.DataFrame, path: Path) -> bool:
    """Mean scores by iteration, a panel for each algorithm; False without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (algorithm, group) in zip(panels, rows.groupby("algorithm", sort=False), strict=False):
        for start, runs in group.groupby("start", sort=False):
            table = runs.pivot_table(index="iteration", columns="seed", values="mean_score")
            # scores differ between data sets by a constant: the distance to the best of each is what can be averaged
            table = group.groupby("seed").best_score.max() - table
            panel.plot(table.index, table.mean(axis=1), color=COLORS[str(start)], label=f"{start} start")
            panel.fill_between(table.index, table.min(axis=1), table.max(axis=1), color=COLORS[str(start)], alpha=0.15)
        panel.set(title=str(algorithm), xlabel="iteration", yscale="log", xscale="log")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("mean score below the best order")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path)
    what.add_argument("--render", type=Path, metavar="CSV")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    csv = options.render or options.out / "pretraining-curves.csv"
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        origin = provenance(" ".join(["python", *sys.argv]), torch.get_num_threads(), options.device)
        kept = json.loads(csv.with_suffix(".json").read_text()) if options.resume and csv.exists() else []
        csv.with_suffix(".json").write_text(json.dumps([*kept, origin], indent=1) + "\n")
        run_all(options, csv)
    rows = pd.read_csv(csv)
    text = render(rows, "; ".join(map(sentence, json.loads(csv.with_suffix(".json").read_text()))))
    if draw(rows, csv.with_suffix(".png")):
        text += f"\n![Learning curves]({csv.stem}.png)\n"
    csv.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
