"""How often score="auto" takes another class when 2 % of the rows go.

    python benchmarks/stable_choice.py --rows 100 300 1000 --tables 5 --drops 4

For every kind of data this many tables, and from each this many without 2 % of its rows; the policy looks at each.
"sparse-gp" and "sparse-gp-additive" are one class, curved.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from precede.corl.fit import CUTS
from precede.data.load import Table
from precede.knowledge import Constraints
from precede.policy.prediction import judge_table, load_pretrained
from precede.scores.choose import choose_score
from precede.simulation import simulate

KINDS = ("linear-gaussian", "lingam", "gp", "gp-additive", "quadratic", "mlp", "heteroscedastic", "post-nonlinear")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--drops", type=int, default=4)
    options = parser.parse_args()
    policy = load_pretrained("default")
    rng = np.random.default_rng(0)

    def choice(values: np.ndarray) -> str:
        table = Table(values, tuple(range(values.shape[1])), False)
        said = judge_table(table, policy, Constraints.none(table.n_variables))
        name = choose_score(table, *(() if said is None else map(said.likely, CUTS))).name
        return "curved" if name.startswith("sparse-gp") else name

    for kind in options.kinds:
        for n_rows in options.rows:
            flips, taken = 0, []
            for seed in range(options.tables):
                data = simulate(
                    n_variables=10, degree=1.5, sem=kind, n_samples=n_rows, standardize=True, random_state=seed
                )
                values = data.data.to_numpy()
                taken.append(choice(values))
                for _ in range(options.drops):
                    kept = np.sort(rng.permutation(n_rows)[round(0.02 * n_rows) :])
                    flips += choice(values[kept]) != taken[-1]
            n = options.tables * options.drops
            print(f"{kind:>16} {n_rows:>5} rows: {flips:>2} of {n} flip; {dict(Counter(taken))}", flush=True)


if __name__ == "__main__":
    main()
