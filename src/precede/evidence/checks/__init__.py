"""Say what the data can tell: each check is a number and one plain sentence."""

from precede.evidence.checks.all_checks import diagnose
from precede.evidence.checks.context import CheckContext
from precede.evidence.checks.record import Check, Diagnostics, EdgeDiagnostics, Remark
from precede.evidence.checks.result_checks import Chance, compare_with_chance

__all__ = [
    "Chance",
    "Check",
    "CheckContext",
    "Diagnostics",
    "EdgeDiagnostics",
    "Remark",
    "compare_with_chance",
    "diagnose",
]
