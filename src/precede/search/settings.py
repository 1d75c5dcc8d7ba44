"""How an order is searched for: which search, and every choice of Algorithm 1 and of its implementation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from precede.arrays import IntArray
from precede.options import Count, Positive, Share
from precede.policy.actor import Architecture
from precede.policy.inputs import InputsName, RowScale
from precede.policy.networks import HEADS, WIDTH, DecoderName, EncoderName, NormalizationName, PointerName
from precede.scores.gp import KernelName
from precede.search.rewards import RewardName, ShapingName

PatienceName = Literal["best", "mean"]
CriticName = Literal["by-reward", "every-state", "initial-state"]
ReturnUnit = Literal["score", "residuals"]
SearchName = Literal["auto", "policy", "local", "exact"]


@dataclass(frozen=True)
class Details:
    """Choices that a reader of the paper has to make; ``docs/explanation/corl.md`` has what each of them does.

    Parameters
    ----------
    standardize_columns : bool
        Score and show the policy columns of mean zero and variance one, as RL-BIC2's commands for nonlinear data do.
    row_scale : {"asinh", "common", "none"}
        How resampled rows are scaled: see ``precede.policy.inputs.ResampledInputs``.
    standardize_returns : bool
        Center the returns at every step and scale them over the batch before actor and critic see them.
    return_unit : {"score", "residuals"}
        Returns in the unit of the score, or of residual variances and their logarithm, whatever the number of rows.
    moving_average : bool
        Subtract the moving average (weight .99, from -1) of the mean returns before actor and critic see them.
    largest_gradient : float or None
        Norm at which the actor's gradient is clipped; None leaves it as it is.
    clip_each_tensor : bool
        Clip the gradient of each tensor at that norm by itself, the critic's too.
    adam_beta2, adam_epsilon : float
        Of Adam: weight of the earlier squares of a gradient, and what is added to their root.
    width, heads : int
        Units of states and decoder (the critic has twice as many and as many), and heads of the transformer.
    glimpse : bool
        Look once at the states that are left before pointing (Bello et al. 2016).
    sinks_first : bool
        Place variables from the last of the order to the first.
    kernel : {"median", "fixed"}
        Of ``score="gp"``: bandwidth by the median of distances between standardized columns, or bandwidth 1 on columns
        as they are.
    critic : {"by-reward", "every-state", "initial-state"}
        Which states the critic values. By reward: every state of a dense one, the initial state of an episodic one
        (Section 4.2); Appendix A.2 has it the other way round.
    patience_on : {"best", "mean"}
        What has to stand still for training to end: the best score, or the mean of a batch as well.
    """

    standardize_columns: bool = False
    row_scale: RowScale = "asinh"
    standardize_returns: bool = True
    return_unit: ReturnUnit = "score"
    moving_average: bool = False
    largest_gradient: Positive | None = 1.0
    clip_each_tensor: bool = False
    adam_beta2: Share = 0.999
    adam_epsilon: Positive = 1e-8
    width: Count = WIDTH
    heads: Count = HEADS
    glimpse: bool = False
    sinks_first: bool = False
    kernel: KernelName = "median"
    critic: CriticName = "by-reward"
    patience_on: PatienceName = "best"


@dataclass(frozen=True)
class TrainingSettings:
    """Algorithm 1: the options of training, each with its default; :class:`precede.CORL` documents them."""

    reward: RewardName = "dense"
    shaping: ShapingName = "bound"
    encoder: EncoderName = "transformer"
    decoder: DecoderName = "lstm"
    pointer: PointerName = "dot"
    normalization: NormalizationName = "layer"
    inputs: InputsName = "fixed"
    n_iterations: int = 500
    batch_size: int = 64
    n_encoder_rows: int = 64
    gamma: float = 1.0
    entropy_bonus: float = 0.03
    actor_learning_rate: float = 1e-4
    critic_learning_rate: float = 1e-3
    patience: int | None = None
    details: Details = Details()

    @property
    def architecture(self) -> Architecture:
        """The network to train where no pretrained policy brings one."""
        own = self.details
        return Architecture(
            self.encoder, self.decoder, self.pointer, self.n_encoder_rows, self.normalization, self.inputs,
            own.row_scale, own.width, own.heads, own.glimpse, own.sinks_first,
        )  # fmt: skip


@dataclass(frozen=True)
class SearchSettings:
    """How to search.

    Parameters
    ----------
    kind : {"auto", "policy", "local", "exact", "none"}
        "policy" always trains, "local" never does; "auto" trains where local search leaves a question open. "none" is
        the pretrained policy's most likely order as it is.
    why : str
        What asked for it.
    start : str, Path or None
        The pretrained policy to start from.
    polish : bool
        Climb by insertion moves, from the quick orders and from what the policy proposes; False is the paper.
    n_restarts : int or None
        Of the first polish, from each start; None takes :func:`precede.search.polish.default_restarts`.
    training : TrainingSettings
    initial_order : (n_variables,) int array, optional
        A start beside the greedy order and the policy's.
    first_look : bool
        Whether local search climbs from the order of a pretrained policy as well.
    is_wide : bool
        There are more columns than the policy was made for, or no more rows than columns, and nobody asked for it:
        where restarts do better in less time (:func:`precede.search.polish.do_without_policy`), they are all there is.
    """

    kind: SearchName | Literal["none"] = "policy"
    why: str = "as asked"
    start: str | Path | None = None
    polish: bool = True
    n_restarts: int | None = None
    training: TrainingSettings = TrainingSettings()
    initial_order: IntArray | None = None
    first_look: bool = True
    is_wide: bool = False
