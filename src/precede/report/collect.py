"""A fitted model as one plain dictionary, ready for JSON: all that a report shows, and the code that gives it again."""

from __future__ import annotations

import platform
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import PurePath
from typing import Any, cast

import numpy as np
import pandas as pd

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.load import Table
from precede.data.table import evenly_spaced
from precede.effects.linear import Question
from precede.effects.outcome import Outcome
from precede.effects.possible import effect_of, possible_effects
from precede.errors import OptionError, PrecedeError
from precede.estimator import CausalEstimator
from precede.evidence.checks import Chance, Diagnostics, EdgeDiagnostics, Remark, compare_with_chance
from precede.evidence.checks.edge_readings import ends, rounded
from precede.evidence.checks.record import SOURCE_WORDS, EdgePlot, Level, NodePlot, unchecked_edges
from precede.evidence.checks.stability import with_shares
from precede.evidence.confidence import Confidence
from precede.graph import CausalGraph
from precede.graph.component import mark_of
from precede.graph.dags import full_dag
from precede.kinds import ColumnKind
from precede.knowledge import Knowledge
from precede.metrics import aligned, evaluate
from precede.pruning.gam import prune_by_gam
from precede.report import summary as shape
from precede.report import words
from precede.report.summary import Summary
from precede.strict_json import plain

FORMAT, VERSION = "precede-summary", 5

MOST_BARS = 12
"""Levels whose names fit below bars."""

CURVE_RECORDS = 300
"""Iterations that the learning curve keeps."""


@dataclass(frozen=True)
class Heading:
    """What the top of a report says in its owner's words, and what it may show.

    Parameters
    ----------
    title : str, optional
        Name of the data.
    note : str, optional
        A paragraph of your own.
    rows : bool
        Whether plots show single rows of the data, up to 200 and all values far out; False shows densities instead
        (``docs/decisions/007-no-rows-in-reports.md``).
    outcome : name, optional
        The variable whose causes come first.
    """

    title: str | None = None
    note: str | None = None
    rows: bool = False
    outcome: Hashable = None


def summarize(
    model: CausalEstimator,
    table: Table,
    truth: CausalGraph | None = None,
    confidence: Any = None,
    heading: Heading | None = None,
    provenance: Provenance | None = None,
) -> Summary:
    """Collect what a report shows; all of it was found by the fit.

    Parameters
    ----------
    model : CausalEstimator
        Fitted to ``table``.
    table : Table
    truth : CausalGraph, optional
        A reference graph over the same variables, to compare with.
    confidence : Confidence, DataFrame or (n_variables, n_variables) array, optional
        What ``model.bootstrap`` found, or the probability of each edge, ``[i, j]`` for i -> j; an array is in the
        column order of the data. It takes the place of the quick resampling of the fit.
    heading : Heading, optional
    provenance : Provenance, optional
        The present moment when left out.

    Returns
    -------
    summary : dict
        Lists, numbers, strings and None only. ``render_report`` turns it into a page.
    """
    heading, provenance = heading or Heading(), provenance or Provenance.now()
    known, evaluation = with_confidence(model, table, confidence), None
    if truth is not None:
        evaluation, against = _evaluation(model.graph_, truth, table, known)
        level: Level = "warning" if against.no_better else "fine" if against.beatable else "note"
        remark = Remark(against.warning or against.sentence, level, "better than chance")
        known = replace(known, remarks=(remark, *known.remarks))
    identifies = str(known["identifies"])
    bootstrapped, outcome = confidence if isinstance(confidence, Confidence) else None, None
    if heading.outcome is not None:
        outcome = outcome_entry(model.graph_, model.causes_of(heading.outcome, bootstrapped))
    summary = {
        "format": FORMAT,
        "version": VERSION,
        "title": heading.title or "the data",
        "note": heading.note,
        "provenance": asdict(provenance),
        "method": type(model).__name__,
        "score_name": known.get("score"),
        "score": model.score_,
        "identifies": identifies,
        "linear": known.assumptions.linear,
        "data": {"rows": table.n_samples, "columns": [str(name) for name in table.names]},
        "remarks": known.remarks,
        "checked": known.checked,
        "checks": known.checks,
        "assumed": words.assumed_words(known, model.get_params(deep=False).get("knowledge"), table),
        "found": [*words.searched_words(known), *words.found_words(model.graph_, known.edges)],
        "sure": words.sure_words(known, bootstrapped),
        "unknown": words.unknown_words(known, identifies),
        "nodes": _nodes(model.graph_, table, known.plots and known.plots[1], heading.rows),
        "edges": _edges(model.graph_, known, heading.rows),
        "order": model.graph_.positions,
        "outcome": outcome,
        "shared_causes": [{"first": i, "second": j} for i, j in model.graph_.shared_causes],
        "has_confidence": known.has_confidence,
        "resamples": known.resamples,
        "rows_shown": heading.rows,
        "learning": _learning(model),
        "evaluation": evaluation,
        "settings": model.get_params(deep=False),
        "versions": versions(),
        "reproduce": code_for(model, provenance.file, provenance.loading),
    }
    result: Summary = plain(summary)
    return result


def outcome_entry(graph: CausalGraph, found: Outcome) -> shape.OutcomeEntry:
    """The causes of an outcome, as pages show them."""
    kept = shape.OutcomeCauseEntry.__annotations__
    causes = [{name: cause[name] for name in kept} for cause in found.to_dict()["causes"]]
    return {
        "place": graph.position(found.name),
        "causes": [cast(shape.OutcomeCauseEntry, {**cause, "variable": str(cause["variable"])}) for cause in causes],
        "correlated": [{"variable": str(name), "correlation": round(value, 3)} for name, value in found.correlated],
    }


def with_confidence(model: CausalEstimator, table: Table, confidence: Any = None) -> Diagnostics:
    """The diagnostics of a fit, with the confidence of a bootstrap, by column position, where there is one."""
    if confidence is None:
        return model.diagnostics_
    matrix = getattr(confidence, "edge_probability", confidence)
    if isinstance(matrix, pd.DataFrame):
        matrix = matrix.loc[list(table.names), list(table.names)]
    shares = np.asarray(matrix, dtype=float)
    if shares.shape != (table.n_variables, table.n_variables):
        raise OptionError(f"confidence has shape {shares.shape}, but the data has {table.n_variables} variables.")
    counted = (confidence.n_resamples, confidence.remarks) if isinstance(confidence, Confidence) else (0, ())
    return with_shares(model.diagnostics_, model.graph_.edges, shares, table.names, *counted)


DIGITS = {"weight": 6, "strength": 4, "partial_r2": 3, "confidence": 3, "connected": 3, "policy_probability": 3}
"""Of an edge, as many as are shown."""

NO_PLOT = EdgePlot(slope=None, curve=None, points=None, extremes=None, density=None, extent=None, outside=0)
NO_NODE = NodePlot(values=None, grid=None, histogram=None, range=None)


def _edges(graph: CausalGraph, known: Diagnostics, rows: bool) -> list[shape.EdgeEntry]:
    """Every edge with what is known of it and its plot, in causal order."""
    edges, curved = known.edges or unchecked_edges(graph), words.curved_effects(known)
    totals = total_effects(graph, known.edges) or [None] * len(edges)
    plots = known.plots[0] if known.plots is not None and known.edges else [NO_PLOT] * len(edges)
    hidden = ("density", "extent", "outside") if rows else ("points", "extremes")
    result = []
    for edge, total, plot in zip(edges, totals, plots, strict=True):
        bent = str(graph.names[edge.effect]) in curved
        entry = {
            **asdict(edge),
            **{name: rounded(getattr(edge, name), digits) for name, digits in DIGITS.items()},
            "direction": SOURCE_WORDS[edge.source],
            "belief": words.belief_words(edge, None if total is None else total["value"], bent),
            "total": total,
            **plot,
            **{name: value for name, value in NO_PLOT.items() if name in hidden},
        }
        if graph.pag is not None:
            entry["mark"] = mark_of(graph, *edge.place, None)
        result.append(cast(shape.EdgeEntry, entry))
    return result


def _nodes(graph: CausalGraph, table: Table, plots: Sequence[NodePlot] | None, rows: bool) -> list[shape.NodeEntry]:
    place = np.argsort(graph.positions)
    entries: list[shape.NodeEntry] = []
    for k, name in enumerate(graph.names):
        values, numeric = table.values[:, k], table.kinds[k].name != "categorical"
        plot = NO_NODE if plots is None else plots[k]
        entries.append(
            {
                "name": str(name),
                "place": int(place[k]) + 1,
                "causes": int(graph.edges[:, k].sum()),
                "effects": int(graph.edges[k].sum()),
                "mean": rounded(values.mean(), 5) if numeric else None,
                "sd": rounded(values.std(), 5) if numeric else None,
                **plot,
                "values": plot["values"] if rows else None,
                "levels": _levels(table.kinds[k], values),
            }
        )
    return entries


def _levels(kind: ColumnKind, column: FloatArray) -> shape.LevelsEntry | None:
    """The levels of a column where they are few enough to be named under their bars."""
    if not kind.discrete or kind.n_levels > MOST_BARS:
        return None
    counts = [int((column == level).sum()) for level in kind.levels]
    return {"labels": list(kind.labels), "values": list(kind.levels), "counts": counts}


def _learning(model: CausalEstimator) -> shape.LearningEntry | None:
    """The best and the mean score by iteration, where the method keeps them."""
    history: pd.DataFrame = model.history_
    if not {"iteration", "best_score"} <= set(history.columns) or len(history) < 2:
        return None
    kept = history.iloc[evenly_spaced(len(history), CURVE_RECORDS)]
    search = model.diagnostics_.get("search", {})
    return {
        "iteration": kept["iteration"].to_list(),
        "best": kept["best_score"].to_list(),
        "mean": kept["mean_score"].to_list() if "mean_score" in kept else None,
        "final": model.score_,
        "greedy": search.get("greedy_score"),
    }


def _evaluation(
    graph: CausalGraph, truth: CausalGraph, table: Table, known: Diagnostics
) -> tuple[shape.EvaluationEntry, Chance]:
    """Agreement with a reference graph, and what chance would reach."""
    prune = None
    if known.assumptions.mechanism == "additive":

        def prune(order: IntArray) -> BoolArray:
            return prune_by_gam(table.values, full_dag(order), test="f").edges

    true = aligned(truth, graph)[0].edges  # in the column order of the data
    n_random = 100 if graph.n_variables <= 20 else 40
    chance = compare_with_chance(true, table.values, graph.edges, prune=prune, n_random=n_random)
    against = {**asdict(chance), "sentence": chance.sentence, "no_better": chance.no_better}
    return {"metrics": evaluate(graph, truth).to_dict(), "chance": cast(shape.ChanceEntry, against)}, chance


def total_effects(graph: CausalGraph, readings: tuple[EdgeDiagnostics, ...]) -> list[shape.TotalEntry | None]:
    """Change of the effect per unit of the cause, along all paths, for each edge.

    Parameters
    ----------
    graph : CausalGraph
        With the data that it was learned from.
    readings : tuple of EdgeDiagnostics

    Returns
    -------
    effects : list of dict or None
        ``value`` with the ends of its 95% interval, ``low`` and ``high``. Where the direction is open, ``value``
        is None, and the ends are the least and the largest effect in all equivalent graphs. None where no number tells
        it: for columns of words, too few rows, or a graph without data.
    """
    result: list[shape.TotalEntry | None] = []
    for edge in readings:
        total: shape.TotalEntry | None = None
        with suppress(PrecedeError):
            asked = Question(graph, graph.names[edge.cause], graph.names[edge.effect])
            found = (asked.answer() if graph.pag is None else effect_of(asked)) if edge.directed else None
            low, high = possible_effects(asked).range if found is None else found.interval
            if np.isfinite([low, high]).all():
                low, high = ends((low, high))
                total = {"value": None if found is None else rounded(found.value, 4), "low": low, "high": high}
        result.append(total)
    return result


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
