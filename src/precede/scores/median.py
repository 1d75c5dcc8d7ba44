"""Medians of many long rows."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

LONG = 100_000
"""Numbers in a row from which on rounding is worth its steps on a GPU (``benchmarks/gp_score_device.py``)."""


def lower_median(rows: Tensor) -> Tensor:
    """Median of each row, the lower of the middle two.

    Examples
    --------
    >>> lower_median(torch.tensor([[3.0, 1.0, 2.0, 4.0]]))
    tensor([2.])
    """
    if rows.device.type == "cuda":
        return rows.median(dim=1).values if rows.shape[1] < LONG else median_by_rounding(rows)
    middle = (rows.shape[1] - 1) // 2
    # NumPy's partial sort is several times faster on a CPU
    return torch.from_numpy(np.partition(rows.numpy(), middle, axis=1)[:, middle].copy())


def median_by_rounding(rows: Tensor) -> Tensor:
    """The same by the median of numbers rounded to 16 bits, then the right one of those that are rounded to it.

    A GPU selects by passes over two bits each, 32 passes over float64 and 8 over bfloat16; rounding keeps the sequence.
    """
    rounded = rows.to(torch.bfloat16)
    near = rounded.median(dim=1).values[:, None]
    place = (rows.shape[1] - 1) // 2 - (rounded < near).sum(1)
    row, column = (rounded == near).nonzero(as_tuple=True)
    first = torch.searchsorted(row, torch.arange(len(rows) + 1, device=rows.device))
    # every row's ties with so many minus infinities before them that all have the one sought at the same place
    last = int(place.max())
    lead = last - place
    ties = lead[:, None] > torch.arange(int((lead + first.diff()).max()), device=rows.device)
    ties = torch.where(ties, -torch.inf, torch.inf).to(rows.dtype)
    ties[row, torch.arange(len(row), device=rows.device) - (first[:-1] - lead)[row]] = rows[row, column]
    return ties.kthvalue(last + 1, dim=1).values
