"""How a policy is pretrained, and the settings behind the shipped weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from precede.errors import check_choice
from precede.policy.pretrained import Architecture
from precede.pretraining.curriculum import PAPER_CURRICULUM, CurriculumSettings
from precede.pretraining.validation import ValidationSettings

Variant = Literal["default", "paper"]


@dataclass(frozen=True)
class PretrainingSettings:
    """How a policy is pretrained.

    Parameters
    ----------
    architecture : Architecture
    curriculum : CurriculumSettings
    tasks_per_step : int
        Tasks of 30 variables and 400 samples in a step.
    learning_rate, weight_decay, warmup_steps : float, float, int
        AdamW, linear warm-up, then a cosine over ``n_steps`` or ``max_time``, whichever is further.
    edge_weight : float
        Weight of the loss of the edge head.
    start : str or None
        File of weights to start from, where their names and shapes fit.
    average : float
        Decay of the running mean of the weights, which is what is validated and saved.
    n_steps, max_time : int or None, float or None
        Where training ends, counted over all resumed runs.
    validate_every : float
        Seconds between validations.
    patience : int or None
        Stop after this many validations without a better mean of the suite's groups.
    compile : bool
        Compile the encoder's blocks; falls back to eager where that fails.
    """

    architecture: Architecture
    curriculum: CurriculumSettings = field(default_factory=CurriculumSettings)
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    tasks_per_step: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup_steps: int = 300
    edge_weight: float = 0.5
    start: str | None = None
    average: float = 0.999
    n_steps: int | None = None
    max_time: float | None = None
    validate_every: float = 60.0
    patience: int | None = None
    compile: bool = False
    device: str = "cpu"
    random_state: int = 0


def variant_settings(variant: Variant, **changes: Any) -> PretrainingSettings:
    """Settings behind the shipped weights: "default", or "paper" for the network of :meth:`precede.CORL.paper`."""
    check_choice("variant", variant, ("default", "paper"))
    settings = PretrainingSettings(Architecture("moments", "lstm", "dot", 1000))
    if variant == "paper":
        network = Architecture("transformer", "lstm", "additive", 256, "batch", "resample")
        settings = PretrainingSettings(network, PAPER_CURRICULUM, tasks_per_step=512, learning_rate=3e-4)
    return replace(settings, **changes)
