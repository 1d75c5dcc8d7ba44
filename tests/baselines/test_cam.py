"""CAM: recovery, knowledge, every option, and its shortcuts against plain computations."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from precede.baselines import cam as cam_module
from precede.baselines import iterative
from precede.baselines.cam import CAM, GreedySearch, SplineBank, likely_parents
from precede.errors import KnowledgeError, OptionError
from precede.graph.dags import is_acyclic
from precede.knowledge import Constraints, Knowledge

NAMES = list("abcdefg")
EDGES = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e"), ("b", "f"), ("f", "g")]


def sines(seed=0, m=400):
    """Additive sines along EDGES, columns shuffled."""
    rng = np.random.default_rng(seed)
    data = {}
    for name in NAMES:
        noise = 0.5 * rng.normal(size=m)
        causes = [cause for cause, effect in EDGES if effect == name]
        data[name] = sum((np.sin(1.5 * data[c] + rng.uniform(0, 1)) for c in causes), start=noise * (1 + (not causes)))
    return pd.DataFrame(data)[list("dagcfbe")]


def edges_of(model):
    return {(cause, effect) for cause, effect, _ in model.graph_.edge_list()}


@pytest.fixture(scope="module")
def data():
    return sines()


@pytest.fixture(scope="module")
def fitted(data):
    return CAM(verbose=False).fit(data)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("selection", [True, False])
def test_recovers_an_additive_graph(seed, selection):
    found = edges_of(CAM(preliminary_selection=selection, verbose=False).fit(sines(seed)))
    assert len(found ^ set(EDGES)) <= 1


def test_fitted_attributes(data, fitted):
    assert list(fitted.adjacency_matrix_.columns) == list(data.columns)
    assert is_acyclic(fitted.graph_.edges)
    assert fitted.weights_.to_numpy()[fitted.graph_.edges].min() > 0.1
    assert fitted.history_["gain"].gt(-1e-3).all()  # selecting all smoothing anew may take a little back
    assert set(zip(fitted.history_["cause"][:7], fitted.history_["effect"][:7], strict=True)) == set(EDGES)
    assert fitted.score_ == fitted.history_["score"].iloc[-1]
    first = fitted.history_.iloc[0]
    assert fitted.score_ == pytest.approx(first["score"] - first["gain"] + fitted.history_["gain"].sum())
    assert fitted.diagnostics_["n_edges_before_pruning"] == len(fitted.history_)


def test_score_is_minus_the_log_deviations(data):
    alone = CAM(verbose=False, knowledge=Knowledge(roots=NAMES, required=[])).fit(data)
    assert not alone.graph_.n_edges
    assert alone.score_ == pytest.approx(-np.log(data.std(ddof=0)).sum())


def test_deterministic_and_data_unchanged(data, fitted):
    before = data.copy()
    again = clone(fitted).fit(data)
    pd.testing.assert_frame_equal(again.weights_, fitted.weights_)
    pd.testing.assert_frame_equal(data, before)


def test_column_permutation_permutes_the_result(data, fitted):
    other = CAM(verbose=False).fit(data[NAMES[::-1]])
    assert edges_of(other) == edges_of(fitted)


def test_units_do_not_matter(data, fitted):
    assert edges_of(CAM(verbose=False).fit(data * np.arange(1, 8) ** 3 + 5)) == edges_of(fitted)


def test_knowledge_is_obeyed(data, fitted):
    assert ("a", "b") in edges_of(fitted)
    knowledge = Knowledge(required=[("e", "g")], forbidden=[("a", "b")], tiers=[["d"], ["a", "c"]], sinks=["b"])
    for selection in (True, False):
        found = CAM(knowledge=knowledge, preliminary_selection=selection, verbose=False).fit(data)
        assert not knowledge.over(list(data.columns)).violated_by(found.graph_.edges)
        assert ("e", "g") in edges_of(found)
        assert knowledge.over(list(data.columns)).permits(found.graph_.positions)
    unpruned = CAM(knowledge=knowledge, pruning=False, verbose=False).fit(data)
    assert not knowledge.over(list(data.columns)).violated_by(unpruned.graph_.edges)
    with pytest.raises(KnowledgeError, match="nowhere"):
        CAM(knowledge=Knowledge(roots=["nowhere"])).fit(data)


def test_without_pruning_the_graph_is_dense(data, fitted):
    dense = CAM(pruning=False, verbose=False).fit(data)
    assert dense.graph_.n_edges > 15
    assert dense.graph_.n_edges == len(fitted.history_)
    assert (dense.weights_.to_numpy()[dense.graph_.edges] > 0).all()


def test_cutoff_is_read(data, fitted):
    assert CAM(cutoff=0.5, verbose=False).fit(data).graph_.n_edges > fitted.graph_.n_edges


def test_preliminary_selection_and_its_size(data):
    unlimited = CAM(preliminary_selection=False, verbose=False).fit(data)
    assert unlimited.diagnostics_["n_candidate_edges"] == 42
    two = CAM(preliminary_selection=True, max_neighbors=2, pruning=False, verbose=False).fit(data)
    assert two.diagnostics_["n_candidate_edges"] <= 14
    assert two.graph_.edges.sum(axis=0).max() <= 2


def test_automatic_selection_begins_past_twenty_variables():
    rng = np.random.default_rng(0)
    for d, selected in ((20, False), (21, True)):
        model = CAM(pruning=False, max_parents=1, verbose=False).fit(rng.normal(size=(60, d)))
        assert model.diagnostics_["preliminary_selection"] is selected


def test_max_parents_is_read(data):
    one = CAM(max_parents=1, pruning=False, verbose=False).fit(data)
    assert one.graph_.edges.sum(axis=0).max() == 1
    few = CAM(pruning=False, verbose=False).fit(data.iloc[:50])  # 50 / 20 rounds to 2
    assert few.graph_.edges.sum(axis=0).max() == 2


def test_max_time_stops_the_search(data):
    stopped = CAM(max_time=1e-9, verbose=False).fit(data)
    assert stopped.graph_.n_edges == 0
    assert stopped.diagnostics_["stopped_by_max_time"]


@pytest.mark.parametrize("verbose", [True, False])
def test_verbose_is_passed_to_the_progress_bar(data, verbose, monkeypatch):
    seen = []

    class Bar(iterative.ProgressBar):
        def __init__(self, label, total, verbose):
            seen.append(verbose)
            super().__init__(label, total, False)

    monkeypatch.setattr(iterative, "ProgressBar", Bar)
    CAM(verbose=verbose).fit(data)
    assert seen == [verbose]


@pytest.mark.parametrize(
    ("option", "value"),
    [("preliminary_selection", "yes"), ("max_neighbors", 0), ("max_parents", 1.5), ("cutoff", 2), ("max_time", -1)],
)
def test_bad_options_are_refused(data, option, value):
    with pytest.raises(OptionError, match=option):
        CAM(verbose=False, **{option: value}).fit(data)


def test_discrete_columns_are_welcome():
    rng = np.random.default_rng(0)
    coin = rng.integers(2, size=300).astype(float)
    level = rng.integers(3, size=300) + coin
    data = np.column_stack([np.sin(level) + 0.2 * rng.normal(size=300), level, coin])
    found = CAM(verbose=False, preliminary_selection=True).fit(data)
    assert found.graph_.edges[0, 1] or found.graph_.edges[1, 0]


def test_trying_an_edge_equals_the_penalized_fit():
    """The batched Schur complement against one dense solve, at the smoothing that the batch chose."""
    values = sines(1).to_numpy().copy()
    values[:, 3] = np.round(values[:, 3])  # filled columns in the bank
    bank = SplineBank.of(values, 6)
    required = np.zeros((7, 7), dtype=bool)
    required[[1, 3], 0] = True
    search = GreedySearch(bank, Constraints(required, ~np.eye(7, dtype=bool), required), ~np.eye(7, dtype=bool), 6)
    candidates = np.array([2, 4, 5])
    quick = search._residuals_with(0, candidates)
    fit = search.fits[0]
    target_of = bank.cross[:, 0]
    for k, candidate in enumerate(candidates):
        columns = bank.columns_of(np.array([1, 3, candidate]))
        term = columns // bank.width
        cross, target, rough = bank.cross[np.ix_(columns, columns)], target_of[columns], bank.roughness.ravel()[columns]
        best = (np.inf, np.nan)
        for rho in np.arange(-14, 16.25, 0.5):
            smoothing = np.select([term == 1, term == 3], fit.log_smoothing, rho)
            normal = cross + np.diag(np.exp(smoothing) * rough + 1e-8)
            beta = np.linalg.solve(normal, target)
            misfit = 1 - beta @ target
            criterion = (len(values) - 4) * np.log(misfit) + np.linalg.slogdet(normal)[1]
            criterion -= rho * ((term == candidate) & (rough > 0)).sum()
            best = min(best, (criterion, 1 - 2 * beta @ target + beta @ cross @ beta))
        assert quick[k] == pytest.approx(best[1], rel=1e-5)


def test_only_admissible_edges_keep_it_acyclic():
    bank = SplineBank.of(sines(2).to_numpy(), 5)
    search = GreedySearch(bank, Constraints.none(7), ~np.eye(7, dtype=bool), 6)
    while (added := search.add_best_edge()) is not None:
        assert is_acyclic(search.edges)
        assert search.reach[added[0], added[1]]
        assert not (search.admissible & search.reach.T).any()


def test_boosting_finds_the_neighbors():
    frame = sines(0, m=600)
    names = list(frame.columns)
    allowed = ~np.eye(7, dtype=bool)
    allowed[names.index("a"), names.index("b")] = False
    likely = likely_parents(SplineBank.of(frame.to_numpy(), 10), allowed, 3)
    assert likely.sum(axis=0).max() <= 3
    assert not (likely & ~allowed).any()
    for cause, effect in set(EDGES) - {("a", "b")}:
        assert likely[names.index(cause), names.index(effect)]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_boosting_leaves_no_more_than_the_limit(most):
    causes = np.random.default_rng(0).normal(size=(400, 3))  # of equal weight, so that ties at the limit are likely
    bank = SplineBank.of(np.column_stack([causes, causes.sum(axis=1)]), 5)
    chosen = likely_parents(bank, ~np.eye(4, dtype=bool), most)[:, 3]
    assert chosen.sum() <= most
    assert chosen.sum() == 3 or most < 3


def test_boosting_wants_more_than_two_steps_in_a_hundred(monkeypatch):
    bank = SplineBank.of(sines(0, m=600).to_numpy(), 10)
    allowed = ~np.eye(7, dtype=bool)
    monkeypatch.setattr(cam_module, "LEAST_SELECTED", 0.0)
    every = likely_parents(bank, allowed, 7)
    monkeypatch.setattr(cam_module, "LEAST_SELECTED", 1.0)  # what is chosen every time is not chosen more often
    assert every.any()
    assert not likely_parents(bank, allowed, 7).any()
