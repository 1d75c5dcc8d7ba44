"""The report as files: ``summary.json``, which holds everything it shows, and ``report.html`` made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from precede.data.load import Table
from precede.errors import OptionError, PrecedeError
from precede.estimator import CausalEstimator
from precede.files import check_outputs, finish_swap, write_together
from precede.graph import CausalGraph
from precede.report.load import MARKS, REPORT_FILE, SUMMARY_FILE
from precede.report.provenance import Provenance
from precede.report.render import render_report
from precede.report.summarize import Heading, summarize
from precede.report.summary import Summary
from precede.strict_json import read_json, to_json


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
    return write_summary(folder, summarize(model, table, truth, confidence, heading, provenance))


def write_summary(folder: Path, summary: Summary) -> list[Path]:
    """Write a summary and the page made from it."""
    check_outputs(folder, (SUMMARY_FILE, REPORT_FILE), MARKS, {})
    return write_together(folder, summary_texts(summary))


def summary_texts(summary: Summary) -> dict[str, str]:
    """The files of :func:`write_summary`, by name."""
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
