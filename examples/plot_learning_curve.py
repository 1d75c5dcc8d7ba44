"""
What the policy learns, and against what it is judged
=====================================================

A learning curve alone says little: it goes up in any case. Here it is drawn beside the two lines that matter, the exact
optimum of the score and the order that a greedy method gets at once.
"""

import matplotlib.pyplot as plt

import precede as pc

made = pc.simulate(n_variables=8, degree=2, n_samples=1000, random_state=1)

# %%
# Without polish the result is the policy's own best order. ``history_`` has a row for each iteration.

model = pc.CORL(score="linear", polish=False, n_iterations=60, batch_size=32, random_state=0, verbose=False).fit(
    made.data
)
exact = pc.CORL(score="linear", search="exact", verbose=False).fit(made.data)
search = model.diagnostics_["search"]
print(f"policy {search['policy_score']:.3f}   greedy {search['greedy_score']:.3f}   exact optimum {exact.score_:.3f}")

# %%
# The score is a penalized log-likelihood, so the distance to the optimum is in nats. The mean over the batch shows that
# the policy itself moves, not only the best order that it came across.

history = model.history_
figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.plot(history["iteration"], exact.score_ - history["mean_score"] + 0.1, label="mean of the batch")
axes.plot(history["iteration"], exact.score_ - history["best_score"] + 0.1, label="best so far")
axes.axhline(exact.score_ - search["greedy_score"] + 0.1, color="grey", linestyle=":", label="greedy order")
axes.set_yscale("log")
axes.set_xlabel("iteration")
axes.set_ylabel("distance to the optimum + 0.1")
axes.legend()

# %%
# With ``polish=True``, the default, insertion moves take the policy's best order the rest of the way.

polished = pc.CORL(score="linear", n_iterations=5, batch_size=32, random_state=0, verbose=False).fit(made.data)
print(f"5 iterations {polished.diagnostics_['search']['policy_score']:.3f}, polished {polished.score_:.3f}")

assert search["policy_score"] <= exact.score_ + 1e-6
assert history["mean_score"].iloc[-5:].mean() > history["mean_score"].iloc[:5].mean()
assert abs(polished.score_ - exact.score_) < 1e-6
