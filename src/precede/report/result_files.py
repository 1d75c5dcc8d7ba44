"""The machine-readable files of a result, each written whole or not at all."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from precede.data.load import Table
from precede.errors import OptionError, PrecedeError
from precede.estimator import CausalEstimator
from precede.evidence.confidence.confidence import pairs_of
from precede.evidence.sample import moments_to_json, sample_of
from precede.files import check_outputs, finish_swap, write_together
from precede.graph import CausalGraph
from precede.report.load import (
    CONFIDENCE_FILE,
    MARKS,
    MOMENTS_FILE,
    PAG_FILE,
    REPORT_FILE,
    RESAMPLED_FILE,
    SUMMARY_FILE,
    SUMMARY_GRAPH_FILE,
)
from precede.report.provenance import Provenance, versions
from precede.report.render import render_report
from precede.report.summarize import Heading, summarize
from precede.report.summary import Summary
from precede.strict_json import read_json, to_json


def write_results(
    folder: Path,
    model: CausalEstimator,
    table: Table,
    loading: Mapping[str, Any] | None = None,
    more: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the graph, the order, the history, the settings and the versions.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    model : CausalEstimator
        Fitted.
    table : Table
        What it was fitted to.
    loading : mapping, optional
        How it was read: options of :func:`precede.load_table`, which later questions take again.
    more : mapping of str, optional
        Further files that say something of the graph, by name.

    Returns
    -------
    files : list of Path
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"the folder {str(folder)!r} cannot be made: {error.strerror}.") from None
    check_outputs(folder, OUTPUTS, MARKS, {})
    texts = result_texts(model, table, loading) | dict(more or {})
    return write_together(folder, texts, remove=[name for name in ABOUT_THE_GRAPH if name not in texts])


OUTPUTS = (
    "adjacency.csv", "weights.csv", "order.txt", "graph.json", "graph.dot", MOMENTS_FILE, "history.csv", "result.json",
    CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE, PAG_FILE, SUMMARY_GRAPH_FILE, RESAMPLED_FILE,
)  # fmt: skip
"""All that a folder of results may hold."""

ABOUT_THE_GRAPH = (CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE, PAG_FILE, SUMMARY_GRAPH_FILE, RESAMPLED_FILE)
"""What an earlier result has said about its own graph goes with it."""


def result_texts(model: CausalEstimator, table: Table, loading: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The files of :func:`write_results`, by name; result.json says what was run, on what, with which versions."""
    graph = model.graph_
    sample = graph.sample or sample_of(table.values, table.kinds, table.targets, table.gaps)
    described = {
        "format": "precede-result",
        "version": 1,
        "method": type(model).__name__,
        "settings": model.get_params(deep=False),
        "data": {"rows": table.n_samples, "columns": list(map(str, table.names)), "remarks": table.remarks},
        "score": model.score_,
        "diagnostics": model.diagnostics_.to_dict(),
        "versions": versions(),
        "reading": dict(loading or {}),
    }
    more = {} if graph.lags is None else {SUMMARY_GRAPH_FILE: model.summary_graph_.to_csv()}
    if graph.pag is not None:
        more[PAG_FILE] = to_json({"edges": graph.pag.edge_list()}, indent=1) + "\n"
    if graph.resampled is not None:
        more[RESAMPLED_FILE] = to_json({"graphs": [pairs_of(pattern) for pattern in graph.resampled]}) + "\n"
    return more | {
        "adjacency.csv": graph.adjacency.to_csv(),
        "weights.csv": graph.weights.to_csv(),
        "order.txt": "".join(f"{one_line(name)}\n" for name in graph.order),
        "graph.json": graph.to_json(),
        "graph.dot": graph.to_dot() if graph.pag is None else graph.pag.to_dot(),
        MOMENTS_FILE: moments_to_json(sample, graph.names),
        "history.csv": model.history_.to_csv(index=False),
        "result.json": to_json(described, indent=1) + "\n",
    }


def one_line(name: Hashable) -> str:
    r"""A name on one line: as it is, or as JSON text where it has line breaks or starts with a quotation mark.

    Examples
    --------
    >>> print(one_line("dose"), one_line("dose\nin mg"))
    dose "dose\nin mg"
    """
    text = str(name)
    return to_json(text) if text[:1] == '"' or len(text.splitlines()) > 1 or text.endswith(("\n", "\r")) else text


def write_report(
    folder: Path,
    model: CausalEstimator,
    table: Table,
    truth: CausalGraph | None = None,
    confidence: Any = None,
    heading: Heading | None = None,
    provenance: Provenance | None = None,
) -> list[Path]:
    """Write ``summary.json`` and ``report.html`` into a folder that is there; each whole or not at all.

    Parameters
    ----------
    folder : Path
    model, table, truth, confidence, heading, provenance
        As for :func:`precede.report.summarize.summarize`.

    Returns
    -------
    files : list of Path
    """
    check_outputs(folder, (SUMMARY_FILE, REPORT_FILE), MARKS, {})
    return write_together(folder, summary_texts(summarize(model, table, truth, confidence, heading, provenance)))


def summary_texts(summary: Summary) -> dict[str, str]:
    """The files of :func:`write_report`, by name."""
    return {SUMMARY_FILE: to_json(summary) + "\n", REPORT_FILE: render_report(summary)}


def rebuild_report(folder: Path, title: str | None = None, note: str | None = None) -> Path:
    """Write ``report.html`` again from the folder's ``summary.json``.

    Parameters
    ----------
    folder : Path
    title, note : str, optional
        In place of those of the summary, in which they are kept.

    Raises
    ------
    OptionError
        When there is no such file, or it is not a summary.
    """
    source = folder / SUMMARY_FILE
    finish_swap(folder)
    try:
        summary = read_json(source)
    except (FileNotFoundError, NotADirectoryError):
        raise OptionError(
            f"{str(folder)!r} has no {SUMMARY_FILE}: 'precede discover data.csv --out {folder.name}' writes one."
        ) from None
    given = {name: text for name, text in (("title", title), ("note", note)) if text is not None}
    if isinstance(summary, dict):
        summary |= given
    try:
        page = render_report(summary)
    except PrecedeError as error:
        raise OptionError(f"{str(source)!r}: {error}") from None
    edited = {SUMMARY_FILE: to_json(summary) + "\n"} if given else {}
    write_together(folder, {**edited, REPORT_FILE: page})
    return folder / REPORT_FILE
