"""The numbers typed in from the paper, against rows of its LaTeX."""

from __future__ import annotations

import re

import pytest

from precede.experiments.cells import Experiment
from precede.experiments.designs import EXPERIMENTS
from precede.experiments.verdicts import PUBLISHED, Published, number, printed

NUMBER = re.compile(r"(\d+\.\d+)\s*\((\d+\.\d+)\)")
TABLE_1 = "random notears dag-gnn rl-bic2 l1obs a-star-lasso corl-1 corl-2"
ROWS = [
    (
        "table1-30", "er2", "shd", TABLE_1,
        r"140.4 (36.7) & 14.2 (9.4) & 26.5 (12.4)  & 17.8 (22.5) & 85.2 (23.8) &35.3 (14.3) & \bf{5.2 (7.4)} "
        r"& \bf{4.4 (3.5)}\\",
    ),
    (
        "table1-100", "er5", "shd", TABLE_1,
        r"984.4 (35.7) & \bf{170.3 (34.2)} & {236.4 (36.8)} & {421.2 (46.2)}   & {547.9 (63.4)} & {244.0 (42.3)} "
        r"&\bf{175.3 (18.9)} & \bf{164.8 (17.1)}\\",
    ),
    (
        "table1-100", "sf5", "tpr", TABLE_1,
        r"0.47 (0.04) & 0.95 (0.01) &{0.87 (0.15)} & {0.05 (0.03)} & {0.55 (0.04)} & {0.89 (0.03)} & \bf{0.97 (0.02)} "
        r"& \bf{0.98 (0.01)} \\",
    ),
    (
        "linear-50", "er5", "shd", TABLE_1,
        r"378.4 (24.2)  &  \bf{67.8 (7.5)} & 93.2 (109.4)   & {128.9 (40.4)} & 299.4 (53.6) &{104.0 (28.3)} "
        r"&\bf{68.3 (10.2)} & \bf{64.8 (13.1)}\\",
    ),
    (
        "others-linear", "100-sf2", "shd", "ica-lingam gran-dag cam corl-2",
        r"367.6 (67.5) & {239.9 (43.2)} & {35.2 (37.4)} & \bf{0.0 (0.0)}\\",
    ),
    (
        "encoders", "er2", "shd", "null-lstm lstm-lstm mlp-lstm transformer-lstm",
        r"20.6 (20.0)  & 29.0 (17.8)& 8.6 (4.3) & 4.4 (3.5) \\",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("experiment", "data", "metric", "methods", "row"), ROWS)
def test_rows_are_as_printed(experiment: str, data: str, metric: str, methods: str, row: str) -> None:
    expected = [(float(mean), float(std)) for mean, std in NUMBER.findall(row)]
    cells = [PUBLISHED[experiment][data, method, metric] for method in methods.split()]
    assert [(cell.mean, cell.std) for cell in cells] == expected


def test_methods_down_the_side() -> None:
    row = r"CAM  & 0.60 (0.11) & 310.0 (34.0)   & 0.33 (0.07) & 178.0 (31.9) & 0.53 (0.05) & 247.2 (32.1)  \\"
    expected = [(float(mean), float(std)) for mean, std in NUMBER.findall(row)]
    cells = [PUBLISHED["lingam"][data, "cam", metric] for data in ("30", "50", "100") for metric in ("tpr", "shd")]
    assert [(cell.mean, cell.std) for cell in cells] == expected


def test_numbers_of_the_text() -> None:
    assert PUBLISHED["linear-150"]["er2", "corl-2", "shd"] == Published(38.3, 14.3, 0.05)
    assert PUBLISHED["sachs"]["sachs", "empty", "shd"] == Published(17, None, 0.5)
    assert PUBLISHED["convergence"]["50-er5", "corl-2", "converged_at"].mean == 2400
    assert ("100-er2", "rl-bic2", "converged_at") not in PUBLISHED["convergence"]
    assert PUBLISHED["times"]["100", "corl-2", "seconds"].mean == 7 * 3600
    assert PUBLISHED["pruning"]["100", "l1obs-unpruned", "shd"] == Published(1964.5, 136.6, 0.05)
    assert PUBLISHED["pruning"]["50", "l1obs", "shd"] == Published(215.4, 26.3, 0.05)  # its table has 288.0 (66.2)


def test_number_of_cells_of_every_table() -> None:
    sizes = {name: len(cells) for name, cells in PUBLISHED.items()}
    expected = {"table1-30": 64, "table1-100": 64, "linear-50": 64, "others-linear": 96, "lingam": 60, "encoders": 16}
    expected |= {"convergence": 10, "linear-150": 6, "gp-20": 16, "gp-20-additive": 8, "sachs": 9, "times": 17}
    expected |= {"gp-20-joint": 8, "pruning": 12}
    assert sizes == expected


@pytest.mark.parametrize("design", EXPERIMENTS.values(), ids=lambda design: design.name)
def test_every_published_number_has_a_place_in_its_table(design: Experiment) -> None:
    data, methods = {one.name for one in design.data}, {method.name for method in design.methods}
    for where, method, metric in PUBLISHED.get(design.name, {}):
        assert where in data
        assert method in methods
        assert metric in design.metrics


def test_a_misprint_is_refused() -> None:
    with pytest.raises(ValueError, match="19,8"):
        number("40.5 (19,8)")
    with pytest.raises(ValueError, match="zip"):
        printed("data  metric  a  b\ner2  tpr  0.1 (0.1)")
