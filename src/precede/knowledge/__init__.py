"""Background knowledge: what the user says, and what a search makes of it."""

from precede.knowledge.knowledge import Constraints, Knowledge, constraints_over

__all__ = ["Constraints", "Knowledge", "constraints_over"]
