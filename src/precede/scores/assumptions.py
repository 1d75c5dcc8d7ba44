"""What a score or a method takes for granted, in a form that checks can read and in plain words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

MechanismKind = Literal["linear", "additive", "levels", "any"]
GaussianNoise = Literal["assumed", "excluded", "free"]


@dataclass(frozen=True)
class Assumptions:
    """What a method takes for granted about the data; the defaults claim nothing.

    Parameters
    ----------
    mechanism : "linear", "additive", "levels" or "any"
        How effects depend on their causes: weighted sums, curves (checks fit them as sums of splines), by the levels of
        columns (residuals then have no shape to check), or not said.
    equal_variances : bool
        Whether the noise of every variable has the same variance; then the result depends on the columns' scales.
    gaussian : "assumed", "excluded" or "free"
        Whether the noise must be Gaussian, must not be, or may be anything.
    nonlinear_needed : bool
        Whether directions are told apart by curvature alone.
    words : str
        The same in a sentence for the reader of a report.
    hidden_causes : bool
        Whether common causes may be missing from the table.
    tells_directions : bool
        Whether the directions of a result mean anything; those of a random order do not.

    Examples
    --------
    >>> Assumptions("additive", words="Curves plus noise.").with_equal_variances().words
    'Curves plus noise, of the same variance everywhere.'
    """

    mechanism: MechanismKind = "any"
    equal_variances: bool = False
    gaussian: GaussianNoise = "free"
    nonlinear_needed: bool = False
    words: str = (
        "The method's own assumptions hold; the checks below look at linear fits of each variable on its causes."
    )
    hidden_causes: bool = False
    tells_directions: bool = True

    @property
    def linear(self) -> bool:
        """Whether effects are weighted sums of their causes, so that edges have linear weights."""
        return self.mechanism == "linear"

    @property
    def identifies(self) -> Literal["dag", "cpdag"]:
        """What can be told: linear Gaussian models of any variance, and models of levels, leave the class."""
        gaussian = self.linear and self.gaussian == "assumed" and not self.equal_variances
        return "cpdag" if gaussian or self.mechanism == "levels" else "dag"

    def with_equal_variances(self) -> Assumptions:
        """The same, and equal noise variances."""
        if self.equal_variances:
            return self
        words = self.words.removesuffix(".") + ", of the same variance everywhere."
        return replace(self, equal_variances=True, words=words)
