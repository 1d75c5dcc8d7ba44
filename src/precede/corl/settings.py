"""What a fit has been asked for: the options of CORL that depend on each other, resolved, and the paper's settings.

The paper's text is what Section 4.2 and Appendix A.2 say, with a stated choice wherever they are silent
(``docs/explanation/corl.md``). The authors' program is huawei-noah/trustworthyAI at d3614b9,
``gcastle/castle/algorithms/gradient``, as it runs by default: its flags for the learning rate and its decay, the
temperature, the clipping of logits and the decoder's width are read by nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from precede.arrays import IntArray
from precede.data.load import Table
from precede.errors import OptionError, check_choice, listed
from precede.options import Options
from precede.policy.prediction import MOST_VARIABLES
from precede.scores.protocol import OrderScore
from precede.search.settings import Details, SearchName, SearchSettings, TrainingSettings

if TYPE_CHECKING:
    from precede.corl.estimator import CORL


ARCHITECTURE = ("inputs", "encoder", "decoder", "pointer", "normalization", "n_encoder_rows")
"""Options that describe a network to train from scratch."""

NETWORK_DETAILS = ("width", "heads", "glimpse", "sinks_first")
"""Those of ``details`` that do."""

TRAINING_OPTIONS = tuple(TrainingSettings.__dataclass_fields__)
"""Options of CORL that mean something only where a policy is trained: "auto" where they are not given."""

PATIENCE, PATIENCE_FROM_SCRATCH = 10, 100
"""Iterations without a better order after which training ends: from a pretrained start, whose proposals are polished
as they come, and from random weights."""


def asks_the_policy(model: CORL) -> bool:
    """Whether the pretrained policy's probabilities are looked at."""
    if isinstance(model.score, OrderScore):
        return model.pruning == "policy"
    counts = model.policy_weight not in (0, "auto")
    return counts or model.pruning == "policy" or model.score in ("auto", "policy", "vote")


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
    shipped, asked = TrainingSettings(), training_of(model, None)
    own = [name for name in ARCHITECTURE if getattr(asked, name) != getattr(shipped, name)]
    changed = any(getattr(asked.details, name) != getattr(shipped.details, name) for name in NETWORK_DETAILS)
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
    if model.hidden == "allowed":
        return "local", "a PAG only needs a start, and local search finds as good a one as training"
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
    beyond = table.is_wide or table.n_variables > MOST_VARIABLES
    return SearchSettings(
        kind, why, start, model.polish, model.n_restarts,
        training_of(model, start),
        order_in(table, model.initial_order),
        first_look=model.initial_order is None or model.n_iterations != 0,
        is_wide=model.pretrained == "auto" and kind != "policy" and beyond,
    )  # fmt: skip


def training_of(model: CORL, start: str | Path | None) -> TrainingSettings:
    """The options of CORL that shape training; iterations that were asked for run to the end unless patience is too."""
    options = {name: value for name in TRAINING_OPTIONS if (value := getattr(model, name)) != "auto"}
    if "n_iterations" not in options and "patience" not in options:
        options["patience"] = PATIENCE_FROM_SCRATCH if start is None else PATIENCE
    return TrainingSettings(**options)


PaperName = Literal["corl-1", "corl-2"]
ProgramName = Literal["text", "authors"]


def paper_options(
    name: PaperName, nonlinear: bool, pretrained: str | Path | None, program: ProgramName = "text"
) -> Options:
    """Options of CORL as in the paper; :meth:`precede.CORL.paper` documents the arguments.

    Examples
    --------
    >>> paper_options("corl-2", nonlinear=False, pretrained=None)["gamma"]
    0.98
    """
    check_choice("name", name, ("corl-1", "corl-2"))
    check_choice("program", program, get_args(ProgramName))
    if program == "authors" and pretrained is not None:
        raise OptionError(
            f"program='authors' does not go with pretrained={str(pretrained)!r}: no policy was pretrained for their "
            "network. Leave one of them out."
        )
    told = tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8"))
    data = "nonlinear" if nonlinear else "linear"
    runs = ("all", name, data, *(("scratch", f"scratch-{data}") if pretrained is None else ()))
    options: Options = {"pretrained": pretrained}
    for source in dict.fromkeys(("text", program)):
        parts = [told[source].get(part, {}) for part in runs]
        details = {name: value for part in parts for name, value in part.pop("details", {}).items()}
        options |= {name: value for part in parts for name, value in part.items()} | {"details": Details(**details)}
    return options | ({"patience": None} if options["patience"] == "none" else {})
