"""Ranks and tests by ranks and moments, against scipy.stats."""

import numpy as np
import pytest
from scipy import stats

from precede.ranks import normal_scores, normality_p_values, rank_correlation, ranks


@pytest.fixture(params=[20, 21, 500])
def columns(request: pytest.FixtureRequest) -> np.ndarray:
    rng = np.random.default_rng(request.param)
    normal, skewed = rng.normal(size=(request.param, 2)), rng.exponential(size=(request.param, 1))
    levels = rng.integers(0, 3, (request.param, 1)) ** 2
    return np.hstack([normal, skewed, levels])


def test_ranks(columns: np.ndarray) -> None:
    np.testing.assert_array_equal(ranks(columns), stats.rankdata(columns, axis=0))
    np.testing.assert_array_equal(ranks(columns[:, 3]), stats.rankdata(columns[:, 3]))
    assert ranks(np.empty(0)).shape == (0,)
    assert ranks(np.empty((3, 0))).shape == (3, 0)


def test_normal_scores(columns: np.ndarray) -> None:
    expected = stats.norm.ppf((stats.rankdata(columns, axis=0) - 0.5) / len(columns))
    np.testing.assert_allclose(normal_scores(columns), expected, rtol=1e-13)


def test_normality(columns: np.ndarray) -> None:
    np.testing.assert_allclose(normality_p_values(columns), stats.normaltest(columns, axis=0).pvalue, rtol=1e-9)


def test_rank_correlation(columns: np.ndarray) -> None:
    for other in range(1, 4):
        expected = stats.spearmanr(columns[:, 0], columns[:, other])
        found = rank_correlation(columns[:, 0], columns[:, other])
        np.testing.assert_allclose(found, [expected.statistic, expected.pvalue], rtol=1e-9, atol=1e-12)
    assert rank_correlation(columns[:, 0], -columns[:, 0]) == (pytest.approx(-1.0), pytest.approx(0.0, abs=1e-12))
