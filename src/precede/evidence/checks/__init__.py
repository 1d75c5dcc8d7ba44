"""Say what the data can tell: each check is a number and one plain sentence."""

from typing import Any

from precede.errors import renamed
from precede.evidence.checks.all_checks import diagnose
from precede.evidence.checks.chance import Chance, compare_with_chance
from precede.evidence.checks.context import CheckContext
from precede.evidence.checks.record import Check, Diagnostics, EdgeDiagnostics, Level, Remark

__all__ = [
    "Chance",
    "Check",
    "CheckContext",
    "Diagnostics",
    "EdgeDiagnostics",
    "Level",
    "Remark",
    "compare_with_chance",
    "diagnose",
]


def __getattr__(name: str) -> Any:
    new = {"EdgeReading": "EdgeDiagnostics", "Learned": "CheckContext"}.get(name)
    if new is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    renamed(f"{__name__}.{name}", new)
    return globals()[new]
