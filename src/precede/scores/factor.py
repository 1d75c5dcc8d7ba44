"""Batched Cholesky factors that survive singular matrices."""

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
