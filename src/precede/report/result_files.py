"""The machine-readable files of a result, each written whole or not at all."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from precede.data.load import Table
from precede.errors import OptionError
from precede.estimator import CausalEstimator
from precede.evidence.sample import moments_to_json, sample_of
from precede.files import check_outputs, write_together
from precede.report.load import CONFIDENCE_FILE, MARKS, MOMENTS_FILE, REPORT_FILE, SUMMARY_FILE
from precede.report.provenance import versions
from precede.strict_json import JsonObject, plain, to_json


def write_results(folder: Path, model: CausalEstimator, table: Table) -> list[Path]:
    """Write the graph, the order, the history, the settings and the versions.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    model : CausalEstimator
        Fitted.
    table : Table
        What it was fitted to.

    Returns
    -------
    files : list of Path
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"the folder {str(folder)!r} cannot be made: {error.strerror}.") from None
    check_outputs(folder, OUTPUTS, MARKS, {})
    return write_together(folder, result_texts(model, table), remove=ABOUT_THE_GRAPH)


OUTPUTS = (
    "adjacency.csv", "weights.csv", "order.txt", "graph.json", "graph.dot", MOMENTS_FILE, "history.csv", "result.json",
    CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE,
)  # fmt: skip
"""All that a folder of results may hold."""

ABOUT_THE_GRAPH = (CONFIDENCE_FILE, SUMMARY_FILE, REPORT_FILE)
"""What an earlier result has said about its own graph goes with it."""


def result_texts(model: CausalEstimator, table: Table) -> dict[str, str]:
    """The files of :func:`write_results`, by name."""
    graph = model.graph_
    sample = graph.sample or sample_of(table.values, table.kinds, table.targets, table.gaps)
    return {
        "adjacency.csv": graph.adjacency.to_csv(),
        "weights.csv": graph.weights.to_csv(),
        "order.txt": "".join(f"{one_line(name)}\n" for name in graph.order),
        "graph.json": graph.to_json(),
        "graph.dot": graph.to_dot(),
        MOMENTS_FILE: moments_to_json(sample, graph.names),
        "history.csv": model.history_.to_csv(index=False),
        "result.json": to_json(describe_result(model, table), indent=1) + "\n",
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


def describe_result(model: CausalEstimator, table: Table) -> JsonObject:
    """What was run, on what, with which versions; the content of result.json."""
    return {
        "format": "precede-result",
        "version": 1,
        "method": type(model).__name__,
        "settings": plain(model.get_params(deep=False)),
        "data": {
            "rows": table.n_samples,
            "columns": [str(name) for name in table.names],
            "remarks": list(table.remarks),
        },
        "score": plain(model.score_),
        "diagnostics": model.diagnostics_.to_dict(),
        "versions": versions(),
    }
