"""
The scale of a column can give the order away
=============================================

In the usual linear benchmark every noise term has the same variance, so effects vary more than their causes. A method
that sorts the columns by variance then looks good without learning anything about causes. Change the units of the
columns, here by scaling all of them to variance one, and the advantage is gone.
"""

import matplotlib.pyplot as plt
import numpy as np

import precede as pc

# %%
# Five LiNGAM data sets (linear, non-Gaussian noise), each raw and standardized. A sort by variance and the
# equal-variance method read the scale; DirectLiNGAM does not.

METHODS = {
    "sort by variance": pc.baselines.SortRegress(verbose=False),
    "equal variances": pc.baselines.EqVar(verbose=False),
    "DirectLiNGAM": pc.baselines.DirectLiNGAM(verbose=False),
}


def mean_order_tpr(standardize):
    found = {name: [] for name in METHODS}
    for seed in range(5):
        made = pc.simulate(
            n_variables=8, degree=2, sem="lingam", n_samples=1000, standardize=standardize, random_state=seed
        )
        for name, method in METHODS.items():
            found[name].append(pc.evaluate(method.fit(made.data), made.graph).order_tpr)
    return {name: np.mean(values) for name, values in found.items()}


raw, standardized = mean_order_tpr(False), mean_order_tpr(True)
for name in METHODS:
    print(f"{name:18} raw {raw[name]:.2f}   standardized {standardized[name]:.2f}")

# %%
# Order TPR is the share of true edges that agree with the order; a random order gets one half.

places = np.arange(len(METHODS))
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
axes.bar(places - 0.2, raw.values(), 0.4, label="raw")
axes.bar(places + 0.2, standardized.values(), 0.4, label="standardized")
axes.axhline(0.5, color="grey", linestyle=":", label="random order")
axes.set_xticks(places, METHODS)
axes.set_ylabel("order TPR")
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))

# %%
# So the first question to a result is whether it would survive a change of units. ``model.diagnostics_["checks"]``
# answers it for every fit: see "var-sortability" and "effect of standardizing".

assert raw["sort by variance"] > 0.8
assert raw["equal variances"] > 0.95
assert standardized["sort by variance"] < 0.7
assert standardized["equal variances"] < 0.9
assert abs(raw["DirectLiNGAM"] - standardized["DirectLiNGAM"]) < 0.01
