"""From a graph to numbers: effects, possible effects, effects over resampled graphs, and what-if questions."""

from precede.effects.attribution import Explanation, explain_change, explain_row
from precede.effects.intervention import EffectCurve, WhatIf, effect_curve, what_if
from precede.effects.linear import Effect, Question, path_effects
from precede.effects.outcome import Outcome, causes_of
from precede.effects.planning import NextSteps, next_steps
from precede.effects.possible import PossibleEffects, effect_of, possible_effects

__all__ = [
    "Effect",
    "EffectCurve",
    "Explanation",
    "NextSteps",
    "Outcome",
    "PossibleEffects",
    "Question",
    "WhatIf",
    "causes_of",
    "effect_curve",
    "effect_of",
    "explain_change",
    "explain_row",
    "next_steps",
    "path_effects",
    "possible_effects",
    "what_if",
]
