"""
A score of your own
===================

Everything that searches sees a score only through what it says of itself and its terms, so a score of your own is a
short class. This one is
for measuring instruments whose noise variances are known: a variable's term is minus its residual variance in units of
its own noise.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

import precede as pc
from precede.scores.assumptions import Assumptions
from precede.scores.protocol import OrderScore

# %%
# ``terms(orders)`` takes a (n_orders, n_variables) tensor, causes first, and returns the contribution of each variable
# given the *set* before it. One Cholesky factor of the covariance, permuted by the order, holds all residual variances
# on its diagonal.


class KnownNoiseScore(OrderScore):
    name = "known-noise"
    assumes = Assumptions("linear", words="Weighted sums of causes plus noise of known variances.")

    def __init__(self, values, noise_variances):
        self.covariance = torch.as_tensor(np.cov(values, rowvar=False))
        self.noise = torch.as_tensor(noise_variances, dtype=torch.float64)
        self.n_variables = len(self.noise)

    def terms(self, orders):
        permuted = self.covariance[orders[:, :, None], orders[:, None, :]]
        residual_variance = torch.linalg.cholesky(permuted).diagonal(dim1=1, dim2=2) ** 2
        return -residual_variance / self.noise[orders]


# %%
# A chain whose noise shrinks along the way, so that later variables vary less. Equal variances are a wrong assumption
# here.

rng = np.random.default_rng(0)
noise_variances = np.array([4.0, 1.0, 0.25, 0.0625])
columns = [rng.normal(size=2000) * 2]
for variance in noise_variances[1:]:
    columns.append(0.45 * columns[-1] + rng.normal(size=2000) * variance**0.5)
data = pd.DataFrame(np.column_stack(columns), columns=["a", "b", "c", "d"])[["c", "a", "d", "b"]]
truth = pc.CausalGraph.from_matrix(np.eye(4, k=1), names=["a", "b", "c", "d"])

score = KnownNoiseScore(data.to_numpy(), noise_variances[[2, 0, 3, 1]])

# %%
# The estimator takes the object in place of a name. The score has said that it is linear: so the graph is pruned by
# extended BIC and its edges have weights.

options = {"n_iterations": 10, "batch_size": 32, "random_state": 0, "verbose": False}
ours = pc.CORL(score=score, **options).fit(data)
equal = pc.CORL(score="linear", **options).fit(data)
print("known noise    ", " < ".join(ours.causal_order_))
print("equal variances", " < ".join(equal.causal_order_))

figure, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained")
for ax, model, title in zip(axes, (ours, equal), ("known noise variances", "equal variances assumed"), strict=True):
    model.graph_.plot(ax)
    ax.set_title(title)

assert ours.causal_order_ == ["a", "b", "c", "d"]
assert pc.evaluate(ours.graph_, truth).shd == 0
assert pc.evaluate(equal.graph_, truth).shd > 0
