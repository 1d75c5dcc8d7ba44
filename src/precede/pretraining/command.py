"""Options of the command line to settings, for ``precede pretrain`` and ``python -m precede.pretraining``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from precede.errors import check_choice, check_positive
from precede.policy.encoders import EncoderName
from precede.policy.pretrained import ANY_ROWS
from precede.pretraining.curriculum import CurriculumSettings
from precede.pretraining.supervised import PretrainingSettings, Variant, variant_settings
from precede.pretraining.validation import ValidationSettings


def command_settings(
    variant: str, encoder: str | None = None, *, tiny: bool = False, **changes: Any
) -> PretrainingSettings:
    """Settings of a variant with the changes that were asked for; None changes nothing.

    Parameters
    ----------
    variant : {"default", "paper"}
    encoder : {"alternating", "moments"}, optional
        Another encoder than the variant's.
    tiny : bool
        Small tasks and validation, to try the command on a CPU.
    **changes
        Fields of :class:`precede.pretraining.supervised.PretrainingSettings`.

    Examples
    --------
    >>> command_settings("default", n_steps=5, patience=None).n_steps
    5
    """
    given = {key: value for key, value in changes.items() if value is not None}
    for name in ("max_time", "n_steps"):
        if name in given:
            check_positive(name, given[name], integer=name == "n_steps")
    settings = variant_settings(cast(Variant, variant), **given)
    if encoder is not None:
        check_choice("encoder", encoder, ANY_ROWS)
        settings = replace(settings, architecture=replace(settings.architecture, encoder=cast(EncoderName, encoder)))
    if tiny:
        settings = replace(
            settings,
            curriculum=CurriculumSettings((6, 8), (64,), (1.0, 2.0), rows=settings.curriculum.rows),
            validation=ValidationSettings(n_variables=8, n_samples=64, n_sets=2),
        )
    return settings
