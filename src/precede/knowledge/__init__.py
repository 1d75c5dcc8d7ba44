"""Background knowledge: what the user says, and what a search makes of it."""

from precede.knowledge.constraints import Constraints
from precede.knowledge.knowledge import Knowledge, constraints_over

__all__ = ["Constraints", "Knowledge", "constraints_over"]
