"""A pretrained policy's opinion of the edges, added to a score's local terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from precede.arrays import FloatArray
from precede.scores.moves import ParentSet
from precede.scores.parent_sets import ColumnScore

WEIGHT = 40.0
"""Nats of the data that one nat of the policy is worth. A score's own nats are too sure of themselves, since no model
is right. Chosen on simulated families, half of which the policy was never trained on (``docs/results/real``):
from 25 to 100 the distance to the truth hardly changes."""

UNLIKELY = 0.005
"""Probabilities are taken as at least this: a policy may be wrong about anything."""


@dataclass(frozen=True)
class PolicyEvidence:
    """What a policy says of the edges, and what that counts.

    Parameters
    ----------
    edges : (n_variables, n_variables) array
        ``[i, j]``: probability of i -> j; with ``[j, i]`` it sums to at most one.
    weight : float
        Nats of the data that one nat of the policy is worth.
    """

    edges: FloatArray
    weight: float = WEIGHT

    def log_odds(self) -> FloatArray:
        """Log-odds of i -> j against no edge at all, ``[i, j]``; zero on the diagonal.

        Examples
        --------
        >>> PolicyEvidence(np.array([[0, 0.6], [0.1, 0]])).log_odds().round(2).tolist()
        [[0.0, 0.69], [-1.1, 0.0]]
        """
        none = np.clip(1 - self.edges - self.edges.T, UNLIKELY, 1)  # transposed: neither direction
        odds = np.log(np.clip(self.edges, UNLIKELY, 1)) - np.log(none)
        np.fill_diagonal(odds, 0.0)
        return np.asarray(odds)


class InformedScore:
    r"""A local score plus what a policy says of the edges.

    .. math:: \mathrm{local}(v, S) + w \sum_{u \in S} \log \frac{P(u \to v)}{P(\text{no edge between } u, v)}

    Of a pair that is in the order u, v, an edge may lead from u to v or there is none; an edge that the policy sees the
    other way round is lost with this order. So orders are told apart as well, and every search, exact or not, with
    knowledge or without, works on the sum.

    Parameters
    ----------
    local : ColumnScore
    policy : PolicyEvidence
    """

    def __init__(self, local: ColumnScore, policy: PolicyEvidence) -> None:
        self.local = local
        self.name, self.assumes = f"{local.name}+policy", local.assumes
        self.n_samples, self.n_variables, self.columns = local.n_samples, local.n_variables, local.columns
        self.sets_at_once = int(getattr(local, "sets_at_once", 16))
        self.notes = [
            *getattr(local, "notes", []),
            f"The score is the fit to the data plus the pretrained policy's log-odds of the edges, weighted × "
            f"{policy.weight:g}.",
        ]
        self._worth = policy.weight * policy.log_odds()

    def of_sets(self, sets: Sequence[ParentSet]) -> FloatArray:
        """Score of every variable given each set, (n_sets, n_variables); NaN for the members of the set."""
        said = np.stack([self._worth[list(members)].sum(axis=0) for members in sets])
        return np.asarray(self.local.of_sets(sets) + said)


def informed(local: ColumnScore, policy: PolicyEvidence | None) -> ColumnScore:
    """The local score with a policy's evidence, where there is some that counts."""
    return local if policy is None or policy.weight == 0 else InformedScore(local, policy)
