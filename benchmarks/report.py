"""Time of the diagnostics and of the report, and the size of the page: python benchmarks/report.py"""

from __future__ import annotations

import argparse
import time

from precede.baselines import EqVar
from precede.data.load import load_table
from precede.evidence.checks import CheckContext, diagnose
from precede.report import render_report, summarize
from precede.simulation import simulate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--samples", type=int, default=3000)
    options = parser.parse_args()
    print(f"{'variables':>9} {'edges':>6} {'diagnose, CPU s':>16} {'report, CPU s':>14} {'page, KB':>9}")
    for d in options.variables:
        data = simulate(n_variables=d, degree=2, n_samples=options.samples, random_state=0)
        table = load_table(data.data)
        model = EqVar().fit(table)
        graph = model.graph_
        start = time.process_time()
        diagnose(CheckContext(table, graph.edges, graph.positions, score="linear", search={"best_score": 0.0}))
        checked = time.process_time()
        page = render_report(summarize(model, table))
        done = time.process_time()
        print(
            f"{d:>9} {graph.n_edges:>6} {checked - start:>16.2f} {done - checked:>14.2f} "
            f"{len(page.encode()) / 1000:>9.0f}"
        )


if __name__ == "__main__":
    main()
