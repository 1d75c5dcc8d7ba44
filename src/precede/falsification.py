"""The old name of :mod:`precede.evidence.falsification`."""

from precede.lazy import moved

moved(__name__, "precede.evidence.falsification")
