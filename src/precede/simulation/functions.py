r"""Random functions of the parents: one form for all, drawn anew for every variable of every task.

.. math:: f(x) = \sum_k a_k\, \varphi(w_k^\top x + b_k),

with an activation :math:`\varphi` (identity: linear; cosine with many terms: a Gaussian process; tanh, steps, hinges,
squares, bumps: networks, thresholds, trees of depth one, quadratic forms, basis functions). The projections
:math:`w_k` see all parents, or each a single one, which makes f additive; a product of two such sums is an interaction.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from precede.simulation.draws import Draws, select, unit_rows

TERMS = 32
"""Terms of a function, of which some or all are used."""

ACTIVATIONS = {
    "identity": 3.0,
    "cosine": 2.5,
    "tanh": 3.5,
    "step": 1.0,
    "hinge": 1.5,
    "square": 0.7,
    "bump": 0.7,
}
"""Activations and how often each is drawn."""

ADDITIVE_SHARE = 0.5
PRODUCT_SHARE = 0.12
POSITIVE_SHARE = 0.25
"""Share of the tasks in which every effect has the same sign, as abilities and sizes have."""

WEAKEST = 0.3
"""Smallest weight of a parent beside a largest of one."""


def activate(kinds: Tensor, u: Tensor) -> Tensor:
    """Activations of projections (batch, terms, n_samples), by the kind of each task (batch,)."""
    made = [u, u.cos(), u.tanh(), u.sign(), u.relu(), u.square(), (-u.square()).exp()]
    return select(kinds[:, None, None], made)


class RandomFunctions:
    """Functions of the variables' parents, evaluated in causal order.

    Parameters
    ----------
    batch, n_variables : int
    draws : Draws
    n_terms : int
        Most terms of a function.
    """

    def __init__(self, batch: int, n_variables: int, draws: Draws, n_terms: int = TERMS) -> None:
        self.draws, self.n_terms = draws, n_terms
        shape = (batch, n_variables)
        self.kinds = draws.kinds(batch, n_variables, ACTIVATIONS)
        self.additive = torch.where(
            draws.chance((batch, 1), 0.5), draws.chance((batch, 1), ADDITIVE_SHARE), draws.chance(shape, ADDITIVE_SHARE)
        )
        self.product = draws.chance(shape, PRODUCT_SHARE)
        self.used = draws.log_uniform(shape, 1.0, 2.0 * n_terms).clamp_max(n_terms)
        self.bandwidth = draws.log_uniform((batch, 1), 0.4, 2.5) * draws.log_uniform(shape, 0.7, 1.4)
        self.positive = draws.chance((batch, 1, 1), POSITIVE_SHARE)

    def at(self, t: int, x: Tensor, parents: Tensor) -> Tensor:
        """Signal of the t-th variable.

        Parameters
        ----------
        x : (batch, n_inputs, n_samples) tensor
            Standardized values of what it may depend on: the variables before, and its noise where that is inside.
        parents : (batch, n_inputs) bool tensor
            Which of them it does depend on.

        Returns
        -------
        signal : (batch, n_samples) tensor
            Standardized; zero without parents.
        """
        batch = len(x)
        draws, terms = self.draws, self.n_terms
        kinds, additive = self.kinds[:, t], self.additive[:, t]
        n_parents = parents.sum(1).clamp_min(1)
        inputs = self._projections(t, parents, n_parents, additive)
        spread = torch.where(kinds == 1, math.pi, 1.0)  # a phase for cosines, a place within the data for the others
        places = draws.uniform((batch, terms, 1), -1.0, 1.0) * spread[:, None, None]
        places = torch.where((kinds == 0)[:, None, None], 0.0, places)
        features = activate(kinds, torch.baddbmm(places, inputs, x))
        needed = torch.where(additive, n_parents.float(), 1.0)  # so that no parent is left out
        used = torch.maximum(self.used[:, t], needed)[:, None]
        number = torch.arange(terms, device=x.device)
        weights = draws.either_sign((batch, terms), WEAKEST, 1.0)
        weights = torch.where(self.positive[:, 0], weights.abs(), weights)
        weights = weights * (number < used)
        half = (number % 2 == 0).float()
        whole = (weights[:, None] @ features)[:, 0]
        first = ((weights * half)[:, None] @ features)[:, 0]
        product = unit_rows(first) * unit_rows(whole - first)
        signal = torch.where((self.product[:, t] & (used[:, 0] > 1))[:, None], product + 0.5 * unit_rows(whole), whole)
        return unit_rows(signal) * parents.any(1)[:, None]

    def _projections(self, t: int, parents: Tensor, n_parents: Tensor, additive: Tensor) -> Tensor:
        """Weights (batch, terms, n_inputs) of the parents in every term."""
        draws, (batch, n_inputs) = self.draws, parents.shape
        weights = draws.either_sign((batch, self.n_terms, n_inputs), WEAKEST, 1.0)
        weights = torch.where(self.positive, weights.abs(), weights) * parents[:, None, :]
        # the k-th term of an additive function sees the parent whose number is k, modulo their number
        rank = parents.cumsum(1) - 1
        turn = torch.arange(self.n_terms, device=parents.device)[None, :] % n_parents[:, None]
        one = (rank[:, None, :] == turn[:, :, None]) & parents[:, None, :]
        # sinusoids, thresholds and networks of several parents keep the spread of one
        scale = self.bandwidth[:, t, None, None] * 1.5
        joint = weights * scale * torch.rsqrt(n_parents.float())[:, None, None]
        return torch.where(additive[:, None, None], one * scale * weights.sign(), joint)
