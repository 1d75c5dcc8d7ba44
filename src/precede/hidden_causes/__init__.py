"""Causes that are not in the data: where to suspect them."""

from precede.hidden_causes.suspicion import HiddenCauses, hidden_causes

__all__ = ["HiddenCauses", "hidden_causes"]
