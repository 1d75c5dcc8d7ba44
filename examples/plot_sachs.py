"""
The Sachs protein network
=========================

853 cells, 11 proteins, and a consensus network of 17 edges to compare with: the data set on which nearly every method
of causal discovery was tried. The data are curved and their scales arbitrary, so the score is a Gaussian process with
few causes.
"""

import matplotlib.pyplot as plt
import numpy as np

import precede as pc
from precede.scores.build import build_score

# %%
# Every fourth row, so that this page is quick to build: the cost of a Gaussian process grows with the cube of the rows.
# Usually one writes ``score="sparse-gp"``, or leaves it to "auto"; here the score is made first, to use it again below.

sachs = pc.load_sachs()
data = sachs.data.iloc[::4]
table = pc.load_table(data)
score = build_score("sparse-gp", table, pc.Knowledge().over(table.names), device="cpu")
model = pc.CORL(score=score, n_iterations=10, batch_size=32, random_state=0, verbose=False).fit(table)
print(model.graph_)

# %%
# The learned graph beside the consensus. Wider lines are stronger effects.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
model.graph_.plot(axes[0])
axes[0].set_title("learned")
sachs.graph.plot(axes[1])
axes[1].set_title("consensus")

# %%
# What the fit says about itself.

for check in model.diagnostics_["checks"]:
    print(f"[{check['level']}] {check['sentence']}")

# %%
# A distance to the consensus means little without a control: random orders, with the graph read off by the same score.

rng = np.random.default_rng(0)
chance = np.array([pc.evaluate(score.graph(rng.permutation(11)), sachs.graph.edges).shd for _ in range(200)])
learned = pc.evaluate(model.graph_, sachs.graph).shd
print(f"learned: SHD {learned}; random orders: mean {chance.mean():.1f}, best {chance.min()}")
print(f"{np.mean(chance <= learned):.0%} of the random orders do at least as well")

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.hist(chance, bins=np.arange(chance.min() - 0.5, chance.max() + 1), color="lightgrey", edgecolor="grey")
axes.axvline(learned, color="tab:blue", label="learned")
axes.set_xlabel("SHD to the consensus")
axes.set_ylabel("random orders")
axes.legend()

# %%
# The learned graph is nearer to the consensus than the average random order, and so are many random orders: a small SHD
# on Sachs is weak evidence for a method.

assert learned <= chance.mean()
assert (chance <= learned).any()
