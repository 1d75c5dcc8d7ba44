"""How a policy is pretrained, the settings behind the shipped weights, and those of a command."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from precede.errors import check_choice, check_positive
from precede.policy.pretrained import Architecture
from precede.pretraining.curriculum import PAPER_CURRICULUM, CurriculumSettings
from precede.pretraining.own_tables import read_tables, sizes_of, split
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
    """

    architecture: Architecture
    curriculum: CurriculumSettings = field(default_factory=CurriculumSettings)
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    tasks_per_step: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup_steps: int = 100
    edge_weight: float = 0.5
    start: str | None = None
    average: float = 0.999
    n_steps: int | None = None
    max_time: float | None = None
    validate_every: float = 60.0
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


def command_settings(
    variant: str, *, tiny: bool = False, data: Path | None = None, **changes: Any
) -> PretrainingSettings:
    """Settings of a variant with the changes that were asked for; None changes nothing.

    Parameters
    ----------
    variant : {"default", "paper"}
    tiny : bool
        Small tasks and validation, to try the command on a CPU.
    data : Path, optional
        Folder of labeled tables to train on, in place of simulated ones.
    **changes
        Fields of :class:`precede.pretraining.supervised.PretrainingSettings`.

    Examples
    --------
    >>> command_settings("default", n_steps=5, learning_rate=None).n_steps
    5
    """
    given = {key: value for key, value in changes.items() if value is not None}
    for name in ("max_time", "n_steps", "learning_rate"):
        if name in given:
            check_positive(name, given[name], integer=name == "n_steps")
    settings = variant_settings(cast(Variant, variant), **given)
    if tiny:
        settings = replace(
            settings,
            curriculum=replace(
                settings.curriculum,
                n_variables=(6, 8),
                n_samples=(max(64, settings.curriculum.rows or 0),),
                degrees=(1.0, 2.0),
            ),
            validation=ValidationSettings(n_variables=8, n_samples=64, n_sets=2),
        )
    if data is not None:
        train, _ = split(read_tables(data))
        settings = replace(settings, curriculum=sizes_of(train, settings.curriculum, data))
    return settings
