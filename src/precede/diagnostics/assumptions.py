"""What each score takes for granted, in a form that checks can read and in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MechanismKind = Literal["linear", "additive"]
GaussianNoise = Literal["assumed", "excluded", "free"]


@dataclass(frozen=True)
class Assumptions:
    """What a method takes for granted about the data.

    Parameters
    ----------
    mechanism : "linear" or "additive"
        How effects depend on their causes: weighted sums, or curves. Checks fit curves as sums of splines.
    equal_variances : bool
        Whether the noise of every variable has the same variance; then the result depends on the columns' scales.
    gaussian : "assumed", "excluded" or "free"
        Whether the noise must be Gaussian, must not be, or may be anything.
    nonlinear_needed : bool
        Whether directions are told apart by curvature alone.
    words : str
        The same in a sentence for the reader of a report.
    """

    mechanism: MechanismKind
    equal_variances: bool
    gaussian: GaussianNoise
    nonlinear_needed: bool
    words: str


BY_SCORE: dict[str, Assumptions] = {
    "linear": Assumptions(
        "linear",
        True,
        "free",
        False,
        "Every variable is a weighted sum of its causes plus noise, and the noise has the same variance everywhere.",
    ),
    "nongaussian": Assumptions(
        "linear",
        False,
        "excluded",
        False,
        "Every variable is a weighted sum of its causes plus noise, and the noise is not Gaussian.",
    ),
    "sparse-linear": Assumptions(
        "linear",
        False,
        "assumed",
        False,
        "Every variable is a weighted sum of few causes plus Gaussian noise of any variance.",
    ),
    "quadratic": Assumptions(
        "additive",
        False,
        "assumed",
        True,
        "Every variable is a quadratic function of its causes plus Gaussian noise.",
    ),
    "gp": Assumptions(
        "additive",
        False,
        "assumed",
        True,
        "Every variable is a smooth, curved function of its causes plus Gaussian noise.",
    ),
    "sparse-gp": Assumptions(
        "additive",
        False,
        "assumed",
        True,
        "Every variable is a smooth, curved function of few causes plus Gaussian noise.",
    ),
    "sparse-gp-additive": Assumptions(
        "additive",
        False,
        "assumed",
        True,
        "Every variable is a sum of smooth curves of few causes plus Gaussian noise.",
    ),
}

UNKNOWN = Assumptions(
    "linear",
    False,
    "free",
    False,
    "The method's own assumptions hold; the checks below look at linear fits of each variable on its causes.",
)


def assumptions_of(score: str | None, noise: str = "auto") -> Assumptions:
    """Assumptions of a score by name; those of an unknown score or method claim nothing.

    Examples
    --------
    >>> assumptions_of("gp").mechanism, assumptions_of("gp", noise="equal").equal_variances
    ('additive', True)
    """
    known = BY_SCORE.get(score or "", UNKNOWN)
    if noise != "equal" or known.equal_variances or known is UNKNOWN:
        return known
    words = known.words.removesuffix(".") + ", of the same variance everywhere."
    return Assumptions(known.mechanism, True, known.gaussian, known.nonlinear_needed, words)
