"""Every method of this package by name."""

from precede import baselines
from precede.estimator import CausalEstimator

METHODS: dict[str, type[CausalEstimator]] = {
    "random": baselines.RandomOrder,
    "notears": baselines.NOTEARS,
    "notears-mlp": baselines.NOTEARSMLP,
    "golem": baselines.GOLEM,
    "dagma": baselines.DAGMA,
    "dag-gnn": baselines.DAGGNN,
    "gran-dag": baselines.GranDAG,
    "rl-bic2": baselines.RLBIC2,
    "cam": baselines.CAM,
    "l1obs": baselines.L1OBS,
    "a-star-lasso": baselines.AStarLasso,
    "ica-lingam": baselines.ICALiNGAM,
    "direct-lingam": baselines.DirectLiNGAM,
    "eqvar": baselines.EqVar,
    "sort-regress": baselines.SortRegress,
    "r2-sort-regress": baselines.R2SortRegress,
    "pc": baselines.PC,
    "ges": baselines.GES,
    "fci": baselines.FCI,
}
"""Name to estimator, as the command line and the experiments spell them."""
