"""What a fit has been asked for: the flat options of CORL, resolved and grouped by the stage that reads them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Literal

import numpy as np

from precede.arrays import IntArray
from precede.data.load import Table
from precede.errors import OptionError, listed
from precede.policy.prediction import MOST_VARIABLES
from precede.pruning.order_to_graph import PruningName
from precede.runtime.device import DeviceName
from precede.scores.build import ScoreName
from precede.scores.gp import KernelName
from precede.scores.protocol import NoiseName, OrderScore
from precede.search.settings import Details, SearchName, SearchSettings, TrainingSettings

if TYPE_CHECKING:
    from precede.corl.estimator import CORL

ARCHITECTURE = ("inputs", "encoder", "decoder", "pointer", "normalization", "n_encoder_rows")
"""Options that describe a network to train from scratch."""

NETWORK_DETAILS = ("width", "heads", "glimpse", "sinks_first")
"""Those of ``details`` that do."""

TRAINING_OPTIONS = tuple(name for name in TrainingSettings.__dataclass_fields__ if name != "max_time")
"""Options of CORL that mean something only where a policy is trained: "auto" where they are not given."""

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
    kernel : {"median", "fixed"}
        Of ``score="gp"``.
    """

    score: ScoreName | Literal["auto", "policy"] | OrderScore
    noise: NoiseName
    policy_weight: float | Literal["auto"]
    standardize_columns: bool
    device: DeviceName
    kernel: KernelName = "median"


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
    search : SearchSettings
    pruning : PruningPlan
    seed : int or None
        Where the user gave a whole number; a checkpoint remembers it.
    verbose : bool
    hidden : bool
        Whether causes may be missing from the table.
    """

    score: ScorePlan
    search: SearchSettings
    pruning: PruningPlan
    seed: int | None
    verbose: bool
    hidden: bool = False

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
    shipped = TrainingSettings()
    own = [name for name in ARCHITECTURE if getattr(model, name) not in ("auto", getattr(shipped, name))]
    details = shipped.details if model.details == "auto" else model.details
    changed = any(getattr(details, name) != getattr(shipped.details, name) for name in NETWORK_DETAILS)
    return [*own, "details"] if changed else own


def training_given(model: CORL) -> list[str]:
    """Options of training that were given; of ``details`` those count that shape training."""
    given = [name for name in TRAINING_OPTIONS if getattr(model, name) != "auto"]
    if isinstance(model.details, Details) and without_score(model.details) == Details():
        given.remove("details")
    return given


def without_score(details: Details) -> Details:
    """Those that shape training alone."""
    return replace(details, standardize_columns=False, kernel="median")


def pretrained_start(model: CORL) -> str | Path | None:
    """The pretrained policy to start from, if any."""
    if model.pretrained != "auto":
        return model.pretrained
    return None if own_network(model) or model.search == "exact" else "default"


def taken_search(model: CORL) -> tuple[SearchName | Literal["none"], str]:
    """Which search the options ask for, and what asks for it; "auto" where nothing does."""
    if model.search != "auto":
        return model.search, f"search={model.search!r} was given"
    if model.n_iterations == 0:
        if model.polish:
            return "local", "n_iterations=0 asks for no training"
        return "none", "n_iterations=0 and polish=False: the pretrained policy's most likely order as it is"
    given = training_given(model)
    if given:
        more = f" and {len(given) - 3} other options of training" if len(given) > 3 else ""
        return "policy", f"{', '.join(given[:3])}{more} {'was' if len(given) == 1 else 'were'} given"
    if not model.polish:
        return "policy", "polish=False leaves the policy's own order"
    if model.pretrained is None:
        return "policy", "pretrained=None trains from scratch"
    return "auto", ""


def check_search(model: CORL) -> None:
    """Refuse what contradicts the search that is asked for: nothing that was given is left undone."""
    kind, _ = taken_search(model)
    given = [name for name in training_given(model) if name != "n_iterations" or model.n_iterations != 0]
    if kind == "policy" and model.n_iterations == 0:
        raise OptionError("search='policy' trains, and n_iterations=0 does not: take search='local' to train nothing.")
    if kind in ("local", "exact", "none"):
        because = f"search={kind!r}" if model.search == kind else "n_iterations=0"
        watched = [name for name in ("checkpoint", "tensorboard") if getattr(model, name) is not None]
        for name in given:
            raise OptionError(
                f"{name} is an option of training, and {because} trains nothing: leave it out, or take search='policy'."
            )
        for name in watched if model.search == kind else ():
            raise OptionError(
                f"{name} follows the training of a policy, and {because} trains none: take search='policy'."
            )
    if kind == "local" and not model.polish:
        raise OptionError(
            "polish=False leaves nothing to do for search='local': leave it out, or take search='policy'."
        )
    if kind == "none" and pretrained_start(model) is None:
        raise OptionError("n_iterations=0 and polish=False need a pretrained policy: leave out pretrained=None.")


def search_settings(model: CORL, table: Table) -> SearchSettings:
    """How CORL searches for an order of a table's columns."""
    kind, why = taken_search(model)
    start = pretrained_start(model)
    return SearchSettings(
        kind, why, start, model.polish, model.n_restarts,
        training_of(model, start),
        order_in(table, model.initial_order),
        first_look=model.initial_order is None or model.n_iterations != 0,
        is_wide=model.pretrained == "auto" and kind != "policy" and table.n_variables > MOST_VARIABLES,
        checkpoint=model.checkpoint, resume=model.resume, tensorboard=model.tensorboard,
    )  # fmt: skip


def training_of(model: CORL, start: str | Path | None) -> TrainingSettings:
    """The options of CORL that shape training; iterations that were asked for run to the end unless patience is too."""
    options = {name: value for name in TRAINING_OPTIONS if (value := getattr(model, name)) != "auto"}
    if "n_iterations" not in options and "patience" not in options:
        options["patience"] = PATIENCE_FROM_SCRATCH if start is None else PATIENCE
    return TrainingSettings(**options)  # without max_time: the deadline of the whole fit holds
