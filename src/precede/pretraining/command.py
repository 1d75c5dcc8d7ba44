"""Options of ``precede pretrain`` to settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from precede.errors import check_positive
from precede.pretraining.own_tables import read_tables, sizes_of, split
from precede.pretraining.settings import PretrainingSettings, Variant, variant_settings
from precede.pretraining.validation import ValidationSettings


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
    >>> command_settings("default", n_steps=5, patience=None).n_steps
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
