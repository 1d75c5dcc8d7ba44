"""The paper's settings, by its text and by its authors' program; ``docs/explanation/corl.md`` has every choice.

The text is what Section 4.2 and Appendix A.2 say, with a stated choice wherever they are silent. The program is
huawei-noah/trustworthyAI at d3614b9, ``gcastle/castle/algorithms/gradient``, as it runs by default: its flags for the
learning rate and its decay, the temperature, the clipping of logits and the decoder's width are read by nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from precede.errors import OptionError, check_choice
from precede.options import Options
from precede.search.settings import Details

PaperName = Literal["corl-1", "corl-2"]
ProgramName = Literal["text", "authors"]


def paper_options(
    name: PaperName, nonlinear: bool, pretrained: str | Path | None, program: ProgramName = "text"
) -> Options:
    """Options of CORL as in the paper; :meth:`precede.CORL.paper` documents the arguments.

    Examples
    --------
    >>> paper_options("corl-2", nonlinear=False, pretrained=None)["gamma"]
    0.98
    """
    check_choice("name", name, ("corl-1", "corl-2"))
    check_choice("program", program, get_args(ProgramName))
    if program == "authors" and pretrained is not None:
        raise OptionError(
            f"program='authors' does not go with pretrained={str(pretrained)!r}: no policy was pretrained for their "
            "network. Leave one of them out."
        )
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
        options |= {"inputs": "resample", "n_encoder_rows": 128 if nonlinear else 256}
        options |= {"pointer": "additive", "normalization": "batch"}
    return options if program == "text" else options | authors_options(name, nonlinear)


def authors_options(name: PaperName, nonlinear: bool) -> Options:
    """What the authors' program has otherwise; their folder corl2 is CORL-1 here, and corl1 is CORL-2."""
    return {
        "n_iterations": 20_000,
        "patience": None,
        "batch_size": 64,
        "n_encoder_rows": 64,
        "details": Details(
            row_scale="none",
            standardize_returns=False,
            return_unit="residuals",
            moving_average=name == "corl-1",
            critic="initial-state" if name == "corl-1" else "every-state",
            clip_each_tensor=True,
            adam_beta2=0.99,
            adam_epsilon=1e-7,
            width=64,
            heads=16,
            glimpse=True,
            sinks_first=True,
            kernel="fixed" if nonlinear else "median",
        ),
    }
