"""How a policy is pretrained, and the settings behind the shipped weights."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from precede.errors import check_choice
from precede.options import Count, Positive, check_options
from precede.policy.actor import Architecture
from precede.policy.prediction import SHIPPED
from precede.pretraining.curriculum import PAPER_CURRICULUM, CurriculumSettings
from precede.pretraining.own_tables import read_tables, sizes_of, split
from precede.pretraining.validation import ValidationSettings


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
    tasks_per_step: Count = 256
    learning_rate: Positive = 1e-3
    weight_decay: float = 0.01
    warmup_steps: int = 100
    edge_weight: float = 0.5
    start: str | None = None
    average: float = 0.999
    n_steps: Count | None = None
    max_time: Positive | None = None
    validate_every: float = 60.0
    device: str = "cpu"
    random_state: int = 0


def variant_settings(
    variant: str, *, tiny: bool = False, data: Path | None = None, **changes: Any
) -> PretrainingSettings:
    """Settings behind the shipped weights, with the changes that were asked for; None changes nothing.

    Parameters
    ----------
    variant : {"default", "paper"}
        "paper" is the network of :meth:`precede.CORL.paper`.
    tiny : bool
        Small tasks and validation, to try the command on a CPU.
    data : Path, optional
        Folder of labeled tables to train on, in place of simulated ones.
    **changes
        Fields of :class:`PretrainingSettings`.

    Examples
    --------
    >>> variant_settings("default", n_steps=5, learning_rate=None).n_steps
    5
    """
    check_choice("variant", variant, SHIPPED)
    given = {key: value for key, value in changes.items() if value is not None}
    check_options(PretrainingSettings, given)
    settings = PretrainingSettings(Architecture("moments", "lstm", "dot", 1000))
    if variant == "paper":
        network = Architecture("transformer", "lstm", "additive", 256, "batch", "resample")
        settings = PretrainingSettings(network, PAPER_CURRICULUM, tasks_per_step=512, learning_rate=3e-4)
    settings = replace(settings, **given)
    tasks = settings.curriculum
    if tiny:
        rows = max(64, tasks.rows or 0)
        tasks = replace(tasks, n_variables=(6, 8), n_samples=(rows,), degrees=(1.0, 2.0))
        settings = replace(settings, validation=ValidationSettings(n_variables=8, n_samples=64, n_sets=2))
    if data is not None:
        train, _ = split(read_tables(data))
        tasks = sizes_of(train, tasks, data)
    return replace(settings, curriculum=tasks)
