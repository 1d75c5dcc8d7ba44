"""One data set of the tables, ten first weights: how much of a run of the paper's mode is luck? Run:

PYTHONPATH=src python benchmarks/first_weights.py --data table1-30/sf5/3 table1-100/sf2/0 --iterations 6000
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

import precede as pc
from precede.corl.settings import training_of
from precede.data.load import load_table
from precede.experiments.designs import EXPERIMENTS
from precede.graph import CausalGraph
from precede.knowledge import Constraints
from precede.metrics import evaluate
from precede.pruning.order_to_graph import order_to_graph
from precede.runtime.deadline import Deadline
from precede.scores.linear import LinearScore
from precede.search.learner import Learner
from precede.search.local import greedy_order
from precede.search.train import Trainer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, help="TABLE/DATA/SEED")
    parser.add_argument("--methods", nargs="+", default=["corl-1", "corl-2"])
    parser.add_argument("--weights", type=int, default=10, help="how many first weights, seeds from 100 up")
    parser.add_argument("--iterations", type=int, default=3000)
    parser.add_argument("--max-time", type=float, help="seconds for a stack")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    asked = parser.parse_args()
    for case in asked.data:
        table, name, seed = case.split("/")
        dataset = next(data for data in EXPERIMENTS[table].data if data.name == name).draw(int(seed))
        loaded = load_table(dataset.data)
        values = loaded.values
        none = Constraints.none(values.shape[1])
        for method in asked.methods:
            learners = []
            for first in range(100, 100 + asked.weights):
                model = pc.CORL.paper(method).set_params(n_iterations=asked.iterations, patience=None)
                score = LinearScore(values, device=asked.device)
                rng = np.random.default_rng(first)
                learners.append(Learner(score, values, training_of(model, None), none, rng))
            greedy = score.score_of(greedy_order(score, none))
            trainer = Trainer(learners)
            for _ in trainer.run(Deadline(asked.max_time)):
                pass
            for k, learner in enumerate(learners):
                edges = order_to_graph(
                    trainer.best.order(k), loaded, score, none, pruning="threshold", threshold=0.3, cutoff=0.001
                )
                found = evaluate(CausalGraph.from_matrix(edges, names=dataset.graph.names), dataset.graph)
                print(
                    f"{case} {method} weights {100 + k}: SHD {found.shd}, "
                    f"{greedy - float(trainer.best.scores[k]):.1f} below the greedy order, "
                    f"{learner.iteration} iterations",
                    flush=True,
                )


if __name__ == "__main__":
    main()
