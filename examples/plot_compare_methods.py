"""
Methods side by side
====================

Every method has the same interface, so a fair table is a loop. Always with the controls: a random order, and sorting by
variance.
"""

import matplotlib.pyplot as plt
import pandas as pd

import precede as pc

NAMES = ["corl", "direct-lingam", "ica-lingam", "eqvar", "sort-regress", "random"]
OPTIONS = {
    "corl": {"score": "nongaussian", "n_iterations": 5, "batch_size": 32},
    "random": {"pruning": "bic"},
    "sort-regress": {"pruning": "bic"},
}

# %%
# The same standardized LiNGAM data for all. Options that a method does not have are refused, not ignored.

rows = []
for seed in range(3):
    made = pc.simulate(n_variables=8, degree=1, sem="lingam", n_samples=1000, standardize=True, random_state=seed)
    for name in NAMES:
        method = pc.methods()[name](verbose=False, **OPTIONS.get(name, {}))
        if "random_state" in method.get_params():
            method.set_params(random_state=seed)
        metrics = pc.evaluate(method.fit(made.data).graph_, made.graph)
        rows.append({"method": name, "shd": metrics.shd, "order_tpr": metrics.order_tpr})
table = pd.DataFrame(rows).groupby("method", sort=False).mean()
print(table.round(2))

# %%
# SHD counts edges to add, remove or turn round. ``eqvar`` assumes equal noise variances, which standardizing takes
# away.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, column, label in zip(axes, table, ["SHD (lower is better)", "order TPR (higher is better)"], strict=True):
    ax.barh(table.index, table[column])
    ax.set_xlabel(label)
axes[0].invert_yaxis()

assert table.loc["corl", "shd"] <= 1
assert table.loc["direct-lingam", "shd"] <= 1
assert table.loc["random", "shd"] > 4
assert table.loc["eqvar", "order_tpr"] < table.loc["corl", "order_tpr"]
