"""How sure the result is: resampled data, and orders drawn from the policy."""

from precede.confidence.confidence import Confidence, FrequentGraph
from precede.confidence.orders import OrderSample
from precede.confidence.resampling import bootstrap

__all__ = ["Confidence", "FrequentGraph", "OrderSample", "bootstrap"]
