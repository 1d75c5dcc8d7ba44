"""Speed of the GP score: kernels and regressions a second, beside scikit-learn in the same run.

    python benchmarks/gp_speed.py --samples 500 --variables 30 --threads 2
    python benchmarks/gp_speed.py --samples 500 1000 --variables 30 --orders 256 --device cuda

A kernel is one predecessor set: distances, median bandwidth, factor. One kernel serves every variable outside the set,
so regressions outnumber kernels. scikit-learn fits one regression per kernel: the median of the distances, ``fit`` with
a fixed kernel and ``optimizer=None``, and in-sample ``predict``. Orders are random, so that no set is met twice but the
smallest and the largest.
"""

import argparse
import time

import numpy as np
import torch
from scipy.spatial.distance import pdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from precede.scores.gp import GPScore
from precede.simulation import simulate


def ours(values: np.ndarray, orders: np.ndarray, device: str, precision: str) -> tuple[float, float, np.ndarray]:
    """Kernels and regressions a second, and the terms."""
    score = GPScore(values, device=device, precision=precision)
    batch = torch.from_numpy(orders).to(device)
    score.terms(batch[:1].flip(1))  # warm up
    evaluated, start = score.cache.n_evaluations, time.perf_counter()
    terms = score.terms(batch).cpu().numpy()
    seconds = time.perf_counter() - start
    kernels = score.cache.n_evaluations - evaluated
    outside = orders.shape[1] / 2  # variables that an average set leaves
    return kernels / seconds, kernels * outside / seconds, terms


def theirs(values: np.ndarray, order: np.ndarray, n_fits: int) -> tuple[float, float]:
    """Fits a second of scikit-learn, and the largest difference to our residual variances."""
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    score = GPScore(values)
    variances, start = [], time.perf_counter()
    sizes = np.linspace(1, len(order) - 1, n_fits).astype(int)
    for size in sizes:
        x, y = z[:, order[:size]], values[:, order[size]] - values[:, order[size]].mean()
        bandwidth = np.sqrt(np.median(pdist(x, "sqeuclidean")))
        model = GaussianProcessRegressor(RBF(bandwidth), alpha=1.0, optimizer=None).fit(x, y)
        variances.append(np.mean((y - model.predict(x)) ** 2))
    seconds = time.perf_counter() - start
    members = np.zeros((n_fits, len(order)), dtype=bool)
    for row, size in zip(members, sizes, strict=True):
        row[order[:size]] = True
    found = score.residual_variances(members)[np.arange(n_fits), order[sizes]]
    return n_fits / seconds, float(np.abs(found / variances - 1).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="+", default=[500])
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--orders", type=int, default=8)
    parser.add_argument("--sklearn-fits", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(options.variables) for _ in range(options.orders)])
    device = torch.cuda.get_device_name() if options.device == "cuda" else f"CPU, {options.threads} threads"
    print(f"{options.variables} variables, {options.orders} random orders, {device}")
    for n_samples in options.samples:
        dataset = simulate(n_variables=options.variables, degree=1, sem="gp", n_samples=n_samples, random_state=0)
        values = dataset.data.to_numpy()
        terms = {}
        for precision in ("float64", "float32"):
            kernels, regressions, terms[precision] = ours(values, orders, options.device, precision)
            print(f"m={n_samples} precede {precision}: {kernels:,.0f} kernels/s, {regressions:,.0f} regressions/s")
        shift = np.abs(terms["float32"] - terms["float64"]).max()
        print(f"m={n_samples} float32 against float64: terms differ by {shift:.2g} at most")
        fits, difference = theirs(values, orders[0], options.sklearn_fits)
        print(f"m={n_samples} scikit-learn: {fits:,.0f} fits/s; variances differ by {difference:.1g} (relative)")


if __name__ == "__main__":
    main()
