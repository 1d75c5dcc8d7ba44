"""A sample of orders, and how often each variable precedes each other one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.lazy import pandas as pd


def precedence_shares(orders: IntArray, weights: FloatArray | None = None) -> FloatArray:
    r"""Share of orders in which i comes before j: :math:`\sum_k w_k [\,i <_k j\,]`.

    Parameters
    ----------
    orders : (n_orders, n_variables) int array
        Causes first.
    weights : (n_orders,) float array, optional
        Sum to 1; alike when left out.

    Examples
    --------
    >>> precedence_shares(np.array([[0, 1], [0, 1], [1, 0], [0, 1]]))
    array([[0.  , 0.75],
           [0.25, 0.  ]])
    """
    n, d = orders.shape
    shares = np.zeros((d, d))
    for k, position in enumerate(np.argsort(orders, axis=1)):
        shares += (position[:, None] < position[None, :]) * (1.0 if weights is None else weights[k])
    return shares / n if weights is None else shares


@dataclass(frozen=True, eq=False)
class OrderSample:
    """Orders drawn from a trained policy.

    Parameters
    ----------
    names : tuple
        The variables.
    orders : (n_orders, n_variables) int array
        Columns, causes first.
    log_probabilities : (n_orders,) float array
        Of each order under the policy.
    scores : (n_orders,) float array
    """

    names: tuple[Hashable, ...]
    orders: IntArray
    log_probabilities: FloatArray
    scores: FloatArray

    def weights(self) -> FloatArray:
        r"""Importance weights :math:`w_k \propto \exp(\mathrm{score}_k) / \pi(\mathrm{order}_k)`, summing to 1.

        They turn draws from the policy into an estimate under the distribution whose log-density is the score (up to a
        constant), which for the BIC-like scores approximates the posterior of the order under a uniform prior.
        """
        logits = self.scores - self.log_probabilities
        raw = np.exp(logits - logits.max())
        weights: FloatArray = raw / raw.sum()
        return weights

    def effective_size(self) -> float:
        r"""Number of equally weighted draws that the weighted ones are worth, :math:`1 / \sum_k w_k^2`.

        Near 1, a single order outweighs all the others and the weighted probabilities are its own.
        """
        return float(1 / np.square(self.weights()).sum())

    def order_probability(self, weighted: bool = False) -> pd.DataFrame:
        """``[i, j]``: probability that i precedes j.

        Parameters
        ----------
        weighted : bool
            False counts every draw alike: what the policy believes. True weighs the draws by :meth:`weights`: look at
            :meth:`effective_size` before trusting it.
        """
        shares = precedence_shares(self.orders, self.weights() if weighted else None)
        return pd.DataFrame(shares, index=list(self.names), columns=list(self.names))
