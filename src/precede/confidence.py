"""The old name of :mod:`precede.evidence.confidence`."""

from precede.lazy import moved

moved(__name__, "precede.evidence.confidence")
