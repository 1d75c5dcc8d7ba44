"""Quick stability beside the whole bootstrap, and what it costs: python benchmarks/stability.py

For each data set: how much CPU time the quick resampling of a fit takes, how far its confidences are from those of
``model.bootstrap`` (mean difference, mean absolute difference), and the shares of right edges among those above and
below one half.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import precede as pc
from precede.evidence.checks.stability import relearning, shares_of
from precede.runtime.deadline import Deadline

CASES = {
    "linear": ("linear-gaussian", "linear", "eqvar", False),
    "nongaussian": ("lingam", "nongaussian", "direct-lingam", False),
    "sparse-linear": ("linear-gaussian", "sparse-linear", None, True),
    "gp": ("gp-additive", "gp", "cam", False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--resamples", type=int, default=30)
    options = parser.parse_args()
    print(
        f"{'case':>14} {'variables':>9} {'edges':>5} {'quick, CPU s':>12} {'bias':>6} {'off by':>6} "
        f"{'right >= .5':>11} {'right < .5':>10}"
    )
    for name in options.cases:
        sem, score, method, scaled = CASES[name]
        for d in options.variables:
            made = pc.simulate(
                n_variables=d, degree=2, sem=sem, n_samples=options.samples, standardize=scaled, random_state=0
            )
            chosen = {"score": score, "n_iterations": 20, "random_state": 0} if method is None else {}
            model = pc.methods()[method or "corl"](verbose=False, **chosen)
            model.diagnose = "quick"
            model.fit(made.data)
            quick, seconds = quick_shares(model, made.data)
            whole = model.bootstrap(made.data, options.resamples, random_state=0).edge_probability.to_numpy()
            edges = model.graph_.edges
            off = (quick - whole)[edges]
            right = made.graph.edges[edges]
            sure = quick[edges] >= 0.5
            print(
                f"{name:>14} {d:>9} {int(edges.sum()):>5} {seconds:>12.2f} {off.mean():>+6.2f} "
                f"{np.abs(off).mean():>6.2f} {share(right[sure]):>11} {share(right[~sure]):>10}",
                flush=True,
            )


def quick_shares(model: pc.CORL, data: object) -> tuple[np.ndarray, float]:
    """Directed shares, and the CPU time of them."""
    from precede.data.load import load_table
    from precede.estimator import FitResult

    table = load_table(data)
    assumed = model.diagnostics_.assumptions
    findings = FitResult(model.graph_.edges, diagnostics=dict(model.diagnostics_.reported), assumes=assumed)
    learned = model._learned(table, findings, model.graph_)
    start = time.process_time()
    found = shares_of(relearning(learned), 0, Deadline(None))
    assert found
    return np.mean(found, axis=0), time.process_time() - start


def share(right: np.ndarray) -> str:
    return "–" if len(right) == 0 else f"{right.mean():.2f} ({len(right)})"


if __name__ == "__main__":
    main()
