"""Batched Cholesky factors: of matrices that may be singular, and systems of equations by them."""

from __future__ import annotations

import torch
from torch import Tensor

JITTERS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
"""Added to the diagonal, one after the other, of a matrix that does not factorize; its diagonal is about 1."""


def jittered_cholesky(matrices: Tensor) -> Tensor:
    """Lower factors, (n, k, k); a matrix that is not positive definite gets the smallest jitter that makes it so.

    Only the lower triangles are read.

    Examples
    --------
    >>> jittered_cholesky(torch.ones(1, 2, 2, dtype=torch.float64)).round(decimals=4)
    tensor([[[1., 0.],
             [1., 0.]]], dtype=torch.float64)
    """
    factors: Tensor
    factors, failed = torch.linalg.cholesky_ex(matrices)
    eye = torch.eye(matrices.shape[-1], dtype=matrices.dtype, device=matrices.device)
    for jitter in JITTERS:
        again = failed.nonzero()[:, 0]
        if len(again) == 0:
            break
        factors[again], failed[again] = torch.linalg.cholesky_ex(matrices[again] + jitter * eye)
    return factors


WIDTH = 64
"""Columns that are factorized together on a GPU (``benchmarks/gp_score_device.py``)."""


def solve_positive(matrices: Tensor, targets: Tensor) -> Tensor:
    """Solutions X of A X = targets, (n, m, k); NaN where a matrix is not positive definite.

    Parameters
    ----------
    matrices : (n, m, m) tensor
        Only the lower triangles are read. A GPU overwrites them.
    targets : (n, m, k) tensor

    Examples
    --------
    >>> solve_positive(torch.tensor([[[4.0, 9.0], [2.0, 3.0]]]), torch.tensor([[[8.0], [8.0]]]))
    tensor([[[1.],
             [2.]]])
    """
    if matrices.device.type == "cuda":
        return solve_by_blocks(matrices, targets, WIDTH)
    factor, failed = torch.linalg.cholesky_ex(matrices)
    # two triangular solves: cholesky_solve does the same in twice the time on a CPU
    half = torch.linalg.solve_triangular(factor, targets, upper=False)
    solution: Tensor = torch.linalg.solve_triangular(factor.mT, half, upper=True)
    return solution.masked_fill_(failed[:, None, None] > 0, torch.nan)


def solve_by_blocks(matrices: Tensor, targets: Tensor, width: int) -> Tensor:
    """The same by a factorization in blocks of ``width`` columns, which takes the place of the lower triangles.

    All but the diagonal blocks is products of matrices, which a GPU's tensor cores do in float64; the factors of
    diagonal blocks are inverted, so that solving by them is a product too. The library's factors of many matrices of a
    thousand rows take three times as long.
    """
    m = matrices.shape[1]
    solution, inverses = targets.clone(), []
    starts = range(0, m, width)
    for a in starts:
        b = min(a + width, m)
        column, own = matrices[:, a:, a:b], solution[:, a:b]
        if a:  # what the columns before it leave of this one
            row = matrices[:, a:b, :a]
            column.baddbmm_(matrices[:, a:, :a], row.mT, alpha=-1)
            own.baddbmm_(row, solution[:, :a], alpha=-1)
        inverse = _inverse_factor(column[:, : b - a])
        own.copy_(inverse @ own)
        if b < m:
            panel = column[:, b - a :]
            panel.copy_(panel @ inverse.mT)
        inverses.append(inverse)
    for a, inverse in zip(reversed(starts), reversed(inverses), strict=True):
        b = min(a + width, m)
        own = solution[:, a:b]
        if b < m:
            own.baddbmm_(matrices[:, b:, a:b].mT, solution[:, b:], alpha=-1)
        own.copy_(inverse.mT @ own)
    return solution


def _inverse_factor(matrices: Tensor) -> Tensor:
    """Inverses of the lower Cholesky factors; NaN where there is no factor."""
    factor, failed = torch.linalg.cholesky_ex(matrices)
    factor.masked_fill_(failed[:, None, None] > 0, torch.nan)
    eye = torch.eye(matrices.shape[1], dtype=factor.dtype, device=factor.device)
    inverse: Tensor = torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False)
    return inverse
