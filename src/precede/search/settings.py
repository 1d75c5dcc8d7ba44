"""How the policy is trained: every choice of Algorithm 1 and of its implementation, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from precede.options import Positive
from precede.policy.decoders import DecoderName, PointerName
from precede.policy.encoders import EncoderName, NormalizationName
from precede.policy.inputs import InputsName, RowScale
from precede.search.patience import PatienceName
from precede.search.rewards import RewardName, ShapingName

CriticName = Literal["by-reward", "every-state", "initial-state"]


@dataclass(frozen=True)
class Details:
    """Choices that a reader of the paper has to make; ``docs/explanation/corl.md`` has what each of them does.

    Parameters
    ----------
    standardize_columns : bool
        Score and show the policy columns of mean zero and variance one, as RL-BIC2's commands for nonlinear data do.
    row_scale : {"asinh", "common"}
        How resampled rows are scaled: see ``precede.policy.inputs.ResampledInputs``.
    standardize_returns : bool
        Center the returns at every step and scale them over the batch before actor and critic see them.
    largest_gradient : float or None
        Norm at which the actor's gradient is clipped; None leaves it as it is.
    critic : {"by-reward", "every-state", "initial-state"}
        Which states the critic values. By reward: every state of a dense one, the initial state of an episodic one
        (Section 4.2); Appendix A.2 has it the other way round.
    patience_on : {"best", "mean"}
        What has to stand still for training to end: the best score, or the mean of a batch as well.
    """

    standardize_columns: bool = False
    row_scale: RowScale = "asinh"
    standardize_returns: bool = True
    largest_gradient: Positive | None = 1.0
    critic: CriticName = "by-reward"
    patience_on: PatienceName = "best"


@dataclass(frozen=True)
class TrainingSettings:
    """The defaults of the public options live in :class:`precede.CORL`."""

    reward: RewardName
    shaping: ShapingName
    encoder: EncoderName
    decoder: DecoderName
    pointer: PointerName
    normalization: NormalizationName
    inputs: InputsName
    n_iterations: int
    batch_size: int
    n_samples: int
    gamma: float
    entropy_bonus: float
    actor_learning_rate: float
    critic_learning_rate: float
    patience: int | None
    max_time: float | None
    details: Details

    @property
    def values_every_state(self) -> bool:
        """Whether the critic values every state, or the initial one alone."""
        if self.details.critic == "by-reward":
            return self.reward == "dense"
        return self.details.critic == "every-state"
