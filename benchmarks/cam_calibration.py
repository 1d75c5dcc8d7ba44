"""Calibration of the two tests of CAM pruning: false positives, power and time, beside the linear t test.

    python benchmarks/cam_calibration.py --fits 300

Each fit: independent standard normal predictors, y = slope * (x1 + x2 + x3) + standard normal noise. The t test of
the linear regression on all predictors knows that the effects are linear, so its power is the most that can be asked.
"""

import argparse
import time

import numpy as np
from scipy import stats

from precede.pruning.gam import fit_gam

N_EFFECTS = 3


def linear_t_test(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P-values of ordinary least squares."""
    design = np.column_stack([np.ones(len(y)), x])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    free = len(y) - design.shape[1]
    noise = ((y - design @ beta) ** 2).sum() / free
    return 2 * stats.t.sf(np.abs(beta) / np.sqrt(noise * np.diag(inverse)), free)[1:]


TESTS = {
    "wood (penalized, REML)": lambda x, y: fit_gam(x, y).p_values,
    "partial F": lambda x, y: fit_gam(x, y, penalized=False).p_values,
    "linear t test (bound)": linear_t_test,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=300)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--slopes", type=float, nargs="+", default=[0.2, 0.21, 0.22])
    parser.add_argument("--level", type=float, default=0.001)
    options = parser.parse_args()
    m, p = options.samples, options.variables
    print(f"{m} x {p}, {N_EFFECTS} linear effects, {options.fits} fits a row, level {options.level}")
    heads = f"{'test':<24}{'slope':>7}{'false positives':>18}{'s.e.':>9}{'at .05':>8}{'power':>8}{'s.e.':>7}"
    print(heads + f"{'s/fit':>8}{'CPU s':>8}")
    for slope in options.slopes:
        for name, test in TESTS.items():
            p_values, seconds, cpu = np.empty((options.fits, p)), 0.0, 0.0
            for seed in range(options.fits):
                rng = np.random.default_rng(seed)
                x = rng.normal(size=(m, p))
                y = slope * x[:, :N_EFFECTS].sum(axis=1) + rng.normal(size=m)
                start, cpu_start = time.perf_counter(), time.process_time()
                p_values[seed] = test(x, y)
                seconds += time.perf_counter() - start
                cpu += time.process_time() - cpu_start
            null, effects = p_values[:, N_EFFECTS:], p_values[:, :N_EFFECTS]
            false, power = (null <= options.level).mean(), (effects <= options.level).mean()
            print(
                f"{name:<24}{slope:>7.2f}{false:>18.5f}{np.sqrt(false * (1 - false) / null.size):>9.5f}"
                f"{(null <= 0.05).mean():>8.3f}{power:>8.3f}{np.sqrt(power * (1 - power) / effects.size):>7.3f}"
                f"{seconds / options.fits:>8.3f}{cpu / options.fits:>8.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
