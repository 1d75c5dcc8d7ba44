"""NOTEARS and GraN-DAG beside gcastle's, ICA- and DirectLiNGAM beside the lingam package, on the same data in one run.

The peers live in an environment of their own (lingam, gcastle==1.0.4, torch==2.13.0):

    python benchmarks/peers_lingam_notears.py --peer-python PATH_TO_ITS_PYTHON --seeds 1

Times are seconds of wall clock, and of processor in brackets: on a shared machine the latter is the fair one. The
peer's imports are not counted. ``objective`` is the l1-penalized least-squares loss that NOTEARS minimizes.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from precede.arrays import FloatArray
from precede.baselines import NOTEARS, DirectLiNGAM, GranDAG, ICALiNGAM
from precede.estimator import CausalEstimator
from precede.metrics import shd
from precede.simulation import simulate

PEER_PROGRAM = """
import sys, time, logging
import numpy as np
logging.disable(logging.CRITICAL)
kind, source, target = sys.argv[1:]
X = np.load(source)["X"]
if kind == "notears":
    from castle.algorithms.gradient.notears.linear import Notears
    model = Notears()
    wall, cpu = time.perf_counter(), time.process_time()
    model.learn(X)
    W = np.asarray(model.weight_causal_matrix)
    order = np.zeros(0)
elif kind == "gran-dag":
    from castle.algorithms import GraNDAG
    model = GraNDAG(input_dim=X.shape[1])
    wall, cpu = time.perf_counter(), time.process_time()
    model.learn(X)
    W, order = np.asarray(model.causal_matrix), np.zeros(0)
else:
    import lingam
    model = lingam.ICALiNGAM(random_state=0) if kind == "ica-lingam" else lingam.DirectLiNGAM()
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X)
    W = model.adjacency_matrix_.T  # lingam's rows are effects
    order = np.array(model.causal_order_)
np.savez(target, W=W, order=order, wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)
"""


def peer(python: str, kind: str, X: FloatArray) -> dict[str, np.ndarray]:
    """Run a peer's method in its own environment."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "data.npz"), Path(folder, "result.npz")
        np.savez(source, X=X)
        subprocess.run([python, "-c", PEER_PROGRAM, kind, str(source), str(target)], check=True)
        with np.load(target) as result:
            return dict(result)


def timed(model: CausalEstimator, X: FloatArray) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X)
    return time.perf_counter() - wall, time.process_time() - cpu


def objective(X: FloatArray, W: FloatArray, lambda1: float = 0.1) -> float:
    centered = X - X.mean(axis=0)
    return float(0.5 * ((centered - centered @ W) ** 2).sum() / len(X) + lambda1 * np.abs(W).sum())


def compare_castle(python: str, kind: str, nodes: int, graph: str, samples: int, seed: int, both: bool) -> None:
    """Each with its defaults: gcastle's GraN-DAG has 10,000 iterations, selects no neighbors and prunes nothing."""
    name, degree = graph[:2], int(graph[2:])
    dataset = simulate(name, nodes, degree, "linear-gaussian", samples, random_state=seed)
    X, truth = np.ascontiguousarray(dataset.data.to_numpy()), dataset.graph.edges
    theirs = peer(python, kind, X)
    found = {"gcastle": (np.abs(theirs["W"]) > 0.3, float(theirs["wall"]), float(theirs["cpu"]))}
    if both:
        model = NOTEARS(verbose=False) if kind == "notears" else GranDAG(standardize=False, verbose=False)
        wall, cpu = timed(model, X)
        found["ours"] = model.graph_.edges, wall, cpu
    told = [
        f"{who} SHD {shd(edges, truth)} TPR {(edges & truth).sum() / truth.sum():.2f} {wall:.1f} s [{cpu:.1f}]"
        for who, (edges, wall, cpu) in found.items()
    ]
    if kind == "notears":
        told.append(f"objective {objective(X, theirs['W']):.4f}" + (f" and {-model.score_:.4f}" if both else ""))
    print(f"{kind} {nodes} {graph} seed {seed}: {' | '.join(told)}", flush=True)


def compare_lingam(python: str, kind: str, nodes: int, samples: int, seed: int) -> None:
    dataset = simulate("er", nodes, 2, "lingam", samples, random_state=seed)
    X = np.ascontiguousarray(dataset.data.to_numpy())
    method = ICALiNGAM(pruning="lasso", random_state=0, verbose=False) if kind == "ica-lingam" else None
    model: CausalEstimator = method or DirectLiNGAM(pruning="lasso", verbose=False)
    wall, cpu = timed(model, X)
    theirs = peer(python, kind, X)
    found, other = model.graph_.edges, theirs["W"] != 0
    same_order = np.array_equal(model.graph_.positions, theirs["order"])
    difference = np.abs(model.graph_.strengths - theirs["W"]).max()
    truth = dataset.graph.edges
    print(
        f"{kind} LiNGAM {nodes} ER2 seed {seed}, adaptive lasso: ours SHD {shd(found, truth)} {wall:.2f} s "
        f"[{cpu:.2f}] | "
        f"lingam SHD {shd(other, truth)} {theirs['wall']:.2f} s [{theirs['cpu']:.2f}] | SHD between the two "
        f"{shd(found, other)}, same order {same_order}, largest difference of a weight {difference:.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--graph", default="er2", help="er or sf, and edges per variable; LiNGAM data is always er2")
    parser.add_argument("--alone", action="store_true", help="run gcastle's alone")
    known = ["ica-lingam", "direct-lingam", "notears", "gran-dag"]
    parser.add_argument("--methods", nargs="+", choices=known, default=known[:3])
    options = parser.parse_args()
    for method in options.methods:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            if method in ("notears", "gran-dag"):
                data = options.nodes, options.graph, options.samples, seed
                compare_castle(options.peer_python, method, *data, not options.alone)
            else:
                compare_lingam(options.peer_python, method, options.nodes, options.samples, seed)


if __name__ == "__main__":
    main()
