"""The share of training that is spent on rewards (the paper: about 95 % and 87 % at 30 and 100 variables).

OMP_NUM_THREADS=1 python benchmarks/reward_share.py --nodes 30 100 --iterations 10
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from precede import CORL, simulate
from precede.corl.settings import training_of
from precede.knowledge import Constraints
from precede.runtime.device import one_thread
from precede.scores.linear import LinearScore
from precede.search.learner import Learner
from precede.search.train import Trainer


class TimedScore(LinearScore):
    """Counts the CPU seconds that its terms take."""

    seconds = 0.0

    def terms(self, orders: torch.Tensor) -> torch.Tensor:
        start = time.process_time()
        result = super().terms(orders)
        self.seconds += time.process_time() - start
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", nargs="+", type=int, default=[30, 100])
    parser.add_argument("--iterations", type=int, default=10)
    options = parser.parse_args()
    for d in options.nodes:
        values = simulate("er", d, 2, random_state=0).data.to_numpy()
        score = TimedScore(values)
        with one_thread():
            free = Constraints.none(d)
            settings = training_of(CORL.paper("corl-2"), None)
            trainer = Trainer([Learner(score, values, settings, free, np.random.default_rng(0))])
            trainer.step()  # the first one makes the optimizers
            score.seconds, start = 0.0, time.process_time()
            for _ in range(options.iterations):
                trainer.step()
            whole = time.process_time() - start
        print(f"{d} variables: {score.seconds / whole:.1%} of {whole / options.iterations:.2f} s an iteration")


if __name__ == "__main__":
    main()
