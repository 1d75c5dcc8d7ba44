"""
How sure is each edge
=====================

Learn again on resampled rows, and count. Edges that the data determine come back every time; edges that depend on a few
rows do not.
"""

import matplotlib.pyplot as plt

import precede as pc

made = pc.simulate(n_variables=7, degree=1.5, sem="lingam", n_samples=150, standardize=True, random_state=4)
model = pc.baselines.DirectLiNGAM(verbose=False).fit(made.data)
confidence = model.bootstrap(made.data, n_resamples=40, random_state=0)

# %%
# 150 rows are few, so not every edge is certain. ``edge_probability[i, j]`` is the share of resamples with i -> j.

for cause, effect, probability in confidence.edge_list(at_least=0.3):
    print(f"{cause} -> {effect}  {probability:.2f}  {'true' if made.graph.adjacency.loc[cause, effect] else 'false'}")

# %%
# True edges are marked with a ring. An edge and its reverse that are both found now and then say that the pair is
# connected but its direction is open.

names = list(made.data.columns)
shares = confidence.edge_probability.to_numpy()
figure, axes = plt.subplots(figsize=(5, 4.4), layout="constrained")
image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
axes.set_xticks(range(7), names)
axes.set_yticks(range(7), names)
axes.set_xlabel("effect")
axes.set_ylabel("cause")
causes, effects = made.graph.edges.nonzero()
axes.scatter(effects, causes, s=160, facecolors="none", edgecolors="tab:orange", linewidths=2)
figure.colorbar(image, label="share of resamples")

# %%
# Keep what is sure. A share near 1 says that the method would find the edge again on data like these, not that its
# assumptions hold.

sure = [(cause, effect) for cause, effect, _ in confidence.edge_list(at_least=0.9)]
right = [bool(made.graph.adjacency.loc[edge]) for edge in sure]
print(f"{len(sure)} edges with probability .9 or more, {sum(right)} of them true; true edges: {made.graph.n_edges}")

assert sure
assert all(right)
assert ((shares > 0.05) & (shares < 0.9)).any()
