"""What a fit has been asked for: the flat options of CORL, resolved and grouped by the stage that reads them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Literal

import numpy as np

from precede.arrays import IntArray
from precede.data.load import Table
from precede.errors import OptionError, listed
from precede.policy.judgement import MOST_VARIABLES
from precede.pruning.order_to_graph import PruningName
from precede.runtime.device import DeviceName
from precede.scores.build import ScoreName
from precede.scores.protocol import NoiseName, OrderScore
from precede.search.run import SearchSettings
from precede.search.settings import TrainingSettings

if TYPE_CHECKING:
    from precede.discovery.corl import CORL

ARCHITECTURE = ("inputs", "encoder", "decoder", "pointer", "normalization", "n_samples")
"""Options that describe a network to train from scratch."""

PATIENCE, PATIENCE_FROM_SCRATCH = 10, 100
"""Iterations without a better order after which training ends: from a pretrained start, whose proposals are polished
as they come, and from random weights."""


@dataclass(frozen=True)
class ScorePlan:
    """Which score judges an order, and over which columns.

    Parameters
    ----------
    score : str or OrderScore
        A name, "auto", "policy", or a score that is ready.
    noise : {"auto", "equal", "unequal"}
    policy_weight : float or "auto"
        What the policy's opinion of the edges counts beside the score.
    standardize_columns : bool
        Whether score and policy see columns of mean zero and variance one.
    device : str
    """

    score: ScoreName | Literal["auto", "policy"] | OrderScore
    noise: NoiseName
    policy_weight: float | Literal["auto"]
    standardize_columns: bool
    device: DeviceName


@dataclass(frozen=True)
class SearchPlan:
    """How an order is searched for.

    Parameters
    ----------
    exact : bool
        Dynamic programming instead of the policy.
    start : str, Path or None
        The pretrained policy to start from.
    settings : SearchSettings
    checkpoint : str or None
        File that training is saved to.
    resume : bool
        Whether to continue from that file.
    tensorboard : str or None
        Folder for TensorBoard.
    """

    exact: bool
    start: str | Path | None
    settings: SearchSettings
    checkpoint: str | None
    resume: bool
    tensorboard: str | None


@dataclass(frozen=True)
class PruningPlan:
    """How the order becomes a graph."""

    name: PruningName
    threshold: float
    cutoff: float


@dataclass(frozen=True)
class Plan:
    """One fit: its stages in the order in which the data passes them.

    Parameters
    ----------
    score : ScorePlan
    search : SearchPlan
    pruning : PruningPlan
    seed : int or None
        Where the user gave a whole number; a checkpoint remembers it.
    verbose : bool
    """

    score: ScorePlan
    search: SearchPlan
    pruning: PruningPlan
    seed: int | None
    verbose: bool

    @property
    def asks_the_policy(self) -> bool:
        """Whether the pretrained policy's probabilities are looked at."""
        name = self.score.score
        if isinstance(name, OrderScore):
            return self.pruning.name == "policy"
        counts = self.score.policy_weight not in (0, "auto")
        return counts or self.pruning.name == "policy" or name in ("auto", "policy")


def order_in(table: Table, order: Sequence[Hashable] | None) -> IntArray | None:
    """An order of names as positions of a table's columns."""
    if order is None:
        return None
    position = {name: k for k, name in enumerate(table.names)}
    odd = set(order) ^ set(position)
    if odd or len(order) != len(position):
        why = f"that fails for {listed(sorted(odd, key=str))}" if odd else "it repeats one"
        raise OptionError(f"initial_order={shortened(order)} cannot be used: it must list each column once, and {why}.")
    return np.array([position[name] for name in order], dtype=np.int64)


def own_network(model: CORL) -> list[str]:
    """Options of CORL that ask for another network than a pretrained policy brings."""
    defaults = signature(type(model).__init__).parameters
    return [name for name in ARCHITECTURE if getattr(model, name) != defaults[name].default]


def search_settings(model: CORL, table: Table, start: str | Path | None) -> SearchSettings:
    """How CORL searches for an order of a table's columns."""
    trains_always = model.patience != "auto" or model.checkpoint is not None or model.tensorboard is not None
    unasked = model.pretrained == "auto" and start is not None and not trains_always
    return SearchSettings(
        model.polish,
        model.n_restarts,
        training_of(model, start),
        order_in(table, model.initial_order),
        trains_always=trains_always,
        is_wide=unasked and model.polish and table.n_variables > MOST_VARIABLES,
    )


def training_of(model: CORL, start: str | Path | None) -> TrainingSettings:
    """The options of CORL that shape training; "auto" patience is resolved."""
    options = {name: getattr(model, name) for name in TrainingSettings.__dataclass_fields__}
    if options["patience"] == "auto":
        options["patience"] = PATIENCE_FROM_SCRATCH if start is None else PATIENCE
    options["max_time"] = None  # the deadline of the whole fit holds
    return TrainingSettings(**options)
