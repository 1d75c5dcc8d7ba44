"""
How large is an effect, and how sure
====================================

From a graph to numbers: the effect of one variable on another, with an interval that takes the graph for granted and
one that does not.
"""

import matplotlib.pyplot as plt

import precede as pc
from precede.effects import path_effects

made = pc.simulate(n_variables=7, degree=2, sem="lingam", n_samples=120, random_state=5)
model = pc.baselines.DirectLiNGAM(pruning="bic", verbose=False).fit(made.data)
confidence = model.bootstrap(made.data, n_resamples=40, random_state=0, verbose=False)
truth = path_effects(made.graph)

# %%
# Total effects of the first variable in the true order on all that follows from it.

cause = made.graph.order[0]
outcomes = list(made.graph.descendants(cause))
plain = [model.graph_.effect(cause, outcome) for outcome in outcomes]
averaged = [model.graph_.effect(cause, outcome, confidence=confidence) for outcome in outcomes]
for effect in averaged:
    print(effect.sentence)

# %%
# The wide bars know that the graph itself is in doubt: where resampled graphs differ, they reach further.

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for offset, effects, label in ((-0.12, plain, "this graph"), (0.12, averaged, "over bootstrap graphs")):
    places = [k + offset for k in range(len(outcomes))]
    axes.vlines(places, [e.interval[0] for e in effects], [e.interval[1] for e in effects], linewidth=3, alpha=0.6)
    axes.plot(places, [e.value for e in effects], "o", label=label)
axes.plot(range(len(outcomes)), [truth.loc[cause, outcome] for outcome in outcomes], "kx", label="truth")
axes.set_xticks(range(len(outcomes)), [f"{cause} → {outcome}" for outcome in outcomes])
axes.set_ylabel("total effect")
axes.axhline(0, color="grey", linewidth=0.8)
axes.legend()

inside = [e.interval[0] <= truth.loc[cause, o] <= e.interval[1] for e, o in zip(averaged, outcomes, strict=True)]
assert sum(inside) >= len(inside) - 1

# %%
# And what if it were set? Every row keeps its own noise; only what follows from the cause moves.

answer = model.graph_.do({cause: 1.0})
print(answer.sentence)
print(answer.summary.round(2))
