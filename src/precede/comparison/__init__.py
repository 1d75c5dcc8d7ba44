"""Several graphs side by side: agreement, differences, consensus."""

from precede.comparison.compare import Comparison, compare

__all__ = ["Comparison", "compare"]
