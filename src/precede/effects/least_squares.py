"""The one regression behind every effect: columns on columns, with errors that hold for noise of uneven size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.graph.sample import Sample
from precede.scores.covariance import regularized


@dataclass(frozen=True, eq=False)
class LeastSquares:
    r"""A target regressed on columns, from moments, or from rows.

    Parameters
    ----------
    weights : (n_columns,) float array
    freedom : int
        Degrees of freedom.
    n_rows : int
    inverse, spread : (n_columns, n_columns) float arrays
        Inverse and covariance of the columns.
    residual : float
        Variance that is left of the target.
    rows : (n_rows, n_columns) float array, optional
        Centered; all, or some of them.
    errors : (n_rows,) float array, optional
        Residuals of the rows, each divided by one less its leverage.
    """

    weights: FloatArray
    freedom: int
    n_rows: int
    inverse: FloatArray
    spread: FloatArray
    residual: float
    rows: FloatArray | None = None
    errors: FloatArray | None = None

    @classmethod
    def of(
        cls, moments: Sample, columns: IntArray, target: FloatArray, n_rows: int, rows: FloatArray | None = None
    ) -> LeastSquares:
        """From moments; the target is a sum of their columns, with these weights.

        With rows (all, or some of them) the errors are HC3's (MacKinnon and White 1985).

        Examples
        --------
        >>> x, noise = np.arange(6.0), np.array([0.1, -0.2, 0.1, 0.1, -0.2, 0.1])
        >>> rows = np.column_stack([x, 2 * x + noise])
        >>> moments = Sample(6, rows.mean(axis=0), np.cov(rows.T, bias=True))
        >>> found = LeastSquares.of(moments, np.array([0]), np.array([0.0, 1.0]), 6, rows)
        >>> found.weights.round(2), round(found.standard_error(np.ones(1)), 4)
        (array([2.]), 0.0548)
        """
        matrix = moments.covariance
        spread = regularized(matrix[np.ix_(columns, columns)])
        inverse = np.asarray(np.linalg.inv(spread), dtype=np.float64)
        cross = matrix[columns] @ target
        weights = inverse @ cross
        residual = max(float(target @ matrix @ target - cross @ weights), 0.0)
        own = errors = None
        if rows is not None:
            own = rows[:, columns] - moments.mean[columns]
            leverage = (1 + np.einsum("ij,ij->i", own @ inverse, own)) / n_rows
            errors = ((rows - moments.mean) @ target - own @ weights) / np.maximum(1 - leverage, 1e-3)
        return cls(weights, n_rows - len(columns) - 1, n_rows, inverse, spread, residual, own, errors)

    def standard_error(self, slopes: FloatArray, mean: float = 0.0, shift: FloatArray | None = None) -> float:
        """Of ``slopes @ weights + mean * (mean of the noise) + shift @ (means of the columns)``."""
        shift = np.zeros(len(slopes)) if shift is None else shift
        if self.rows is None or self.errors is None:
            noise = self.residual * (mean**2 + slopes @ self.inverse @ slopes) / self.freedom
            return float(np.sqrt(noise + shift @ self.spread @ shift / self.n_rows))
        pulls = self.errors * (mean + self.rows @ (self.inverse @ slopes)) + self.rows @ shift
        return float(np.sqrt(np.mean(pulls**2) / self.n_rows))
