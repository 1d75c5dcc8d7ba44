"""score="auto": the right score for each class of data, with a reason and figures."""

from dataclasses import replace

import numpy as np
import pytest

from precede.data.load import Table, load_table
from precede.errors import DataError
from precede.scores import choose
from precede.scores.choose import choose_score, left_out_residuals
from precede.scores.location_scale import ConditionalDensity
from precede.scores.parent_tables import screened_score
from precede.simulation import simulate


def table_of(values):
    return Table(np.asarray(values), tuple(range(np.shape(values)[1])), False)


@pytest.mark.parametrize(
    ("sem", "expected", "words"),
    [
        ("linear-gaussian", "linear-any", "noise may have any shape"),
        ("lingam", "linear-any", "noise may have any shape"),
        ("gp", "sparse-gp", "nonlinear"),
        ("gp-additive", "sparse-gp", "nonlinear"),
        ("quadratic", "sparse-gp", "nonlinear"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_each_class_gets_its_score(sem, expected, words, seed):
    data = simulate(n_variables=12, degree=1.5, sem=sem, n_samples=600, standardize=True, random_state=seed)
    choice = choose_score(table_of(data.data))
    assert choice.name == expected
    assert words in choice.reason
    assert choice.reason.endswith(".")
    assert 0 <= choice.figures["curved_pairs"] <= 1


def test_scale_and_row_order_of_magnitude_do_not_matter():
    data = simulate(n_variables=8, degree=1, sem="lingam", n_samples=500, random_state=0).data.to_numpy()
    assert choose_score(table_of(data)) == choose_score(table_of(data * 2.0 ** np.arange(8) + 5))


@pytest.mark.parametrize(
    ("sem", "expected"), [("lingam", "linear-any"), ("gp", "sparse-gp"), ("quadratic", "sparse-gp")]
)
@pytest.mark.parametrize("n_samples", [90, 110])
def test_no_number_of_rows_is_a_cliff(sem, expected, n_samples):
    """Below 100 rows every table was taken for linear Gaussian."""
    data = simulate(n_variables=8, degree=1.5, sem=sem, n_samples=n_samples, standardize=True, random_state=3)
    assert choose_score(table_of(data.data), data.graph.edges).name == expected


@pytest.mark.parametrize("sem", ["linear-gaussian", "lingam", "gp", "heteroscedastic"])
def test_the_choice_stays_when_a_few_rows_go(sem):
    rng = np.random.default_rng(0)
    for seed in range(3):
        data = simulate(n_variables=8, degree=1.5, sem=sem, n_samples=200, standardize=True, random_state=seed)
        values, edges = data.data.to_numpy(), data.graph.edges
        kept = np.sort(rng.permutation(200)[4:])
        assert choose_score(table_of(values), edges).name == choose_score(table_of(values[kept]), edges).name


def test_shares_are_means_over_what_is_supposed_at_several_cuts():
    data = simulate(n_variables=8, degree=1.5, sem="gp", n_samples=300, standardize=True, random_state=0)
    table, few = table_of(data.data), data.graph.edges.copy()
    few[:, few.any(axis=0).nonzero()[0][1:]] = False
    none, cuts = np.zeros_like(few), (data.graph.edges, few)
    alone = [choose_score(table, edges).figures for edges in cuts]
    for name in ("curved_mechanisms", "uneven_noise", "gain_of_adding_up"):
        assert choose_score(table, *cuts).figures[name] == pytest.approx((alone[0][name] + alone[1][name]) / 2)
    # a cut above all probabilities has no mechanism that could be straight
    assert choose_score(table, few, none).figures["curved_mechanisms"] == alone[1]["curved_mechanisms"]


def test_products_of_causes_are_no_uneven_noise():
    rng = np.random.default_rng(0)
    x, y, noise = rng.normal(size=(3, 1000))
    edges = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    columns = np.column_stack([x, y, x * y + x**2 + 0.3 * noise])
    assert choose.share_with_uneven_noise(columns, edges, curved=True) == 0.0


def test_rows_left_out_are_predicted_from_the_others():
    rng = np.random.default_rng(0)
    basis, targets = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    left = left_out_residuals(basis, targets, np.array([0.0, 1.0, 2.0]))
    for row in range(30):
        others = np.arange(30) != row
        gram = basis[others].T @ basis[others] + np.diag([0.0, 1.0, 2.0])
        weights = np.linalg.solve(gram, basis[others].T @ targets[others])
        np.testing.assert_allclose(left[row], targets[row] - basis[row] @ weights, rtol=1e-5)


def test_many_rows_are_thinned():
    values = np.random.default_rng(0).normal(size=(choose.MOST_ROWS + 500, 3))
    assert choose_score(table_of(values)).figures["n_samples"] == choose.MOST_ROWS


def test_nonlinear_data_of_many_variables_fall_back(monkeypatch):
    monkeypatch.setattr(choose, "MOST_GP_VARIABLES", 5)
    data = simulate(n_variables=8, degree=1, sem="gp", n_samples=400, random_state=0)
    choice = choose_score(table_of(data.data))
    assert choice.name == "linear-any"
    assert "8 variables are too many for GP evidence" in choice.reason


def test_odd_tables():
    one = choose_score(table_of(np.random.default_rng(0).normal(size=(200, 1))))
    assert one.name == "linear-any"
    tied = np.random.default_rng(0).integers(0, 3, size=(300, 4)).astype(float)
    assert choose_score(table_of(tied)).name == "linear-any"
    with pytest.raises(DataError, match="column 1 is constant"):
        choose_score(table_of(np.column_stack([np.arange(200.0), np.ones(200)])))


@pytest.mark.parametrize(("sem", "expected"), [("gp", "sparse-gp"), ("lingam", "linear-any")])
def test_a_joint_curve_of_several_causes_is_seen_though_no_pair_shows_it(sem, expected):
    """Four parents a variable: a fifth of the pairs are curved, half of the mechanisms."""
    made = simulate("er", 10, 4, sem, 500, standardize=True, random_state=51)
    table = table_of(made.data)
    assert choose_score(table).name == "linear-any"  # by pairs alone
    choice = choose_score(table, made.graph.edges)
    assert choice.name == expected
    assert ("likely causes" in choice.reason) == (expected == "sparse-gp")
    assert (choice.figures["curved_mechanisms"] > 0.25) == (expected == "sparse-gp")
    assert choose_score(table, np.zeros((10, 10), dtype=bool)).figures["curved_mechanisms"] == 0


@pytest.mark.parametrize(("sem", "expected"), [("gp-additive", "sparse-gp-additive"), ("gp", "sparse-gp")])
def test_curves_that_add_up_get_an_additive_score(sem, expected):
    made = simulate("er", 10, 2, sem, 500, standardize=True, random_state=52)
    choice = choose_score(table_of(made.data), made.graph.edges)
    assert choice.name == expected
    assert ("add up" in choice.reason) == (expected == "sparse-gp-additive")
    assert choose_score(table_of(made.data)).name == "sparse-gp"  # without a policy nothing is supposed


@pytest.mark.parametrize(("d", "expected"), [(2, "location-scale"), (4, "linear-any")])  # half is rounded, or a quarter
def test_a_column_may_be_constant_among_the_rows_that_are_looked_at(d, expected):
    """It divided by its standard deviation there, or was refused as constant."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2 * choose.MOST_ROWS, d))
    seen = np.linspace(0, len(values) - 1, choose.MOST_ROWS).round().astype(int)
    values[seen, 0] = 3.0
    supposed = np.triu(np.ones((d, d), dtype=bool), 1)
    assert choose_score(table_of(values), supposed).name == expected
    density = ConditionalDensity(values, max_samples=choose.MOST_ROWS)
    of_all = density.of_sets([(), (0,)])
    assert np.isfinite(of_all[:, 1:]).all()
    assert screened_score(ConditionalDensity(values[seen][:500])).bounds().isfinite().all()


@pytest.mark.parametrize(("share", "expected"), [(0.002, "vote"), (0.05, "policy")])
def test_a_few_missing_cells_do_not_turn_the_choice(share, expected):
    """One odd cell, which counts as missing, sent the data to another score."""
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(500, 3)), 1)  # rounded: no score with additive noise is safe
    values[rng.random(values.shape) < share] = np.nan
    supposed = np.triu(np.ones((3, 3), dtype=bool), 1)
    assert choose_score(load_table(values), supposed).name == expected


@pytest.mark.parametrize(("n_odd", "expected"), [(1, "linear-any"), (60, "sparse-linear")])
def test_where_many_cells_are_odd_the_shape_of_the_noise_is_not_heard(n_odd, expected):
    made = simulate("er", 5, 1, "lingam", 500, random_state=0)
    odd = np.zeros((500, 5), dtype=bool)
    odd[:n_odd, 0] = True
    choice = choose_score(replace(table_of(made.data), odd=odd), made.graph.edges)
    assert choice.name == expected
    assert ("shape of the noise is not heard" in choice.reason) == (expected == "sparse-linear")


def test_pairs_that_shared_causes_bend_do_not_make_a_linear_table_nonlinear():
    made = simulate("er", 20, 2, "lingam", 3000, standardize=True, random_state=0)
    table = table_of(made.data)
    choice = choose_score(table, made.graph.edges)
    assert choice.figures["curved_pairs"] > 0.25  # or the table shows nothing
    assert choice.name == "linear-any"
