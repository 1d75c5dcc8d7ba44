"""The paper's settings: what its Section 4.2 and Appendix A.2 say, and a stated choice wherever they are silent."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from precede.errors import check_choice
from precede.options import Options
from precede.search.settings import Details

PaperName = Literal["corl-1", "corl-2"]


def paper_options(name: PaperName, nonlinear: bool, pretrained: str | Path | None) -> Options:
    """Options of CORL as in the paper; :meth:`precede.CORL.paper` documents the arguments.

    Examples
    --------
    >>> paper_options("corl-2", nonlinear=False, pretrained=None)["gamma"]
    0.98
    """
    check_choice("name", name, ("corl-1", "corl-2"))
    options: Options = {
        "score": "gp" if nonlinear else "linear",
        "noise": "equal",
        "reward": "episodic" if name == "corl-1" else "dense",
        "pruning": "cam" if nonlinear else "threshold",
        "polish": False,
        "odd": "keep",
        "n_iterations": 6000,
        "pretrained": pretrained,
        "patience": 2000,
        "shaping": "plain",
        "gamma": 0.98,
        "entropy_bonus": 0.0,
        "batch_size": 64 if nonlinear else 128,
        "details": Details(
            standardize_columns=nonlinear,
            row_scale="common" if nonlinear else "asinh",  # standardized columns have one scale already
            critic="every-state" if name == "corl-1" else "initial-state",
            patience_on="mean",
        ),
    }
    if pretrained is None:  # a pretrained policy brings its network and what it looks at
        options |= {"inputs": "resample", "n_samples": 128 if nonlinear else 256}
        options |= {"pointer": "additive", "normalization": "batch"}
    return options
