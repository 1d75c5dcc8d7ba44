"""What a score can price one move at a time: how local search asks for its terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from precede.arrays import BoolArray, FloatArray, IntArray

ParentSet = tuple[int, ...]


class Expansion(NamedTuple):
    """A parent set, and what one parent more or less would change.

    Parameters
    ----------
    score : float
    rivals : (n_rivals,) int array
        Variables whose addition may pay, in any sequence.
    gains : (n_rivals,) array
        What the score gains by each.
    losses : (n_parents,) array
        What it loses without each parent: below zero where it is better without; infinite where it is required.
    """

    score: float
    rivals: IntArray
    gains: FloatArray
    losses: FloatArray


@dataclass(frozen=True)
class ExpandedMoves:
    """A score that works out parent sets one by one.

    Parameters
    ----------
    expand : callable
        ``expand(variable, parents)``, parents ascending.
    required : (n_variables, n_variables) bool array
        ``[child, parent]``: parents that are in every set.
    """

    expand: Callable[[int, ParentSet], Expansion]
    required: BoolArray


@dataclass(frozen=True)
class CovarianceMoves:
    r"""Linear regressions: compiled code works out sets from the correlations, and the shape of what they leave.

    The score of v given S is :math:`\mathrm{offset}_v - \frac m2 \log \hat\sigma^2_{v \mid S} - |S| \, \mathrm{price}`,
    with the residual variance of the standardized v; and, where there are rows, what its shape is worth, which sets are
    not chosen by.

    Parameters
    ----------
    correlation : (n_variables, n_variables) array
    offset : (n_variables,) array
    n_samples : int
    price : float
    max_parents : int
    allowed, required : (n_variables, n_variables) bool arrays
        ``[child, parent]``.
    columns : (n_variables, n_rows) array
        Standardized; no rows where all noise is taken as Gaussian.
    shape_price : float
        Nats that a residual's shape must be worth to count.
    """

    correlation: FloatArray
    offset: FloatArray
    n_samples: int
    price: float
    max_parents: int
    allowed: BoolArray
    required: BoolArray
    columns: FloatArray
    shape_price: float


@dataclass(frozen=True)
class TableMoves:
    """A table of terms by the candidates that come before a variable.

    Parameters
    ----------
    table : (n_variables, 2^n_candidates) array
        ``[v, bits]``: term of v when the candidates of these bits come before it; NaN where it is not known yet.
    place : (n_variables, n_variables) int array
        ``[v, u]``: bit of u among the candidates of v, -1 where it is none.
    settle : callable
        ``settle(variable, bits)`` writes a missing entry.
    """

    table: FloatArray
    place: IntArray
    settle: Callable[[int, int], None]


@dataclass(frozen=True)
class VarianceMoves:
    """A score whose terms are residual variances of linear regressions on all predecessors, times a number.

    Parameters
    ----------
    covariance : (n_variables, n_variables) array
    weight : float
        Positive; the terms are minus this times the variances.
    """

    covariance: FloatArray
    weight: float


StateMoves = CovarianceMoves | ExpandedMoves | TableMoves
"""Those of parent sets (:mod:`precede.scores.parents`)."""

LocalMoves = StateMoves | VarianceMoves
