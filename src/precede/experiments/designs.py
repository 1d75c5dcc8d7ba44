"""Every table and figure of the paper as an :class:`~precede.experiments.cells.Experiment`, from ``designs.toml``.

The data is the paper's (Appendix B.2): five data sets per cell, 3000 samples of linear data. "corl-1" and "corl-2" are
the paper's methods (:meth:`precede.CORL.paper`). For nonlinear data "corl-2-raw" is the second on columns that are not
standardized, "corl-2-fixed" the same with rows that are not drawn anew, "corl-gp" our search with the paper's score and
pruning. "corl" is the default of this package with the score that fits the data. "rl-bic2" has the settings of its
authors' program, "rl-bic2-edge" is our default, which gives each edge its own credit. Every linear table has the
controls: greedy choice of the smallest conditional variance ("eqvar"), sorting by variance ("sort-regress"), and a
random order ("random").
"""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from precede.baselines import rl_bic2
from precede.errors import check_choice
from precede.experiments.cells import Data, Experiment, Method
from precede.options import Options


def _plain(told: Any) -> Any:
    """What TOML has no word for: None, and lists that stay as they are."""
    if isinstance(told, dict):
        return {name: _plain(value) for name, value in told.items()}
    return tuple(map(_plain, told)) if isinstance(told, list) else None if told == "none" else told


TOLD = _plain(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))


def rows(*given: str) -> tuple[Method, ...]:
    """Rows of a table, by key or method; ``corl:SCORE`` is our default with that score.

    Examples
    --------
    >>> [(row.name, row.options) for row in rows("a-star-lasso corl:linear", "random-cam")]
    [('a-star-lasso', {'queue_size': 1000, 'widen': True}), ('corl', {'score': 'linear'}), ('random-cam', {})]
    """
    return tuple(_row(word) for one in given for word in one.split())


def _row(key: str) -> Method:
    name, _, score = key.partition(":")
    told: Options = {"options": {"score": score}} if score else dict(TOLD["rows"].get(key, {}))
    base = _row(told.pop("like")) if "like" in told else Method(told.get("name", name), told.get("estimator", name))
    options = dict(base.options)
    for settings in told.pop("settings", ()):
        options |= getattr(rl_bic2, settings)
    beside = base.beside or (None if told.get("name", base.name) == base.name else base.name)
    return replace(base, **{"beside": beside, "options": options | told.pop("options", {})} | told)


def _data(told: Options) -> Iterator[Data]:
    """The product of what is listed, each named by its own values."""
    for values in product(*(value if isinstance(value, tuple) else (value,) for value in told.values())):
        one = dict(zip(told, values, strict=True))
        yield Data(**one | {"name": one["name"].format(**one)})


def _experiment(told: Options) -> Experiment:
    notes = tuple(TOLD["notes"][note] for note in told.get("notes", ()))
    return Experiment(**told | {"data": tuple(_data(told["data"])), "methods": rows(told["methods"]), "notes": notes})


EXPERIMENTS: dict[str, Experiment] = {told["name"]: _experiment(told) for told in TOLD["experiment"]}
"""Every table and figure, by name, as ``designs.toml`` has them."""


def experiment_named(name: str) -> Experiment:
    """Look up an experiment.

    Examples
    --------
    >>> experiment_named("sachs").source
    'Section 5.3, text'
    """
    check_choice("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]
