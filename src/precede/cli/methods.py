"""``precede methods``: what 'discover --method' takes."""

from rich.table import Table as TerminalTable

from precede.cli.terminal import SafeConsole

WHAT_IT_IS = {
    "corl": "Causal discovery with ordering-based reinforcement learning (Wang et al., IJCAI 2021).",
    "random": "A random order, regressed and pruned (RANDOM in Table 1 of the CORL paper): the control.",
    "notears": "Linear NOTEARS (Zheng, Aragam, Ravikumar, Xing 2018).",
    "notears-mlp": "Nonlinear NOTEARS with multilayer perceptrons (Zheng, Dan, Aragam, Ravikumar, Xing 2020).",
    "dag-gnn": "DAG-GNN: an autoencoder with a weighted adjacency (Yu et al. 2019).",
    "gran-dag": "GraN-DAG for nonlinear Gaussian additive noise models (Lachapelle et al. 2020).",
    "rl-bic2": "RL-BIC2: reinforcement learning over directed graphs (Zhu et al. 2020).",
    "cam": "Causal additive model: neighbor selection, greedy edge addition, pruning (Bühlmann et al. 2014).",
    "l1obs": "Greedy search over orders whose parents come from lasso paths (Schmidt et al. 2007).",
    "a-star-lasso": "Best order under the lasso, by A* search over sets of placed variables (Xiang, Kim 2013).",
    "ica-lingam": "Linear non-Gaussian model by independent component analysis (Shimizu et al. 2006).",
    "direct-lingam": "Order of a linear non-Gaussian model without ICA (Shimizu et al. 2011).",
    "eqvar": "Greedy order of a linear model with equal noise variances (Chen, Drton, Wang 2019).",
    "sort-regress": "Order by increasing marginal variance (Reisach, Seiler, Weichwald 2021).",
    "r2-sort-regress": "Order by increasing share of variance that the others explain (Reisach et al. 2023).",
}
"""The names of :func:`precede.methods`, in words that need no import of the methods themselves."""


FROM_CAUSAL_LEARN = {
    "pc": "Independences and colliders, where nothing is hidden (Spirtes, Glymour 1991).",
    "ges": "Greedy search over equivalence classes (Chickering 2002).",
    "fci": "As pc, where causes may be hidden (Spirtes, Meek, Richardson 1995).",
}
"""Methods that the package causal-learn brings."""


def list_methods() -> None:
    """List the methods that 'discover --method' takes."""
    table = TerminalTable("method", "what it is")
    for name, words in WHAT_IT_IS.items():
        table.add_row(name, words)
    for name, words in FROM_CAUSAL_LEARN.items():
        table.add_row(name, f"{words} Needs the extra 'constraint'.")
    SafeConsole().print(table)
