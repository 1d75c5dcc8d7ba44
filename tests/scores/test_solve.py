"""Systems of equations as the GP score needs them, by the ways of a GPU too."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from precede.scores.gp import GPScore
from precede.scores.predecessors import solve_by_blocks, solve_positive


def kernels(n: int, m: int) -> torch.Tensor:
    points = torch.from_numpy(np.random.default_rng(0).normal(size=(n, m, 3)))
    return torch.exp(-(torch.cdist(points, points) ** 2)) + torch.eye(m, dtype=torch.float64)


@pytest.mark.parametrize("width", [64, 37, 16, 1])
def test_blocks_solve_what_the_library_solves(width: int) -> None:
    matrices = kernels(3, 37)
    targets = torch.from_numpy(np.random.default_rng(1).normal(size=(3, 37, 4)))
    expected = torch.linalg.solve(matrices, targets)
    lower = matrices.tril() + torch.full((37, 37), 1e300, dtype=torch.float64).triu(1)  # never read
    torch.testing.assert_close(solve_positive(lower.clone(), targets), expected, rtol=1e-12, atol=1e-14)
    lower = matrices.tril() + torch.ones(37, 37, dtype=torch.float64).triu(1)
    torch.testing.assert_close(solve_by_blocks(lower, targets, width), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("row", [0, 8, 19])
def test_matrices_that_are_not_positive_definite_are_told(row: int) -> None:
    matrices, targets = kernels(3, 20), torch.ones(3, 20, 2, dtype=torch.float64)
    matrices[1, row, row] = -1.0
    for found in (solve_positive(matrices.clone(), targets), solve_by_blocks(matrices.clone(), targets, 8)):
        assert found.isnan().flatten(1).any(1).tolist() == [False, True, False]
        assert found[1].isnan().any(0).all()


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("m", [100, 460])
def test_a_gpu_has_the_same_variances(m: int) -> None:
    rng = np.random.default_rng(3)
    values, members = rng.normal(size=(m, 6)), rng.random((20, 6)) < 0.5
    found = [GPScore(values, device=device).residual_variances(members) for device in ("cpu", "cuda")]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10)
