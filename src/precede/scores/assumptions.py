"""What a score or a method takes for granted, in a form that checks can read and in plain words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

MechanismKind = Literal["linear", "additive", "levels", "any"]
GaussianNoise = Literal["assumed", "excluded", "free"]
UNSAID = "The method's own assumptions hold; the checks below look at linear fits of each variable on its causes."


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
        The same in a sentence for the reader of a report; made of the others where ``form`` says what a variable is.
    hidden_causes : bool
        Whether common causes may be missing from the table.
    tells_directions : bool
        Whether the directions of a result mean anything; those of a random order do not.
    form : str
        What every variable is but for noise, as in "a weighted sum of its causes".

    Examples
    --------
    >>> Assumptions("additive", words="Curves plus noise.").with_equal_variances().words
    'Curves plus noise, of the same variance everywhere.'
    >>> Assumptions("linear", gaussian="assumed", form="a weighted sum of few causes").words
    'Every variable is a weighted sum of few causes plus Gaussian noise of any variance.'
    """

    mechanism: MechanismKind = "any"
    equal_variances: bool = False
    gaussian: GaussianNoise = "free"
    nonlinear_needed: bool = False
    words: str = ""
    hidden_causes: bool = False
    tells_directions: bool = True
    form: str = ""

    def __post_init__(self) -> None:
        if not self.words:
            noise = "Gaussian noise" if self.gaussian == "assumed" else "noise"
            noise += " of the same variance everywhere" if self.equal_variances else " of any variance" * self.linear
            noise += ", and the noise is not Gaussian" * (self.gaussian == "excluded")
            noise += ": directions come from the columns' variances" * (self.linear and self.equal_variances)
            object.__setattr__(self, "words", f"Every variable is {self.form} plus {noise}." if self.form else UNSAID)

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
        words = "" if self.form else self.words.removesuffix(".") + ", of the same variance everywhere."
        return replace(self, equal_variances=True, words=words)
