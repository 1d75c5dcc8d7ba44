"""
A score of your own
===================

Everything that searches, prunes, checks and reports sees a score only through what it says of itself, so a score of
your own gets all that ours get. This one is for measuring instruments whose noise variances are known.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import precede as pc
from precede.report import write_report
from precede.scores.assumptions import Assumptions
from precede.scores.parent_tables import ParentSets, SparseScore

# %%
# Twenty lines: how well a set of parents explains each variable. With the noise variance known, the log-likelihood of a
# regression is minus half the rows times the residual variance in units of the noise. ``SparseScore`` makes an order
# score of it: the best set among the predecessors, at the price of BIC.


class KnownNoise:
    name = "known-noise"
    assumes = Assumptions("linear", words="Weighted sums of causes plus noise of known variances.")

    def __init__(self, values, noise_variances):
        self.n_samples, self.n_variables = values.shape
        self.covariance = np.cov(values, rowvar=False)
        self.noise = np.asarray(noise_variances)

    def of_sets(self, sets):
        scores = np.full((len(sets), self.n_variables), np.nan)  # NaN for the members of a set
        for row, members in zip(scores, map(list, sets), strict=True):
            explained = np.zeros(self.n_variables)
            if members:
                cross = self.covariance[members]
                explained = (cross * np.linalg.solve(cross[:, members], cross)).sum(axis=0)
            others = np.setdiff1d(np.arange(self.n_variables), members)
            residual = (np.diag(self.covariance) - explained) / self.noise
            row[others] = -self.n_samples / 2 * residual[others]
        return scores


# %%
# Eight instruments in a random graph, whose noise shrinks from each to the next: later ones vary less, so equal noise
# variances are a wrong assumption here.

rng = np.random.default_rng(0)
order = rng.permutation(8)
deviations = np.empty(8)
deviations[order] = 0.6 ** np.arange(8)
edges = np.zeros((8, 8), dtype=bool)
columns = np.zeros((2000, 8))
for place, child in enumerate(order):
    causes = order[:place][rng.random(place) < 0.35]
    edges[causes, child] = True
    weights = 0.8 * deviations[child] / deviations[causes]
    columns[:, child] = columns[:, causes] @ weights + rng.normal(size=2000) * deviations[child]
names = [f"probe {k}" for k in range(1, 9)]
data = pd.DataFrame(columns, columns=names)
truth = pc.CausalGraph.from_matrix(edges, names=names)

# %%
# The estimator takes the object in place of a name. The score knows its parent sets: they are the graph, and compiled
# local search walks through them, with restarts for next to nothing.

score = SparseScore(KnownNoise(data.to_numpy(), deviations**2), ParentSets(max_parents=7, table_size=3))
assert score.moves() is not None  # so the search is the compiled one

options = {"n_iterations": 10, "random_state": 0, "verbose": False}
ours = pc.CORL(score=score, n_restarts=100, **options).fit(data)
equal = pc.CORL(score="linear", **options).fit(data)
for title, model in (("known noise", ours), ("equal variances", equal)):
    print(f"{title:16s} SHD {pc.evaluate(model.graph_, truth).shd}")

# %%
# It is checked against what it says it assumes, and reported like any other.

for sentence in ours.diagnostics_.sentences[:4]:
    print("-", sentence)
with tempfile.TemporaryDirectory() as folder:
    files = write_report(Path(folder), ours, pc.load_table(data), truth)
    print([path.name for path in files])
    page = (Path(folder) / "report.html").read_text()
assert "Weighted sums of causes plus noise of known variances." in page

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, model, title in zip(axes, (ours, equal), ("known noise variances", "equal variances assumed"), strict=True):
    model.graph_.plot(ax)
    ax.set_title(f"{title}: SHD {pc.evaluate(model.graph_, truth).shd}")

assert pc.evaluate(ours.graph_, truth).shd == 0
assert pc.evaluate(equal.graph_, truth).shd > 0
