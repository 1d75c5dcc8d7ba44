"""``precede methods`` and ``precede cite``: what there is, and whose it is."""

from importlib.resources import files

import typer

import precede
from precede.cli.terminal import SafeConsole


def cite() -> None:
    """Print BibTeX for the software and the paper of the method."""
    text = (files("precede.cli") / "citation.bib").read_text(encoding="utf-8")
    typer.echo(text.replace("VERSION", precede.__version__).rstrip())


WHAT_IT_IS = {
    "corl": "Causal discovery with ordering-based reinforcement learning (Wang et al., IJCAI 2021).",
    "corl-1": "CORL with the settings of its paper, episodic rewards.",
    "corl-2": "CORL with the settings of its paper, dense rewards.",
    "random": "A random order, regressed and pruned (RANDOM in Table 1 of the CORL paper): the control.",
    "notears": "Linear NOTEARS (Zheng, Aragam, Ravikumar, Xing 2018).",
    "notears-mlp": "Nonlinear NOTEARS with multilayer perceptrons (Zheng, Dan, Aragam, Ravikumar, Xing 2020).",
    "golem": "Linear likelihood with soft penalties for density and cycles (Ng, Ghassami, Zhang 2020).",
    "dagma": "Linear graphs with a log-determinant for acyclicity (Bello, Aragam, Ravikumar 2022).",
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
    "pc": "Independences and colliders, where nothing is hidden (Spirtes, Glymour 1991). Needs the extra 'constraint'.",
    "ges": "Greedy search over equivalence classes (Chickering 2002). Needs the extra 'constraint'.",
    "fci": "As pc, where causes may be hidden (Spirtes, Meek, Richardson 1995). Needs the extra 'constraint'.",
}
"""The names of :func:`precede.methods`, in words that need no import of the methods themselves."""


def list_methods() -> None:
    """List the methods that 'discover --method' takes."""
    SafeConsole().table(("method", "what it is"), WHAT_IT_IS.items())
