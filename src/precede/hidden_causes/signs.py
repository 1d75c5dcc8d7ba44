"""What speaks for or against a hidden common cause of each pair.

A learned graph hides the cause: it mostly joins the pair with an edge, along which the residuals no longer depend, and
where it lacks an edge or has it the wrong way, residuals depend without one. So they are not asked alone, but beside
what third variables tell, how the values themselves depend, and how well the graph fits elsewhere.
"""

from __future__ import annotations

import numpy as np

from precede.arrays import BoolArray, FloatArray
from precede.hidden_causes.residual_dependence import polynomial_squares
from precede.hidden_causes.triples import not_a_cause, shared_information

FEWEST_ROWS, MOST_ROWS = 300, 1000
"""Rows of the simulations that the signs are weighed by. More rows count as this many, known more exactly: a weak trace
in many rows is more often a curve that does not fit than a hidden cause."""

USUAL_PAIRS = 91
"""Pairs of a graph of those simulations, with 14 variables."""

DEPENDENT = 3.0
"""Negative decadic logarithm of the p-value from which residuals count as dependent."""

NAMES = ("residuals", "neither", "either", "alike", "common", "elsewhere", "nearby", "straight", "curved", "rows")


def signs(rows: FloatArray, edges: BoolArray, residuals: FloatArray, p_values: FloatArray) -> FloatArray:
    """All signs, each growing with the logarithm of what it counts.

    Parameters
    ----------
    rows : (n_samples, n_variables) float array
    edges : (n_variables, n_variables) bool array
    residuals : (n_samples, n_variables) float array
        As :func:`~precede.hidden_causes.residual_dependence.residuals` gives them.
    p_values : (n_variables, n_variables) float array
        Of these, by :func:`~precede.hidden_causes.residual_dependence.dependence`.

    Returns
    -------
    signs : (10, n_variables, n_variables) float array
        As in ``NAMES``: evidence that the residuals depend; that neither causes the other, by third variables, and how
        much more that one does not; dependence of the normal scores of the pair; variables that the graph joins with
        both; dependent residuals of other pairs without an edge, in the whole graph and of one of the two; straight
        dependence of the residuals; dependence of the values along curves; the number of rows.
    """
    m, d = rows.shape
    counted = min(m, MOST_ROWS)
    decades = -np.log10(np.maximum(p_values, 1e-300)) * (counted / m)
    against = np.log1p(not_a_cause(rows) * (counted / m))
    neither = np.minimum(against, against.T)  # transposed: the other way
    either = np.maximum(against, against.T) - neither
    links = edges | edges.T  # transposed: a pair, whichever way
    joint = links.astype(np.float64)
    dependent = (decades > DEPENDENT) & ~links & ~np.eye(d, dtype=bool)
    of_each = dependent.sum(axis=0)
    wider = max(1.0, d * (d - 1) / 2 / USUAL_PAIRS)  # so that a wide table does not look worse for its width
    found = [
        np.log1p(decades),
        neither,
        either,
        np.log1p(counted * shared_information(rows)),
        np.log1p(joint @ joint),
        np.log1p((dependent.sum() / 2 - dependent) / wider),
        np.log1p((of_each[:, None] + of_each - 2 * dependent) / np.sqrt(wider)),
        np.log1p(counted * polynomial_squares(residuals)[:, :, 0, 0]),
        np.log1p(counted * polynomial_squares(rows - rows.mean(axis=0)).sum(axis=(2, 3))),
        np.full((d, d), np.log(max(counted, FEWEST_ROWS) / MOST_ROWS)),
    ]
    return np.stack(found)
