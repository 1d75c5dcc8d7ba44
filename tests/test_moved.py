"""Old names of packages still lead to what they held, with a warning."""

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("diagnostics", "diagnose"),
        ("confidence", "bootstrap"),
        ("falsification", "permutation_test"),
        ("constraint", "PC"),
    ],
)
def test_an_old_name_warns_and_works(old: str, name: str) -> None:
    sys.modules.pop(f"precede.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"precede.{old} is now precede"):
        module = importlib.import_module(f"precede.{old}")
    assert callable(getattr(module, name))


@pytest.mark.parametrize(("old", "new"), [("EdgeReading", "EdgeDiagnostics"), ("Learned", "CheckContext")])
def test_an_old_name_of_a_record_warns_and_works(old: str, new: str) -> None:
    checks = importlib.import_module("precede.evidence.checks")
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        assert getattr(checks, old) is getattr(checks, new)
    with pytest.raises(AttributeError, match="no attribute 'Lerned'"):
        checks.Lerned  # noqa: B018
