"""Do two variables look as if they shared a cause that is not in the data?"""

from __future__ import annotations

from precede.diagnostics.check import Check
from precede.diagnostics.learned import Learned
from precede.effects.sample import sample_of
from precede.hidden_causes import hidden_causes

HIDDEN_CAUSES = "hidden common causes"


def check_hidden_causes(learned: Learned) -> Check:
    """Name the pairs; ``details["pairs"]`` holds what a report draws as dashed, double-headed lines."""
    found = hidden_causes(learned.graph, sample_of(learned.values))
    return Check(HIDDEN_CAUSES, float(len(found.suspects())), found.sentence, "note", found.to_dict())  # no all-clear
