"""How sure the result is: resampled data, and orders drawn from the policy."""

from precede.evidence.confidence.confidence import Confidence, FrequentGraph, OrderSample
from precede.evidence.confidence.resampling import bootstrap

__all__ = ["Confidence", "FrequentGraph", "OrderSample", "bootstrap"]
