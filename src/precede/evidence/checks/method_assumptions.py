"""What the methods without a declared score take for granted."""

from __future__ import annotations

from typing import Literal

from precede.scores.assumptions import Assumptions

BY_METHOD: dict[str, Assumptions] = {
    "NOTEARS": Assumptions(
        "linear",
        True,
        "free",
        False,
        "Every variable is a weighted sum of its causes plus noise; directions come from the columns' variances, as if "
        "the noise had the same variance everywhere.",
    ),
    "NOTEARSMLP": Assumptions(
        "additive",
        True,
        "free",
        True,
        "Every variable is a curved function of its causes plus noise of the same variance everywhere.",
    ),
    "DAGGNN": Assumptions(
        "additive",
        True,
        "assumed",
        True,
        "Every variable is a function of its causes that a small network can fit, plus Gaussian noise of the same "
        "variance everywhere.",
    ),
    "GranDAG": Assumptions(
        "additive",
        False,
        "assumed",
        True,
        "Every variable is a curved function of its causes plus Gaussian noise.",
    ),
    "CAM": Assumptions(
        "additive",
        False,
        "assumed",
        True,
        "Every variable is a sum of smooth curves of its causes plus Gaussian noise.",
    ),
    "AStarLasso": Assumptions(
        "linear",
        True,
        "free",
        False,
        "Every variable is a weighted sum of few causes plus noise; directions come from the columns' variances.",
    ),
    "ICALiNGAM": Assumptions(
        "linear",
        False,
        "excluded",
        False,
        "Every variable is a weighted sum of its causes plus noise, and the noise is not Gaussian.",
    ),
    "DirectLiNGAM": Assumptions(
        "linear",
        False,
        "excluded",
        False,
        "Every variable is a weighted sum of its causes plus noise, and the noise is not Gaussian.",
    ),
    "EqVar": Assumptions(
        "linear",
        True,
        "free",
        False,
        "Every variable is a weighted sum of its causes plus noise, and the noise has the same variance everywhere.",
    ),
    "SortRegress": Assumptions(
        "linear",
        True,
        "free",
        False,
        "Causes have smaller variances than their effects: the order is the columns sorted by variance.",
    ),
    "R2SortRegress": Assumptions(
        "linear",
        False,
        "free",
        False,
        "Causes are predicted less well by the other columns than their effects are: the order is the columns sorted "
        "by R².",
    ),
    "RandomOrder": Assumptions(
        "linear",
        False,
        "free",
        False,
        "Nothing: the order is drawn at random, as a control. No direction in this graph means anything.",
        tells_directions=False,
    ),
}
"""What a method without a named score takes for granted, by the name of its class, where its options do not matter."""


def assumptions_of_method(name: str) -> Assumptions:
    """Assumptions of a method by the name of its class; those of an unknown one claim nothing.

    Examples
    --------
    >>> assumptions_of_method("DirectLiNGAM").gaussian
    'excluded'
    """
    return BY_METHOD.get(name, Assumptions())


def identified_under(assumptions: Assumptions) -> Literal["dag", "cpdag"]:
    """What can be told: linear Gaussian models of any variance, and models of levels, leave the class."""
    gaussian = assumptions.linear and assumptions.gaussian == "assumed" and not assumptions.equal_variances
    return "cpdag" if gaussian or assumptions.mechanism == "levels" else "dag"
