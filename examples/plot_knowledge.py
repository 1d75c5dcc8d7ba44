"""
Background knowledge
====================

What is known beforehand, time above all, settles directions that the data cannot. These data are linear and Gaussian,
so the best that any method can learn without more assumptions is an equivalence class, in which some edges could point
either way. A word about time settles them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import precede as pc

# %%
# age -> school -> income -> health <- smoking

rng = np.random.default_rng(0)
age, smoking = rng.normal(size=(2, 1000))
school = 0.8 * age + rng.normal(size=1000)
income = 0.7 * school + 0.5 * rng.normal(size=1000)
health = 0.9 * income - 0.8 * smoking + 2 * rng.normal(size=1000)
data = pd.DataFrame({"health": health, "income": income, "smoking": smoking, "school": school, "age": age})
truth = pc.CausalGraph.from_matrix(
    [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0]], names=data.columns
)

options = {"score": "sparse-linear", "n_iterations": 10, "batch_size": 32, "random_state": 0, "verbose": False}
without = pc.CORL(**options).fit(data)

# %%
# ``cpdag_`` has a 1 at both [i, j] and [j, i] where the edge could point either way: here along age, school, income.

print(without.cpdag_.astype(int))
print(next(check.sentence for check in without.diagnostics_.checks if check.name == "identifiability"))

# %%
# Tiers say what comes first: neither an edge nor a path leads from a later tier to an earlier one. ``Knowledge`` also
# takes required and forbidden edges, roots and sinks; on the command line it is a small TOML file.

knowledge = pc.Knowledge(tiers=[["age"], ["school"], ["income"]])
with_tiers = pc.CORL(knowledge=knowledge, **options).fit(data)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
without.graph_.plot(axes[0])
axes[0].set_title("without: one member of the class")
with_tiers.graph_.plot(axes[1])
axes[1].set_title("with tiers")

# %%
# The knowledge is obeyed, not merely suggested: no edge breaks it, whatever the data say.

either_way = without.cpdag_.to_numpy() & without.cpdag_.to_numpy().T
assert either_way.sum() == 4  # two undirected edges
assert pc.evaluate(without.graph_, truth).cpdag_shd == 0
assert not knowledge.over(list(data.columns)).violated_by(with_tiers.graph_.edges)
assert pc.evaluate(with_tiers.graph_, truth).shd == 0
