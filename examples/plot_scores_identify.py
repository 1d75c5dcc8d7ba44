"""
What each score can tell
========================

Two variables, one causes the other. Which scores see the direction depends on the data, not on the effort: a Gaussian
linear pair of unknown scale looks the same both ways, and no search can change that.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

from precede.scores.gp import GPScore
from precede.scores.linear import LinearScore
from precede.scores.sparse_linear import NonGaussianScore, SparseLinearScore

# %%
# Four kinds of data, always x -> y. "Other units" is the first kind with y divided by ten.


def gaussian(rng):
    x = rng.normal(size=400)
    return np.column_stack([x, x + rng.normal(size=400)])


def other_units(rng):
    return gaussian(rng) / [1, 10]


def uniform(rng):
    x = rng.uniform(-1, 1, size=400)
    return np.column_stack([x, x + rng.uniform(-1, 1, size=400)]) / [1, 10]


def curved(rng):
    x = rng.normal(size=400)
    return np.column_stack([x, (np.tanh(2 * x) + 0.3 * rng.normal(size=400)) / 10])


KINDS = {
    "linear, equal noise": gaussian,
    "the same in other units": other_units,
    "linear, uniform noise": uniform,
    "curved": curved,
}
SCORES = {
    "linear": LinearScore,
    "sparse-linear": SparseLinearScore,
    "nongaussian": NonGaussianScore,
    "gp": GPScore,
}

# %%
# A score judges orders; here there are two. A right choice counts 1, a tie one half.

ORDERS = torch.tensor([[0, 1], [1, 0]])


def choice(score):
    right, wrong = score.total(score.terms(ORDERS).sum(1)).tolist()
    return 0.5 if abs(right - wrong) < 1e-6 * abs(right) else float(right > wrong)


def share_right(draw, make):
    return np.mean([choice(make(draw(np.random.default_rng(seed)))) for seed in range(20)])


share = np.array([[share_right(draw, make) for make in SCORES.values()] for draw in KINDS.values()])

# %%
# 1 is always right, 0 always wrong, one half a coin (or a tie).

figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
axes.imshow(share, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
axes.set_xticks(range(len(SCORES)), SCORES)
axes.set_yticks(range(len(KINDS)), KINDS)
for i, j in np.ndindex(share.shape):
    color = "white" if share[i, j] in (0, 1) else "black"
    axes.text(j, i, f"{share[i, j]:.2f}", ha="center", va="center", color=color)
axes.set_title("share of 20 data sets with the right direction")

# %%
# * "linear" assumes equal noise variances: right where they are equal, *surely wrong* once a change of units turns the
#   scales round.
# * "sparse-linear" knows that it cannot tell: both orders score the same.
# * "nongaussian" needs a shape, "gp" needs a curve; where there is neither, they toss a coin.
# * An assumption that fails can do worse than a coin: "nongaussian" is wrong on every curved data set.

assert share[0, 0] == 1
assert share[1, 0] == 0
assert (share[:, 1] == 0.5).all()
assert share[2, 2] >= 0.95
assert share[3, 3] >= 0.95
assert share[3, 2] <= 0.1
assert 0.1 < share[1, 2] < 0.9
assert 0.1 < share[1, 3] < 0.9
