"""How sure the result is: resampled data, and orders drawn from the policy."""

from precede.confidence.orders import OrderSample
from precede.confidence.resampling import bootstrap
from precede.confidence.summary import Confidence, FrequentGraph

__all__ = ["Confidence", "FrequentGraph", "OrderSample", "bootstrap"]
