"""The old name of :mod:`precede.evidence.checks`."""

from precede.lazy import moved

moved(__name__, "precede.evidence.checks")
