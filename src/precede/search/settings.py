"""How the policy is trained: every choice of Algorithm 1 and of its implementation, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from precede.policy.decoders import DecoderName, PointerName
from precede.policy.encoders import EncoderName, NormalizationName
from precede.policy.inputs import InputsName
from precede.search.rewards import RewardName, ShapingName


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
