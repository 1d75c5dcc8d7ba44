"""Sparse scores: evidence against plain NumPy, the table against brute force, knowledge obeyed."""

import math
from itertools import chain, combinations, permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from precede import CORL
from precede.data.load import Table
from precede.errors import DataError, KnowledgeError, OptionError
from precede.graph.dags import is_acyclic
from precede.knowledge import Constraints, Knowledge
from precede.runtime import deadline
from precede.runtime.deadline import Deadline
from precede.scores import evidence as evidence_module
from precede.scores.assumptions import Assumptions
from precede.scores.build import build_score
from precede.scores.evidence import LENGTHSCALES, NOISE_SHARES, GaussianProcessEvidence, spread_rows
from precede.scores.parent_tables import ParentSets, SparseScore, candidate_parents, screened_score
from precede.scores.protocol import OrderScore
from precede.simulation import simulate


def sparse_gp_score(values, *, kernel="joint", noise="unequal", max_samples=1000, n_inducing="auto", **sizes):
    """Gaussian-process evidence in a table, as the score of that name has it."""
    rows = {"max_samples": max_samples, "n_inducing": n_inducing}
    return screened_score(GaussianProcessEvidence(values, kernel=kernel, noise=noise, **rows), **sizes)


class RandomLocal:
    """Local scores drawn once per (variable, set): nothing smooth to lean on."""

    name = "random"
    assumes = Assumptions()

    def __init__(self, n_variables: int, seed: int, n_samples: int = 100) -> None:
        self.n_variables, self.n_samples, self.seed = n_variables, n_samples, seed

    def of_sets(self, sets):
        rows = []
        for members in sets:
            rng = np.random.default_rng([self.seed, *members, 99])
            row = rng.normal(scale=10, size=self.n_variables) + 5 * len(members)
            row[list(members)] = np.nan
            rows.append(row)
        return np.array(rows)


class SlowLocal(RandomLocal):
    """A set takes a second of the clock that goes with it."""

    sets_at_once = 2

    def __init__(self, n_variables: int, seed: int) -> None:
        super().__init__(n_variables, seed)
        self.n_sets = 0

    def of_sets(self, sets):
        self.n_sets += len(sets)
        return super().of_sets(sets)

    def deadline(self, max_time: float) -> Deadline:
        return Deadline(max_time, clock=lambda: float(self.n_sets))


def subsets(items, most):
    return chain.from_iterable(combinations(items, size) for size in range(most + 1))


def brute_force(local, order, most, price, constraints=None):
    """Best set of each variable among its predecessors, by trying all of them."""
    constraints = constraints or Constraints.none(len(order))
    terms, parents = [], []
    for t, v in enumerate(order):
        need = tuple(np.flatnonzero(constraints.required[:, v]))
        free = [i for i in order[:t] if constraints.allowed[i, v] and i not in need]
        scored = []
        for extra in subsets(sorted(free), most):
            members = tuple(sorted({*map(int, extra), *map(int, need)}))
            scored.append((local.of_sets([members])[0, v] - price * len(members), members))
        best = max(scored)
        terms.append(best[0])
        parents.append(best[1])
    return np.array(terms), parents


def plain_evidence(x, y, kernel, noise_variance=None):
    """The docstring's formulas with an explicit inverse and determinant; with a noise variance, that of all."""
    m, size = x.shape
    best = -np.inf
    for lengthscale in LENGTHSCALES:
        squares = (x[:, None, :] - x[None, :, :]) ** 2
        if kernel == "joint":
            gram = np.exp(-squares.sum(axis=2) / (2 * lengthscale**2 * size))
        else:
            gram = np.exp(-squares / (2 * lengthscale**2)).mean(axis=2)
        for share in NOISE_SHARES:
            noisy = (1 - share) * gram + share * np.eye(m)
            if noise_variance is None:
                scale = y @ np.linalg.inv(noisy) @ y / m
                value = -m / 2 * (math.log(2 * math.pi * scale) + 1) - np.linalg.slogdet(noisy)[1] / 2
            else:
                covariance = noise_variance / share * noisy
                value = -np.linalg.slogdet(2 * math.pi * covariance)[1] / 2 - y @ np.linalg.inv(covariance) @ y / 2
            best = max(best, value)
    return best


@pytest.mark.parametrize("kernel", ["joint", "additive"])
def test_evidence_is_the_plain_formula(kernel):
    values = simulate(n_variables=4, degree=1.5, sem="gp", n_samples=60, random_state=1).data.to_numpy()
    columns = (values - values.mean(axis=0)) / values.std(axis=0)
    found = GaussianProcessEvidence(values, kernel=kernel).of_sets([(), (2,), (0, 3), (0, 1, 3)])
    assert found[0] == pytest.approx(-30 * (math.log(2 * math.pi) + 1), abs=1e-8)
    for row, members in ((1, (2,)), (2, (0, 3)), (3, (0, 1, 3))):
        for v in range(4):
            if v in members:
                assert np.isnan(found[row, v])
            else:
                expected = plain_evidence(columns[:, members], columns[:, v], kernel)
                assert found[row, v] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("kernel", ["joint", "additive"])
def test_evidence_with_equal_noise_is_the_plain_formula(kernel):
    values = simulate(n_variables=4, degree=1.5, sem="gp", n_samples=60, random_state=1).data.to_numpy()
    centered = values - values.mean(axis=0)
    columns = centered / values.std(axis=0)
    noise_variance = values.var(axis=0).min()
    evidence = GaussianProcessEvidence(values, kernel=kernel, noise="equal")
    assert evidence.noise_variance == noise_variance
    assert "the same noise variance" in evidence.notes[0]
    found = evidence.of_sets([(), (2,), (0, 1, 3)])
    alone = -30 * np.log(2 * math.pi * noise_variance) - (centered**2).sum(axis=0) / (2 * noise_variance)
    assert found[0] == pytest.approx(alone, abs=1e-8)
    for row, members in ((1, (2,)), (2, (0, 1, 3))):
        for v in set(range(4)) - set(members):
            expected = plain_evidence(columns[:, members], centered[:, v], kernel, noise_variance)
            assert found[row, v] == pytest.approx(expected, abs=1e-8)


def test_equal_noise_tells_a_cause_that_a_straight_line_hides():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=200)
    values = np.column_stack([cause + rng.normal(size=200), cause])  # the effect comes first
    orders = torch.tensor([[1, 0], [0, 1]])
    forward, backward = sparse_gp_score(values, noise="equal").terms(orders).sum(1)
    assert forward > backward + 20
    free = sparse_gp_score(values).terms(orders).sum(1)
    assert abs(float(free[0] - free[1])) < 10
    # in the unit of the data: another unit for one column turns the answer round, and the scale-free score knows none
    values[:, 1] *= 10
    forward, backward = sparse_gp_score(values, noise="equal").terms(orders).sum(1)
    assert forward < backward
    assert sparse_gp_score(values).terms(orders).sum(1).numpy() == pytest.approx(free.numpy(), abs=1e-6)


@settings(deadline=None, max_examples=3)
@given(st.integers(3, 5), st.sampled_from(["unequal", "equal"]), st.integers(0, 1000))
def test_the_gp_table_is_brute_force_over_subsets(d, noise, seed):
    values = simulate(n_variables=d, degree=1, sem="gp", n_samples=40, random_state=seed).data.to_numpy()
    local = GaussianProcessEvidence(values, noise=noise)
    score = sparse_gp_score(values, penalty=0.5, noise=noise)
    order = np.random.default_rng(seed).permutation(d)
    terms, _ = brute_force(local, order, d - 1, 0.5 * math.log(40) / 2)
    assert score.terms(torch.from_numpy(order)[None])[0].numpy() == pytest.approx(terms, abs=1e-8)


def test_noise_reaches_the_gp_scores_by_name():
    values = np.random.default_rng(0).normal(size=(50, 3))
    table = Table(values, tuple("abc"), True)
    for name in ("sparse-gp", "sparse-gp-additive"):
        for noise, expected in (("auto", "unequal"), ("unequal", "unequal"), ("equal", "equal")):
            score = build_score(name, table, Constraints.none(3), noise=noise, device=torch.device("cpu"))
            assert score.cache.local.noise == expected


def test_evidence_reads_its_options():
    values = np.random.default_rng(0).normal(size=(200, 3))
    few = GaussianProcessEvidence(values, max_samples=50)
    assert few.n_samples == 50
    assert "50 of the 200 rows" in few.notes[0]
    assert GaussianProcessEvidence(values, max_samples=None).n_samples == 200
    assert GaussianProcessEvidence(values).notes == []
    with pytest.raises(DataError, match=r"200 rows needs 1\.3 MB .* at most 176 rows"):
        GaussianProcessEvidence(values, memory_limit=1e6)
    with pytest.raises(OptionError, match="did you mean 'joint'"):
        GaussianProcessEvidence(values, kernel="join")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="did you mean 'equal'"):
        GaussianProcessEvidence(values, noise="equl")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"column 0 .* is constant in the 1 rows"):  # in the rows that are left
        GaussianProcessEvidence(values, max_samples=1)


@pytest.mark.parametrize("kernel", ["joint", "additive"])
@pytest.mark.parametrize("noise", ["equal", "unequal"])
def test_inducing_rows_are_a_kernel_of_lower_rank(kernel, noise, monkeypatch):
    """Woodbury's way against the same kernel written out in full."""
    monkeypatch.setattr(evidence_module, "LENGTHSCALES", (1.0,))
    monkeypatch.setattr(evidence_module, "NOISE_SHARES", (0.3,))
    values = np.random.default_rng(0).normal(size=(60, 4))
    found = GaussianProcessEvidence(values, kernel=kernel, noise=noise, n_inducing=10)
    rows = spread_rows(values, 10)
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    squares = [(z[:, i, None] - z[None, :, i]) ** 2 for i in (0, 2)]
    full = np.exp(-sum(squares) / 4) if kernel == "joint" else sum(np.exp(-one / 2) for one in squares) / 2
    small = full[np.ix_(rows, rows)] + 1e-6 * np.eye(10)
    noisy = 0.7 * full[:, rows] @ np.linalg.solve(small, full[rows]) + 0.3 * np.eye(60)
    log_det = np.linalg.slogdet(noisy)[1]
    square = z[:, 1] @ np.linalg.solve(noisy, z[:, 1])
    if noise == "unequal":
        expected = -30 * (np.log(2 * np.pi * square / 60) + 1) - log_det / 2
    else:
        scale = values.var(axis=0).min() / 0.3
        expected = -30 * np.log(2 * np.pi * scale) - square * values[:, 1].var() / (2 * scale) - log_det / 2
    assert found.of_sets([(0, 2)])[0, 1] == pytest.approx(expected, rel=1e-8)
    assert "rests on 10 inducing rows" in found.notes[0]
    exact = GaussianProcessEvidence(values, kernel=kernel, noise=noise)
    assert abs(exact.of_sets([(0, 2)])[0, 1] - expected) > 1e-6
    everything = GaussianProcessEvidence(values, kernel=kernel, noise=noise, n_inducing=60)
    np.testing.assert_array_equal(everything.of_sets([(0, 2)]), exact.of_sets([(0, 2)]))


def test_the_sequence_of_the_rows_does_not_matter():
    values = np.random.default_rng(0).normal(size=(300, 4))
    shuffled = values[np.random.default_rng(1).permutation(300)]
    for options in ({"n_inducing": 20}, {"max_samples": 50}):
        one, other = (GaussianProcessEvidence(v, **options).of_sets([(0,), (0, 2)]) for v in (values, shuffled))
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_the_machine_and_the_rows_decide_on_inducing_rows():
    values = simulate(n_variables=4, degree=1, sem="gp", n_samples=300, random_state=0).data.to_numpy()
    assert "inducing rows" in sparse_gp_score(values).notes[0]
    for exact in (sparse_gp_score(values[:150]), sparse_gp_score(values, n_inducing=None)):
        assert not exact.notes
    assert "rests on 30 inducing rows" in sparse_gp_score(values, n_inducing=30).notes[0]


def test_growth_ends_at_a_number_of_sets():
    orders = torch.from_numpy(np.stack([np.random.default_rng(k).permutation(6) for k in range(20)]))
    free = SparseScore(RandomLocal(6, 0), ParentSets(max_parents=5, table_size=1), penalty=0)
    whole = free.terms(orders)
    bound = SparseScore(RandomLocal(6, 0), ParentSets(max_parents=5, table_size=1, max_sets=10), penalty=0)
    terms = bound.terms(orders)
    assert len(bound.cache) < len(free.cache)
    assert (terms <= whole).all()
    assert (terms < whole).any()
    assert [note for note in bound.notes if f"ended at {len(bound.cache)} sets" in note]


def test_near_duplicate_columns_do_not_break_the_kernels():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    values = np.column_stack([x, x + 1e-9 * rng.normal(size=80), np.sin(x)])
    found = GaussianProcessEvidence(values).of_sets([(0, 1), (0,), (0, 2)])
    assert np.isfinite(found[0, 2])
    assert np.isfinite(found[1, 1:]).all()
    assert np.isfinite(found[2, 1])


def test_evidence_does_not_depend_on_the_number_of_threads():
    values = np.random.default_rng(0).normal(size=(60, 4))
    sets = [(0,), (1,), (0, 1), (1, 2)]
    n_threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = GaussianProcessEvidence(values).of_sets(sets)
        torch.set_num_threads(2)
        two = GaussianProcessEvidence(values).of_sets(sets)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(n_threads)
    assert np.array_equal(one, two, equal_nan=True)


@settings(deadline=None, max_examples=10)
@given(st.integers(2, 6), st.integers(1, 3), st.sampled_from([0.0, 1.0, 2.5]), st.integers(0, 1000))
def test_the_table_is_brute_force_over_subsets(d, most, penalty, seed):
    local = RandomLocal(d, seed)
    score = SparseScore(local, ParentSets(max_parents=most), penalty=penalty)
    assert isinstance(score, OrderScore)
    orders = np.stack([np.random.default_rng(seed + k).permutation(d) for k in range(3)])
    found = score.terms(torch.from_numpy(orders)).numpy()
    for row, order in zip(found, orders, strict=True):
        terms, parents = brute_force(local, order, most, penalty * math.log(100) / 2)
        assert row == pytest.approx(terms, abs=1e-10)
        edges = score.graph(order)
        assert is_acyclic(edges)
        for v, members in zip(order, parents, strict=True):
            assert tuple(np.flatnonzero(edges[:, v])) == members


def test_the_best_order_is_the_best_graph():
    local = RandomLocal(4, 3)
    score = SparseScore(local, ParentSets(max_parents=3))
    orders = np.array(list(permutations(range(4))))
    sums = score.total(score.terms(torch.from_numpy(orders)).sum(1)).numpy()
    price = math.log(100) / 2
    best = -np.inf
    arcs = [(i, j) for i in range(4) for j in range(4) if i != j]
    for bits in range(1 << len(arcs)):  # every directed graph on four nodes
        edges = np.zeros((4, 4), dtype=bool)
        for k, arc in enumerate(arcs):
            edges[arc] = bits >> k & 1
        if (edges & edges.T).any() or not is_acyclic(edges):
            continue
        parents = [tuple(np.flatnonzero(edges[:, v]).tolist()) for v in range(4)]
        best = max(best, sum(local.of_sets([s])[0, v] - price * len(s) for v, s in enumerate(parents)))
    assert sums.max() == pytest.approx(best, abs=1e-10)


def test_growth_goes_past_the_table_and_stays_within_the_maximum():
    values = simulate(n_variables=6, degree=2.5, sem="gp-additive", n_samples=100, random_state=0).data.to_numpy()
    evidence = GaussianProcessEvidence(values, kernel="additive")
    exact = SparseScore(evidence, ParentSets(max_parents=5), penalty=0)
    grown = SparseScore(evidence, ParentSets(max_parents=5, table_size=1), penalty=0)
    capped = SparseScore(evidence, ParentSets(max_parents=2, table_size=1), penalty=0)
    tabled = SparseScore(evidence, ParentSets(max_parents=1), penalty=0)
    orders = torch.from_numpy(np.stack([np.random.default_rng(k).permutation(6) for k in range(5)]))
    assert len(grown.cache) < len(exact.cache)
    assert (grown.terms(orders) <= exact.terms(orders) + 1e-9).all()
    assert (grown.terms(orders) >= tabled.terms(orders) - 1e-9).all()
    assert grown.terms(orders).sum() > tabled.terms(orders).sum() + 1
    sizes = grown.graph(orders[0].numpy()).sum(axis=0)
    assert sizes.max() > 2
    assert capped.graph(orders[0].numpy()).sum(axis=0).max() == 2
    assert torch.equal(grown.bounds(), OrderScore.bounds(grown))


def test_sparse_options_are_read():
    local = RandomLocal(5, 0)
    order = torch.tensor([[4, 2, 0, 1, 3]])
    plain = SparseScore(local, ParentSets(max_parents=2)).terms(order).sum()
    assert SparseScore(local, ParentSets(max_parents=2), penalty=2.0).terms(order).sum() < plain
    assert SparseScore(local, ParentSets(max_parents=4)).terms(order).sum() > plain
    candidates = np.zeros((5, 5), dtype=bool)
    candidates[4, 3] = True
    edges = SparseScore(local, ParentSets(candidates=candidates), penalty=0).graph(np.array([4, 2, 0, 1, 3]))
    assert not (edges & ~candidates).any()
    assert SparseScore(local).name == "random"
    assert SparseScore(local).assumes is local.assumes
    with pytest.raises(OptionError, match=r"penalty=-1\.0 cannot be used"):
        SparseScore(local, penalty=-1.0)
    for wrong in ({"max_parents": 0}, {"table_size": 0}):
        with pytest.raises(OptionError, match="cannot be used"):
            ParentSets(**wrong)
    with pytest.raises(OptionError, match="at most 16 a variable"):
        SparseScore(RandomLocal(18, 0), ParentSets(max_parents=1))


def test_sparse_obeys_knowledge():
    local = RandomLocal(5, 1)
    knowledge = Knowledge(required=[(0, 3), (1, 3)], forbidden=[(4, 2), (0, 2)], roots=[4])
    constraints = knowledge.over(range(5))
    score = SparseScore(local, ParentSets(max_parents=2), penalty=0, constraints=constraints)
    for seed in range(5):
        order = constraints.nearest_order(np.random.default_rng(seed).permutation(5))
        assert not constraints.violated_by(score.graph(order))
        terms, _ = brute_force(local, order, 2, 0.0, constraints)
        assert score.terms(torch.from_numpy(order)[None])[0].numpy() == pytest.approx(terms, abs=1e-10)
    with pytest.raises(KnowledgeError, match="before a parent that is required"):
        score.graph(np.array([4, 3, 0, 1, 2]))


def test_screening_keeps_the_parents():
    data = simulate(n_variables=14, degree=1, sem="gp-additive", n_samples=200, random_state=2)
    evidence = GaussianProcessEvidence(data.data.to_numpy())
    candidates = candidate_parents(evidence, 6, Constraints.none(14))
    assert (candidates.sum(axis=0) == 6).all()
    assert not candidates.diagonal().any()
    assert (data.graph.edges & candidates).sum() >= data.graph.n_edges - 1
    forbidden = Knowledge(roots=[3]).over(range(14))
    assert not candidate_parents(evidence, 6, forbidden)[:, 3].any()


def test_the_gp_score_reads_its_options():
    data = simulate(n_variables=6, degree=1, sem="gp", n_samples=120, random_state=0)
    values = data.data.to_numpy()
    order = data.graph.positions
    orders = torch.from_numpy(order)[None]
    plain = sparse_gp_score(values)
    base = plain.terms(orders).sum()
    assert (plain.graph(order) != data.graph.edges).sum() <= 1
    additive = sparse_gp_score(values, table_size=1, kernel="additive")
    assert additive.name == "sparse-gp-additive"
    assert additive.terms(orders).sum() != base
    assert sparse_gp_score(values, penalty=3.0).terms(orders).sum() < base
    assert sparse_gp_score(values, max_samples=60).terms(orders).sum() > base  # fewer rows, less to explain
    assert sparse_gp_score(values, max_parents=1, table_size=1).graph(order).sum(axis=0).max() == 1
    assert len(sparse_gp_score(values, table_size=1).cache) == 7
    constraints = Knowledge(roots=[0]).over(range(6))
    kept = sparse_gp_score(values, constraints=constraints)
    assert not kept.graph(constraints.nearest_order(order))[:, 0].any()


def test_a_table_that_runs_out_of_time_ends_at_a_whole_size():
    # 6 variables: 1, 6, 15 and 20 sets of 0 to 3 parents
    order = np.arange(6)
    for max_time, size, n_evaluated in ((1, 1, 7), (40, 1, 21), (44, 2, 22), (1000, 3, 42)):
        local = SlowLocal(6, 0)
        score = SparseScore(local, ParentSets(max_parents=3), penalty=0, deadline=local.deadline(max_time))
        assert score.table_size == size
        assert local.n_sets == n_evaluated
        terms = score.terms(torch.from_numpy(order)[None])[0].numpy()
        assert terms == pytest.approx(brute_force(RandomLocal(6, 0), order, size, 0.0)[0], abs=1e-10)
        assert local.n_sets == n_evaluated  # nothing is grown past a table that was cut short
        cut = [note for note in score.notes if f"ends at {size} of 3 parents" in note]
        assert len(cut) == (size < 3)


def test_growth_ends_when_the_time_is_spent():
    orders = torch.from_numpy(np.stack([np.random.default_rng(k).permutation(6) for k in range(20)]))
    local = SlowLocal(6, 0)
    free = SparseScore(local, ParentSets(max_parents=5, table_size=1), penalty=0).terms(orders)
    local = SlowLocal(6, 0)
    score = SparseScore(local, ParentSets(max_parents=5, table_size=1), penalty=0, deadline=local.deadline(15))
    terms = score.terms(orders)
    assert local.n_sets <= 15 + local.sets_at_once
    assert (terms <= free).all()
    assert (terms < free).any()
    assert torch.equal(score.terms(orders), terms)
    edges = score.graph(orders[0].numpy())
    for t, v in enumerate(orders[0].tolist()):
        parents = tuple(np.flatnonzero(edges[:, v]).tolist())
        assert float(terms[0, t]) == pytest.approx(RandomLocal(6, 0).of_sets([parents])[0, v], abs=1e-10)
    assert [note for note in score.notes if "ended when the time was over" in note]


def test_building_a_gp_score_shows_progress_and_knows_max_time(caplog, monkeypatch):
    monkeypatch.setattr(deadline, "SECONDS_BETWEEN_LOG_LINES", 0.0)
    values = simulate(n_variables=5, degree=1, sem="gp", n_samples=60, random_state=0).data.to_numpy()
    table = Table(values, tuple("abcde"), True)
    caplog.set_level("INFO", logger="precede")
    for name in ("sparse-gp", "sparse-gp-additive"):
        caplog.clear()
        device = torch.device("cpu")
        silent = build_score(name, table, Constraints.none(5), device=device, verbose=False)
        assert not caplog.records
        short = build_score(name, table, Constraints.none(5), device=device, verbose=True, deadline=Deadline(1e-6))
        assert "scoring parent sets: 0/31 parents 0" in caplog.text
        assert (silent.table_size, short.table_size) == (8, 1)
        assert short.notes
        assert not silent.notes


def test_corl_says_that_the_table_was_cut():
    data = simulate(n_variables=5, degree=1, sem="gp", n_samples=60, random_state=0).data
    options = {"score": "sparse-gp", "n_iterations": 2, "diagnose": False, "random_state": 0, "verbose": False}
    for max_time in (None, 1e-6, 1000.0):
        found = CORL(max_time=max_time, **options).fit(data).diagnostics_
        assert any("ends at 1 of 8 parents" in remark for remark in found["remarks"]) == (max_time == 1e-6)
        assert found["search"]["out_of_time"] == (max_time == 1e-6)
