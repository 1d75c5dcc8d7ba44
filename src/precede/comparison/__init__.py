"""Several graphs side by side: agreement, differences, consensus."""

from precede.comparison.compare import Comparison
from precede.comparison.fit import compare

__all__ = ["Comparison", "compare"]
