"""What each score takes for granted, by its name."""

from __future__ import annotations

from precede.scores.assumptions import Assumptions
from precede.scores.evidence import ASSUMED
from precede.scores.gp import GPScore
from precede.scores.levels import ASSUMED as ASSUMED_BY_KIND
from precede.scores.linear import LinearScore
from precede.scores.location_scale import ConditionalDensity
from precede.scores.quadratic import QuadraticScore
from precede.scores.sparse_linear import LinearAnyScore, NonGaussianScore, SparseLinearScore


def assumptions_of(name: str | None, noise: str = "auto") -> Assumptions:
    """Those of an unknown score or method claim nothing."""
    classes = (LinearScore, LinearAnyScore, NonGaussianScore, QuadraticScore, GPScore, SparseLinearScore)
    known = {cls.name: cls.assumes for cls in classes}
    known |= {"sparse-gp": ASSUMED["joint"], "sparse-gp-additive": ASSUMED["additive"]} | ASSUMED_BY_KIND
    known |= {"location-scale": ConditionalDensity.assumes}
    found = known.get((name or "").removesuffix("+policy"), Assumptions())
    return found.with_equal_variances() if noise == "equal" and name in known else found
