"""From signs to a probability: constants fitted to simulations by ``benchmarks/hidden_causes_calibrate.py``."""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.hidden_causes.signs import NAMES

FAINT = 1.2
"""Where the evidence of the residuals stops to count as faint: p-values of about .005."""

PRODUCTS = (
    ("faint", "nearby"), ("curved", "curved"), ("alike", "alike"), ("alike", "curved"), ("alike", "common"),
    ("curved", "common"), ("common", "common"),
)  # fmt: skip

Case = tuple[str, str]
CALIBRATION: dict[Case, tuple[float, ...]] = {
    ("known", "apart"): (
        -7.881, 1.400, -0.237, -0.356, 0.526, 1.350, -0.054, 1.147, 1.178, 0.475, -0.487, -0.060,
        -0.311, -0.039, -0.052, -0.032, -0.069, -0.154, -1.237,
    ),
    ("known", "joined"): (
        -4.585, 0.146, 0.060, -0.127, 0.055, -0.514, 0.255, 2.060, 0.473, -0.248, -0.194, 0.793,
        -0.527, 0.020, -0.066, 0.048, -0.112, 0.310, -3.022,
    ),
    ("learned", "apart"): (
        -6.991, 0.298, -0.258, -0.291, 0.787, 1.018, 0.088, 0.693, 0.745, 0.448, -0.273, 0.656,
        -0.629, -0.045, -0.113, -0.045, 0.353, 0.016, -0.324,
    ),
    ("learned", "joined"): (
        -0.405, 0.120, 0.011, -0.163, 1.890, 0.002, -0.175, 0.487, 0.143, -1.294, 0.438, 0.621,
        -0.433, 0.091, -0.029, -0.217, 0.007, 0.467, -1.091,
    ),
}  # fmt: skip
"""Intercept of the log odds and weights of the :func:`terms`; for learned and for known graphs, pairs without and with
an edge."""

HIGHEST: dict[Case, float] = {
    ("known", "apart"): 0.99,
    ("known", "joined"): 0.56,
    ("learned", "apart"): 0.33,
    ("learned", "joined"): 0.52,
}
"""Highest probability that is stated: of pairs that the log odds put there or above, as many have a hidden cause."""


def terms(signs: FloatArray) -> FloatArray:
    """One, the signs, the evidence of the residuals as far as it is faint, and products.

    Parameters
    ----------
    signs : (n_signs, ...) float array

    Returns
    -------
    terms : (n_terms, ...) float array
    """
    named = dict(zip(NAMES, signs, strict=True))
    named["faint"] = np.minimum(named["residuals"], FAINT)
    products = [named[one] * named[other] for one, other in PRODUCTS]
    return np.stack([np.ones_like(signs[0]), *named.values(), *products])


def probabilities(signs: FloatArray, joined: BoolArray, *, learned: bool) -> FloatArray:
    """Probability that each pair shares a cause that is not in the data.

    Parameters
    ----------
    signs : (n_signs, n_variables, n_variables) float array
        As :func:`precede.hidden_causes.signs.signs` gives them.
    joined : (n_variables, n_variables) bool array
        Pairs with an edge.
    learned : bool
        Whether the graph was learned.
    """
    told, graph = terms(signs), "learned" if learned else "known"
    found = np.empty(joined.shape)
    for pair, chosen in (("apart", ~joined), ("joined", joined)):
        log_odds = np.tensordot(CALIBRATION[graph, pair], told[:, chosen], axes=1)
        found[chosen] = np.minimum(1 / (1 + np.exp(-log_odds)), HIGHEST[graph, pair])
    return found
