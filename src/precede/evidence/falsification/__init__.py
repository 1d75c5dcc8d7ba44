"""Is the graph any good? Tests that a wrong one fails."""

from precede.evidence.falsification.held_out import HeldOut, held_out_likelihood
from precede.evidence.falsification.permutation import PermutationTest, permutation_test
from precede.evidence.falsification.placebo import Placebo, placebo_test

__all__ = ["HeldOut", "PermutationTest", "Placebo", "held_out_likelihood", "permutation_test", "placebo_test"]
