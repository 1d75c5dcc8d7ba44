"""
A first look without training
=============================

The package brings a policy that was trained on simulated data with known graphs. It reads a new data set and names an
order at once. That is a guess, not a search: no score was maximized.
"""

import matplotlib.pyplot as plt
import numpy as np

import precede as pc

# %%
# ``n_iterations=0`` and ``polish=False`` take the policy's most likely order as it is; ``precede order data.csv`` does
# the same.

first_look = pc.CORL(
    score="linear",
    pruning="bic",
    pretrained="default",
    n_iterations=0,
    polish=False,
    diagnose=False,
    device="cpu",
    random_state=0,
    verbose=False,
)
sort = pc.baselines.SortRegress(verbose=False)

# %%
# Three kinds of data, three data sets each, beside sorting by variance.

KINDS = {
    "linear, raw": {"sem": "linear-gaussian"},
    "LiNGAM, standardized": {"sem": "lingam", "standardize": True},
    "GP, standardized": {"sem": "gp", "standardize": True},
}


def mean_order_tpr(model, kind):
    sets = [pc.simulate(n_variables=12, degree=2, n_samples=400, random_state=seed, **kind) for seed in range(3)]
    return np.mean([pc.evaluate(model.fit(made.data), made.graph).order_tpr for made in sets])


found = np.array([[mean_order_tpr(model, kind) for model in (first_look, sort)] for kind in KINDS.values()])
for name, (policy, by_variance) in zip(KINDS, found, strict=True):
    print(f"{name:22} policy {policy:.2f}   sort by variance {by_variance:.2f}")

# %%
# Order TPR is the share of true edges that agree with the order.

places = np.arange(len(KINDS))
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
axes.bar(places - 0.2, found[:, 0], 0.4, label="pretrained policy")
axes.bar(places + 0.2, found[:, 1], 0.4, label="sort by variance")
axes.axhline(0.5, color="grey", linestyle=":", label="random order")
axes.set_xticks(places, KINDS)
axes.set_ylabel("order TPR")
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))

# %%
# Training goes on from there: ``pc.CORL(pretrained="default")``. The larger table is in the results, with its command.

assert (found[:, 0] > 0.75).all()
assert (found[1:, 0] > found[1:, 1] + 0.1).all()
