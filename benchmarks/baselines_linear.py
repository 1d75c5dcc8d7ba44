"""Each method on the paper's linear data, beside the paper's own number for it.

    python benchmarks/baselines_linear.py                        LG, 30 nodes, ER2, 3 seeds, the quick methods
    python benchmarks/baselines_linear.py --methods notears --nodes 100
    python benchmarks/baselines_linear.py --sem LiNGAM --nodes 50 --methods ica-lingam

``ok`` says whether our mean is no worse than the paper's, give or take one of its standard deviations.
"""

import argparse
import inspect
import time

import numpy as np

from precede.baselines import METHODS
from precede.experiments.verdicts import PUBLISHED, Published
from precede.metrics import evaluate
from precede.simulation import simulate

LG = {30: PUBLISHED["table1-30"], 50: PUBLISHED["linear-50"], 100: PUBLISHED["table1-100"]}
QUICK_METHODS = ("random", "ica-lingam", "direct-lingam", "eqvar", "sort-regress", "r2-sort-regress")


def published(sem: str, nodes: int, graph: str, method: str, metric: str) -> Published | None:
    """The paper's number, where it has one (Table 1, Appendices D and E)."""
    if sem == "LiNGAM":
        return PUBLISHED["lingam"].get((str(nodes), method, metric)) if graph == "ER2" else None
    own = LG.get(nodes, {}).get((graph.lower(), method, metric))
    return own or PUBLISHED["others-linear"].get((f"{nodes}-{graph.lower()}", method, metric))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=sorted(METHODS), default=list(QUICK_METHODS))
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--graph", choices=["ER2", "ER5", "SF2", "SF5"], default="ER2")
    parser.add_argument("--sem", choices=["LG", "LiNGAM"], default="LG")
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-time", type=float, default=None, help="seconds for each fit")
    parser.add_argument("--device", default="auto", help="for the methods that take one")
    options = parser.parse_args()
    sem = {"LG": "linear-gaussian", "LiNGAM": "lingam"}[options.sem]
    print(
        f"{options.sem}, {options.nodes} nodes, {options.graph}, m={options.samples}, {options.seeds} seeds; mean (sd)"
    )
    print(
        f"{'method':16} {'SHD':>14} {'paper':>14} {'TPR':>12} {'paper':>12} {'ok':>4} "
        f"{'order TPR':>9} {'seconds':>8} {'cpu':>7}"
    )
    for name in options.methods:
        rows = []
        for seed in range(options.seeds):
            kind, degree = options.graph[:2].lower(), int(options.graph[2:])
            dataset = simulate(kind, options.nodes, degree, sem, options.samples, random_state=seed)
            known = inspect.signature(METHODS[name]).parameters
            wanted = {"random_state": seed, "max_time": options.max_time, "device": options.device, "verbose": False}
            model = METHODS[name](**{key: value for key, value in wanted.items() if key in known})
            wall, cpu = time.perf_counter(), time.process_time()
            model.fit(dataset.data)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            found = evaluate(model.graph_, dataset.graph)
            rows.append((found.shd, found.tpr, found.order_tpr, wall, cpu))
        shd, tpr, order_tpr, wall, cpu = np.mean(rows, axis=0)
        shd_sd, tpr_sd = np.std(rows, axis=0)[:2]
        cell = (options.sem, options.nodes, options.graph, name)
        their_shd, their_tpr = published(*cell, "shd"), published(*cell, "tpr")
        paper_tpr, paper_shd, ok = "-", "-", "-"
        if their_shd is not None and their_tpr is not None:
            paper_shd, paper_tpr = (
                f"{their_shd.mean:.1f} ({their_shd.std:.1f})",
                f"{their_tpr.mean:.2f} ({their_tpr.std:.2f})",
            )
            good = shd <= their_shd.mean + (their_shd.std or 0) and tpr >= their_tpr.mean - (their_tpr.std or 0)
            ok = "yes" if good else "no"
        ours_shd, ours_tpr = f"{shd:.1f} ({shd_sd:.1f})", f"{tpr:.2f} ({tpr_sd:.2f})"
        print(
            f"{name:16} {ours_shd:>14} {paper_shd:>14} {ours_tpr:>12} {paper_tpr:>12} {ok:>4} "
            f"{order_tpr:9.3f} {wall:8.2f} {cpu:7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
