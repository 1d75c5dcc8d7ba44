"""Every method of this package by name."""

from precede.baselines.astar_lasso import AStarLasso
from precede.baselines.cam import CAM
from precede.baselines.constraint import FCI, GES, PC
from precede.baselines.dag_gnn import DAGGNN
from precede.baselines.descent import DAGMA, GOLEM
from precede.baselines.gran_dag import GranDAG
from precede.baselines.l1obs import L1OBS
from precede.baselines.lingam import DirectLiNGAM, ICALiNGAM
from precede.baselines.notears import NOTEARS, NOTEARSMLP
from precede.baselines.order_methods import EqVar, R2SortRegress, RandomOrder, SortRegress
from precede.baselines.rl_bic2 import RLBIC2
from precede.estimator import CausalEstimator

METHODS: dict[str, type[CausalEstimator]] = {
    "random": RandomOrder,
    "notears": NOTEARS,
    "notears-mlp": NOTEARSMLP,
    "golem": GOLEM,
    "dagma": DAGMA,
    "dag-gnn": DAGGNN,
    "gran-dag": GranDAG,
    "rl-bic2": RLBIC2,
    "cam": CAM,
    "l1obs": L1OBS,
    "a-star-lasso": AStarLasso,
    "ica-lingam": ICALiNGAM,
    "direct-lingam": DirectLiNGAM,
    "eqvar": EqVar,
    "sort-regress": SortRegress,
    "r2-sort-regress": R2SortRegress,
    "pc": PC,
    "ges": GES,
    "fci": FCI,
}
"""Name to estimator, as the command line and the experiments spell them."""
