"""Does more training ever make a result worse? 100 columns, LiNGAM, the case in which it once did.

    OMP_NUM_THREADS=1 python benchmarks/more_time.py [--variables 100] [--iterations 0 29 300]

At first polish climbed from the policy's order alone: 29 iterations gave SHD 7 and 300 gave 39. Prints a Markdown table
(docs/results/robustness.md) as it goes.
"""

from __future__ import annotations

import argparse
import time

import precede as pc


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--iterations", type=int, nargs="+", default=[0, 29, 300])
    given = parser.parse_args()
    print("| rows | policy | iterations | score | the policy's own | greedy | SHD | seconds |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for rows in given.rows:
        made = pc.simulate("er", given.variables, 2, "lingam", rows, random_state=0)
        for policy in ("pretrained", "from scratch"):
            for n_iterations in given.iterations:
                if not n_iterations and policy == "from scratch":
                    continue  # there would be no policy
                begun = time.perf_counter()
                model = pc.CORL(
                    "nongaussian",
                    pretrained="default" if policy == "pretrained" else None,
                    n_iterations=n_iterations,
                    patience=None,
                    random_state=0,
                    verbose=False,
                    diagnose=False,
                ).fit(made.data)
                search = model.diagnostics_["search"]
                cells = [rows, policy, n_iterations, f"{model.score_:.1f}", f"{search['policy_score']:.1f}"]
                cells += [f"{search['greedy_score']:.1f}", pc.evaluate(model.graph_, made.graph).shd]
                print("|", " | ".join(map(str, cells)), f"| {time.perf_counter() - begun:.0f} |", flush=True)


if __name__ == "__main__":
    main()
