"""Say what the data can tell: each check is a number and one plain sentence."""

from precede.diagnostics.all_checks import diagnose
from precede.diagnostics.chance import Chance, compare_with_chance
from precede.diagnostics.check import Check, Level
from precede.diagnostics.learned import Learned
from precede.diagnostics.record import Diagnostics, EdgeReading, Remark

__all__ = [
    "Chance",
    "Check",
    "Diagnostics",
    "EdgeReading",
    "Learned",
    "Level",
    "Remark",
    "compare_with_chance",
    "diagnose",
]
