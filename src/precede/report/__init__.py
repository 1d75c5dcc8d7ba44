"""Results people can read and machines too: summarise to a dictionary, render to one HTML file."""

from precede.report.folder import write_results
from precede.report.load import Results, load_results
from precede.report.render import render_report
from precede.report.summarize import summarize
from precede.report.write import rebuild_report, write_report

__all__ = [
    "Results",
    "load_results",
    "rebuild_report",
    "render_report",
    "summarize",
    "write_report",
    "write_results",
]
