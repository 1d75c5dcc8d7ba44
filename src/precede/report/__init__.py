"""Results people can read and machines too: summarize to a dictionary, render to one HTML file."""

from precede.report.load import Results, load_results
from precede.report.provenance import Provenance
from precede.report.render import render_report
from precede.report.result_files import rebuild_report, write_report, write_results
from precede.report.summarize import Heading, summarize

__all__ = [
    "Heading",
    "Provenance",
    "Results",
    "load_results",
    "rebuild_report",
    "render_report",
    "summarize",
    "write_report",
    "write_results",
]
