"""Checks of a numeric table: size, missing values, constant and collinear columns.

Everything is done by blocks of rows, so a large table costs little extra memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from precede.arrays import FloatArray
from precede.errors import DataError, joined, listed
from precede.kinds import ColumnKind
from precede.lazy import linalg, special
from precede.lazy import pandas as pd

Names = tuple[Hashable, ...]

BLOCK_VALUES = 2**19
LARGEST, SMALLEST = 1e50, 1e-50  # beyond these, products of a few variances leave the range of floats
SUSPICIOUS = 1e-10
"""Share of variance left by the other columns below which collinearity is looked into."""
COLLINEAR = 1e-7
"""Relative size of the residuals (not squared) at which a column counts as an exact combination."""


def check_column_names(names: Names) -> None:
    """Refuse duplicate names."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"more than one column is named {listed(twice)}: give every column its own name.")


FEWEST_WIDE_ROWS = 40
"""Rows from which on there may be as many columns as rows, or more."""


def check_size(values: FloatArray, names: Names, circumstance: str) -> None:
    """Refuse tables without rows, with one variable, or with few rows and no fewer columns."""
    m, d = values.shape
    if m == 0 or d == 0:
        raise DataError(f"the data has {m} rows and {d} columns{circumstance}: there is nothing to learn from.")
    if d == 1:
        raise DataError(f"the data has only one variable, {names[0]!r}: a causal graph needs at least two.")
    if m <= d and m < FEWEST_WIDE_ROWS:
        raise DataError(
            f"the data has {m} rows for {d} variables{circumstance}: it needs more rows than columns, "
            f"or at least {FEWEST_WIDE_ROWS} rows, so add samples or leave out columns."
        )


def row_blocks(values: FloatArray) -> Iterator[FloatArray]:
    """Consecutive blocks of rows, as views."""
    step = max(1, BLOCK_VALUES // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        yield values[start : start + step]


def check_values(values: FloatArray, names: Names, kinds: Sequence[ColumnKind] | None = None) -> None:
    """Refuse constant and exactly collinear columns, whatever their scales; categories are never collinear."""
    problems = value_problems(values, names)
    if problems:
        raise DataError(problems[0])
    numbers = [k for k in range(len(names)) if kinds is None or kinds[k].name != "categorical"]
    tied = tied_columns(values, numbers, kinds)
    if tied:
        raise DataError(f"column {relation_words(values, tied[0], names)}: leave one of them out.")


def tied_columns(
    values: FloatArray, columns: Sequence[int], kinds: Sequence[ColumnKind] | None = None
) -> list[list[int]]:
    """Columns that are copies or exact linear combinations of others; of codes for levels only copies.

    Of two columns of words that say the same the labels may differ.

    Examples
    --------
    >>> kind = ColumnKind("categorical", (0.0, 1.0, 2.0), tuple("abc"))
    >>> tied_columns(np.array([[0.0, 2.0], [1.0, 0.0], [2.0, 1.0], [0.0, 2.0]]), range(2), [kind, kind])
    [[0, 1]]
    """
    words = [k for k in columns if kinds is not None and kinds[k].name == "categorical"]
    numbers = [k for k in columns if k not in words]
    tied = [[numbers[k] for k in group] for group in exact_relations(values, numbers)] if len(numbers) > 1 else []
    tied = [group for group in tied if len(group) == 2 or kinds is None or not any(kinds[k].discrete for k in group)]
    seen: dict[bytes, int] = {}
    for k in words:
        same = seen.setdefault(pd.factorize(values[:, k])[0].tobytes(), k)  # levels are counted as they appear
        if same != k:
            tied.append([same, k])
    return tied


def relation_words(values: FloatArray, tied: list[int], names: Names, kinds: Sequence[ColumnKind] | None = None) -> str:
    """What the last of some columns is to the others."""
    *others, last = tied
    if kinds is not None and kinds[last].name == "categorical":
        return f"{names[last]!r} says the same as {names[others[0]]!r}"
    same = len(others) == 1 and np.array_equal(values[:, others[0]], values[:, last])
    what = "a copy" if same else "an exact linear function" if len(others) == 1 else "an exact linear combination"
    return f"{names[last]!r} is {what} of {listed((names[j] for j in others), 10)}"


def extremes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest value of each column; missing ones do not count, NaN where all are missing."""
    low = np.fmin.reduce([np.fmin.reduce(block, axis=0) for block in row_blocks(values)])
    high = np.fmax.reduce([np.fmax.reduce(block, axis=0) for block in row_blocks(values)])
    return low, high


def value_problems(values: FloatArray, names: Names) -> list[str]:
    """A sentence each about infinite values, sizes that nothing can be computed with, and constant columns."""
    if not values.size:
        return []
    low, high = extremes(values)
    size = np.maximum(np.abs(low), np.abs(high))
    finite = np.isfinite(size)
    problems = []
    if np.isinf(size).any():
        n_infinite = sum(int(np.isinf(block).sum()) for block in row_blocks(values))
        where = listed(names[k] for k in np.flatnonzero(np.isinf(size)))
        problems.append(
            f"{n_infinite} of the {values.size} values are infinite, in column {where}: replace them, or make them "
            "missing (NaN)."
        )
    empty = [names[int(k)] for k in np.flatnonzero(np.isnan(size))]
    if empty:
        problems.append(f"every value of {listed(empty)} is missing: leave it out.")
    out = np.flatnonzero((finite & (size > LARGEST)) | ((size > 0) & (size < SMALLEST)))
    if len(out):
        k = int(out[0])
        problems.append(f"column {names[k]!r} has values of size {size[k]:.0e}, out of range: give it another unit.")
    with np.errstate(invalid="ignore"):
        constant = np.flatnonzero(finite & (high - low <= 4 * np.finfo(float).eps * size))
    if len(constant) == 1:
        k = int(constant[0])
        problems.append(f"column {names[k]!r} is constant (every value is {low[k]:g}): leave it out.")
    elif len(constant):
        problems.append(f"columns {listed((names[k] for k in constant), 20)} are constant: leave them out.")
    return problems


def exact_relations(values: FloatArray, columns: list[int]) -> list[list[int]]:
    """Columns that a linear relation ties exactly, the last of each given by the others; none of them is constant.

    They are counted by their places among ``columns``.

    Pivoted Cholesky of the correlations, then a look at the residuals of what it suspects.

    Correlations alone cannot tell an exact combination from a very good one (a share of variance below 1e-10 drowns
    in rounding), while residuals can.
    """
    low, high = extremes(values)
    mean = (np.sum([block.sum(axis=0) for block in row_blocks(values)], axis=0) / len(values))[columns]
    spread = (high - low)[columns]
    moments, shift = np.zeros((len(mean), len(mean))), np.zeros(len(mean))
    for block in row_blocks(values):
        scaled = (block[:, columns] - mean) / spread
        moments += scaled.T @ scaled
        shift += scaled.sum(axis=0)
    shift /= len(values)  # rounding of the mean, not negligible when the mean is far larger than the spread
    covariance = moments / len(values) - np.outer(shift, shift)
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    found: list[list[int]] = []
    center, scale = mean + shift * spread, spread * deviation
    suspected: list[int] = []
    if len(values) > len(mean):
        _, pivots, rank, _ = linalg.lapack.dpstrf(correlation, tol=SUSPICIOUS, lower=1)
        independent, suspected = (pivots[:rank] - 1).tolist(), sorted((pivots[rank:] - 1).tolist())
    else:  # any column is a combination of as many as there are rows: only copies of a single one are told
        alike = np.argwhere(np.triu(1 - np.abs(correlation) < SUSPICIOUS, 1))
        found = [[int(i), int(j)] for i, j in alike]
    for k in suspected:
        weights = np.linalg.solve(correlation[np.ix_(independent, independent)], correlation[independent, k])
        square = 0.0
        for block in row_blocks(values):
            standard = (block[:, columns] - center) / scale
            square += float(np.square(standard[:, k] - standard[:, independent] @ weights).sum())
        if np.sqrt(square / len(values)) > COLLINEAR:
            independent.append(k)
            continue
        found.append(sorted([k, *(j for j, w in zip(independent, weights, strict=True) if abs(w) > 1e-5)]))
    return found


MOSTLY_EMPTY = 0.5
"""Share of missing cells from which a column is better left out."""

FEWEST_TOGETHER = 3
"""Rows in which any two columns must both be there."""

SIGNIFICANT = 0.001
"""Level (shared out over all pairs) at which gaps count as depending on another column."""


def check_gaps(values: FloatArray, names: Sequence[Hashable]) -> None:
    """Refuse columns that are missing altogether, and tables in which hardly any two columns meet."""
    mask = np.isnan(values)
    there = (~mask).astype(np.float64)
    together = there.T @ there
    i, j = divmod(int(together.argmin()), len(names))
    if i == j and together[i, j] < FEWEST_TOGETHER:
        raise DataError(f"column {names[i]!r} has only {together[i, j]:.0f} values: leave it out.")
    if together[i, j] < FEWEST_TOGETHER:
        raise DataError(
            f"columns {names[i]!r} and {names[j]!r} are both present in only {together[i, j]:.0f} rows: leave one of "
            "them out."
        )


def remarks_on_gaps(values: FloatArray, names: Sequence[Hashable], done: str) -> list[str]:
    """How much is missing and where, what was done about it, and whether gaps depend on other columns."""
    mask = np.isnan(values)
    absent = mask.sum(axis=0)
    worst = np.argsort(-absent, kind="stable")[: int((absent > 0).sum())]
    where = joined(f"{names[k]!r} ({absent[k] / len(values):.1%})" for k in worst)
    said = [f"{mask.mean():.1%} of the cells are missing, most in {where}; {done}."]
    mostly = [names[int(k)] for k in np.flatnonzero(absent > MOSTLY_EMPTY * len(values))]
    if mostly:
        which = f"column{'s' if len(mostly) > 1 else ''} {listed(mostly)}"
        said.append(f"Values of {which} are missing in more than half of the rows: better leave out what is guesswork.")
    found = dependent_gaps(values)
    if found:
        shown = joined([f"those of {names[i]!r} on {names[j]!r}" for i, j in found], 3, "; ")
        said.append(
            f"Gaps depend on other columns: {shown}. That is allowed for as long as they do not also depend on "
            "the values that are missing."
        )
    return said


def dependent_gaps(values: FloatArray) -> list[tuple[int, int]]:
    """Pairs (i, j), strongest first and one for each i: cells of i are missing more often for high or low values of j.

    By the correlation of the gap's indicator with ranks where j is there, at a level shared out over all pairs.
    """
    there = ~np.isnan(values)
    gappy = np.flatnonzero(~there.all(axis=0))
    gaps, n = (~there[:, gappy]).astype(np.float64), there.sum(axis=0)
    columns = pd.DataFrame(values).rank()
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = ((columns - columns.mean()) / columns.std(ddof=0)).fillna(0.0).to_numpy()
        share = gaps.T @ there / n
        r = np.nan_to_num(gaps.T @ scores / n / np.sqrt(share * (1 - share)), posinf=0.0, neginf=0.0)
    p = 2 * special.ndtr(-np.abs(r) * np.sqrt(n))
    limit = SIGNIFICANT / max(1, len(gappy) * (values.shape[1] - 1))
    found = [(-abs(float(r[k, j])), int(gappy[k]), int(j)) for k, j in np.argwhere((p < limit) & (n >= 10))]
    strongest: dict[int, tuple[int, int]] = {}
    for _, i, j in sorted(found):
        strongest.setdefault(i, (i, j))
    return list(strongest.values())
