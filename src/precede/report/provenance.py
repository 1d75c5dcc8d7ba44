"""Where a result comes from, and the code that gives it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

import numpy as np

from precede.estimator import CausalEstimator
from precede.knowledge import Knowledge

SILENT = {"verbose", "checkpoint", "resume", "tensorboard", "diagnose"}
"""Options that do not change a result."""


@dataclass(frozen=True)
class Provenance:
    """When, from which file and by which command a result was made; whatever is known.

    Parameters
    ----------
    date : str
    file : str, optional
        The data, as it was named.
    command : str, optional
        The command line.
    loading : mapping
        How the file was read: the options of :func:`precede.load_table` that were given.
    """

    date: str
    file: str | None = None
    command: str | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def now(
        cls, file: str | None = None, command: str | None = None, loading: Mapping[str, Any] | None = None
    ) -> Provenance:
        """With the date and time of this moment, in UTC."""
        return cls(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), file, command, dict(loading or {}))


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    import torch

    import precede

    return {
        "precede": precede.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": version("scipy"),
    }


def code_for(model: CausalEstimator, file: str | None = None, loading: Mapping[str, Any] | None = None) -> str | None:
    """Python that makes the same estimator and fits it; None where an option is an object without a spelling.

    Parameters
    ----------
    model : CausalEstimator
    file : str, optional
        "sachs" is the bundled data; without a name, and for "-", the data is called ``data``.
    loading : mapping, optional
        Options of :func:`precede.load_table` that were given.

    Examples
    --------
    >>> from precede.baselines import DirectLiNGAM
    >>> print(code_for(DirectLiNGAM(threshold=0.2), "data.csv"))
    import precede
    <BLANKLINE>
    model = precede.baselines.DirectLiNGAM(threshold=0.2)
    model.fit('data.csv')
    """
    texts = {name: _spelling(value) for name, value in model.changed_options().items() if name not in SILENT}
    if None in texts.values():
        return None
    spelled = [f"{name}={text}" for name, text in texts.items()]
    made = f"model = {_import_path(type(model))}({', '.join(spelled)})"
    if len(made) > 100:
        made = f"model = {_import_path(type(model))}(\n" + "".join(f"    {item},\n" for item in spelled) + ")"
    data = "precede.load_sachs().data" if file == "sachs" else "data" if file in (None, "-") else repr(file)
    return f"import precede\n\n{made}\nmodel.fit({code_for_loading(data, loading) if loading else data})"


def code_for_loading(source: str, loading: Mapping[str, Any]) -> str:
    """Python that reads a table; ``source`` is Python too.

    Examples
    --------
    >>> print(code_for_loading("'data.csv'", {"leave_out": ["id"], "lags": 1}))
    precede.load_table('data.csv', leave_out=['id'], lags=1)
    """
    return f"precede.load_table({', '.join([source, *(f'{name}={value!r}' for name, value in loading.items())])})"


def _import_path(cls: type) -> str:
    for place in ("precede", "precede.baselines"):
        module = __import__(place, fromlist=["_"])
        if getattr(module, cls.__name__, None) is cls:
            return f"{place}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__qualname__}"


def _spelling(value: Any) -> str | None:
    """Python text of an option."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PurePath):
        return repr(str(value))
    if isinstance(value, Knowledge):
        return f"precede.{value!r}"
    return repr(value) if value is None or isinstance(value, str | bool | int | float | list | tuple | dict) else None
