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
from precede.data.simulate import simulate
from precede.metrics import evaluate

Cell = tuple[float, float, float, float]  # TPR, its standard deviation, SHD, its standard deviation

COLUMNS = ("random", "notears", "dag-gnn", "rl-bic2", "l1obs", "a-star-lasso")
APPENDIX_COLUMNS = ("ica-lingam", "gran-dag", "cam")

# Table 1 (30 and 100 nodes) and Appendix D (50 nodes), in the order of COLUMNS
LG: dict[tuple[int, str], list[Cell]] = {
    (30, "ER2"): [
        (0.41, 0.04, 140.4, 36.7),
        (0.95, 0.03, 14.2, 9.4),
        (0.91, 0.05, 26.5, 12.4),
        (0.94, 0.05, 17.8, 22.5),
        (0.78, 0.06, 85.2, 23.8),
        (0.88, 0.04, 35.3, 14.3),
    ],
    (30, "ER5"): [
        (0.43, 0.03, 210.2, 43.5),
        (0.93, 0.01, 35.4, 7.3),
        (0.85, 0.11, 68.0, 39.8),
        (0.91, 0.03, 45.6, 13.3),
        (0.74, 0.04, 98.6, 32.7),
        (0.84, 0.05, 71.2, 21.5),
    ],
    (30, "SF2"): [
        (0.58, 0.02, 118.4, 12.3),
        (0.98, 0.02, 6.1, 2.3),
        (0.92, 0.09, 36.8, 33.1),
        (0.99, 0.02, 3.2, 1.7),
        (0.83, 0.04, 49.7, 28.1),
        (0.93, 0.02, 27.3, 18.4),
    ],
    (30, "SF5"): [
        (0.44, 0.03, 165.4, 10.6),
        (0.94, 0.03, 23.3, 6.9),
        (0.89, 0.09, 47.8, 35.2),
        (0.96, 0.03, 11.3, 5.2),
        (0.79, 0.04, 89.3, 25.7),
        (0.88, 0.03, 40.5, 19.8),
    ],
    (50, "ER2"): [
        (0.31, 0.03, 295.4, 28.5),
        (0.94, 0.02, 38.6, 10.8),
        (0.94, 0.04, 30.6, 8.3),
        (0.79, 0.10, 88.5, 49.3),
        (0.56, 0.02, 288.0, 66.2),
        (0.88, 0.03, 154.3, 27.6),
    ],
    (50, "ER5"): [
        (0.32, 0.02, 378.4, 24.2),
        (0.90, 0.01, 67.8, 7.5),
        (0.87, 0.14, 93.2, 109.4),
        (0.74, 0.03, 128.9, 40.4),
        (0.57, 0.03, 299.4, 53.6),
        (0.82, 0.03, 104.0, 28.3),
    ],
    (50, "SF2"): [
        (0.49, 0.04, 215.6, 14.7),
        (0.99, 0.01, 3.5, 1.6),
        (0.90, 0.13, 79.3, 93.2),
        (0.84, 0.05, 115.2, 57.4),
        (0.67, 0.02, 182.3, 33.4),
        (0.89, 0.03, 124.0, 35.2),
    ],
    (50, "SF5"): [
        (0.51, 0.03, 345.6, 24.3),
        (0.94, 0.12, 20.1, 14.3),
        (0.88, 0.12, 89.2, 99.2),
        (0.75, 0.05, 115.2, 57.4),
        (0.61, 0.03, 217.3, 36.4),
        (0.81, 0.02, 131.0, 25.3),
    ],
    (100, "ER2"): [
        (0.33, 0.05, 491.4, 17.6),
        (0.93, 0.02, 72.6, 23.5),
        (0.93, 0.03, 66.2, 19.2),
        (0.02, 0.01, 270.8, 13.5),
        (0.54, 0.02, 481.2, 49.9),
        (0.86, 0.04, 128.5, 38.4),
    ],
    (100, "ER5"): [
        (0.34, 0.04, 984.4, 35.7),
        (0.91, 0.01, 170.3, 34.2),
        (0.86, 0.16, 236.4, 36.8),
        (0.08, 0.03, 421.2, 46.2),
        (0.53, 0.02, 547.9, 63.4),
        (0.82, 0.05, 244.0, 42.3),
    ],
    (100, "SF2"): [
        (0.48, 0.03, 503.4, 23.8),
        (0.98, 0.01, 2.3, 1.3),
        (0.89, 0.14, 156.8, 21.2),
        (0.04, 0.02, 281.2, 17.4),
        (0.57, 0.03, 377.3, 53.4),
        (0.92, 0.03, 54.0, 22.3),
    ],
    (100, "SF5"): [
        (0.47, 0.04, 891.3, 19.4),
        (0.95, 0.01, 90.2, 34.5),
        (0.87, 0.15, 165.2, 22.0),
        (0.05, 0.03, 405.2, 77.4),
        (0.55, 0.04, 503.7, 56.4),
        (0.89, 0.03, 114.0, 36.4),
    ],
}

# Appendix D, in the order of APPENDIX_COLUMNS
LG_APPENDIX: dict[tuple[int, str], list[Cell]] = {
    (30, "ER2"): [(0.75, 0.03, 112.3, 12.8), (0.51, 0.17, 96.0, 11.3), (0.47, 0.05, 110.8, 10.3)],
    (30, "ER5"): [(0.57, 0.03, 161.8, 9.2), (0.52, 0.03, 175.2, 27.4), (0.46, 0.02, 191.3, 32.5)],
    (30, "SF2"): [(0.58, 0.05, 149.0, 19.8), (0.61, 0.04, 136.4, 21.2), (0.63, 0.02, 115.2, 26.7)],
    (30, "SF5"): [(0.56, 0.04, 160.5, 8.9), (0.58, 0.02, 142.4, 24.3), (0.60, 0.03, 122.2, 17.4)],
    (50, "ER2"): [(0.73, 0.03, 108.8, 11.3), (0.11, 0.04, 173.0, 22.9), (0.55, 0.06, 140.8, 35.4)],
    (50, "ER5"): [(0.57, 0.01, 199.8, 90.7), (0.64, 0.03, 154.2, 36.4), (0.61, 0.02, 178.3, 34.8)],
    (50, "SF2"): [(0.59, 0.04, 208.5, 83.2), (0.44, 0.05, 158.6, 34.5), (0.57, 0.02, 131.2, 24.4)],
    (50, "SF5"): [(0.57, 0.01, 216.6, 88.4), (0.49, 0.04, 243.9, 27.2), (0.53, 0.03, 235.2, 34.2)],
    (100, "ER2"): [(0.73, 0.02, 268.4, 28.5), (0.38, 0.02, 191.3, 31.9), (0.43, 0.02, 126.4, 27.8)],
    (100, "ER5"): [(0.57, 0.05, 311.1, 63.7), (0.42, 0.03, 208.2, 54.4), (0.47, 0.02, 182.3, 34.9)],
    (100, "SF2"): [(0.69, 0.03, 367.6, 67.5), (0.40, 0.03, 239.9, 43.2), (0.44, 0.02, 35.2, 37.4)],
    (100, "SF5"): [(0.57, 0.05, 362.3, 82.8), (0.39, 0.03, 219.3, 32.2), (0.48, 0.04, 125.2, 24.7)],
}

# Appendix E, LiNGAM ER2
LINGAM: dict[int, dict[str, Cell]] = {
    30: {
        "ica-lingam": (1.00, 0.00, 0.0, 0.0),
        "notears": (0.94, 0.04, 17.2, 13.2),
        "dag-gnn": (0.94, 0.03, 19.6, 10.5),
        "gran-dag": (0.28, 0.09, 100.8, 14.6),
        "rl-bic2": (0.94, 0.07, 19.8, 23.0),
        "cam": (0.60, 0.11, 310.0, 34.0),
        "l1obs": (0.72, 0.04, 85.3, 23.3),
        "a-star-lasso": (0.87, 0.03, 42.3, 16.3),
    },
    50: {
        "ica-lingam": (1.00, 0.00, 0.0, 0.0),
        "notears": (0.95, 0.02, 33.2, 16.5),
        "dag-gnn": (0.96, 0.01, 24.6, 2.9),
        "gran-dag": (0.20, 0.01, 177.0, 25.9),
        "rl-bic2": (0.80, 0.08, 86.0, 51.9),
        "cam": (0.33, 0.07, 178.0, 31.9),
        "l1obs": (0.47, 0.02, 212.6, 24.6),
        "a-star-lasso": (0.88, 0.03, 82.6, 17.6),
    },
    100: {
        "ica-lingam": (1.00, 0.00, 1.0, 0.9),
        "notears": (0.94, 0.03, 69.2, 23.2),
        "dag-gnn": (0.93, 0.03, 66.2, 19.2),
        "gran-dag": (0.16, 0.04, 312.8, 25.2),
        "rl-bic2": (0.13, 0.12, 291.3, 24.1),
        "cam": (0.53, 0.05, 247.2, 32.1),
        "l1obs": (0.41, 0.03, 470.5, 48.1),
        "a-star-lasso": (0.85, 0.04, 102.5, 22.6),
    },
}

QUICK_METHODS = ("random", "ica-lingam", "direct-lingam", "eqvar", "sort-regress", "r2-sort-regress")


def published(sem: str, nodes: int, graph: str, method: str) -> Cell | None:
    """The paper's cell, where it has one."""
    if sem == "LiNGAM":
        return LINGAM.get(nodes, {}).get(method) if graph == "ER2" else None
    main = dict(zip(COLUMNS, LG.get((nodes, graph), []), strict=False))
    appendix = dict(zip(APPENDIX_COLUMNS, LG_APPENDIX.get((nodes, graph), []), strict=False))
    return {**main, **appendix}.get(method)


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
        cell = published(options.sem, options.nodes, options.graph, name)
        paper_tpr, paper_shd, ok = "-", "-", "-"
        if cell is not None:
            paper_tpr, paper_shd = f"{cell[0]:.2f} ({cell[1]:.2f})", f"{cell[2]:.1f} ({cell[3]:.1f})"
            ok = "yes" if shd <= cell[2] + cell[3] and tpr >= cell[0] - cell[1] else "no"
        ours_shd, ours_tpr = f"{shd:.1f} ({shd_sd:.1f})", f"{tpr:.2f} ({tpr_sd:.2f})"
        print(
            f"{name:16} {ours_shd:>14} {paper_shd:>14} {ours_tpr:>12} {paper_tpr:>12} {ok:>4} "
            f"{order_tpr:9.3f} {wall:8.2f} {cpu:7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
