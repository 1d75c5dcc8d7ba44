"""The old name of :mod:`precede.baselines`."""

from precede.lazy import moved

moved(__name__, "precede.baselines")
