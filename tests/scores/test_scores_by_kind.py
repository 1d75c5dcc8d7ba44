"""Scores of columns with levels: right by hand, equal on equivalent graphs, quick moves right, knowledge obeyed."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import gammaln
from scipy.stats import multivariate_normal

from precede.corl import CORL
from precede.data.load import load_table
from precede.errors import DataError, OptionError
from precede.graph.dags import cpdag
from precede.kinds import ColumnKind
from precede.knowledge import Knowledge, constraints_over
from precede.pruning.order_to_graph import LevelRegressions
from precede.scores.build import build_score
from precede.scores.choose import choose_score
from precede.scores.grow_shrink import FamiliesScore
from precede.scores.levels import KIND_SCORES, score_for
from precede.scores.levels.families import ConditionalGaussianFamilies, DiscreteFamilies
from precede.scores.sparse_linear import SparseLinearScore
from precede.search.polish import polish
from precede.simulation import simulate

CPU = torch.device("cpu")
QUICK = {"n_iterations": 2, "batch_size": 4, "random_state": 0, "verbose": False}


def mixed_frame(n=800, seed=0):
    """a (words) -> c <- b, c -> d (0/1), e (count) alone."""
    rng = np.random.default_rng(seed)
    a = rng.choice(["low", "mid", "top"], size=n)
    b = rng.normal(size=n)
    c = 2.0 * (a == "mid") - 1.5 * (a == "top") + 1.5 * b + rng.normal(size=n)
    d = (c + rng.logistic(size=n) > 0).astype(int)
    e = rng.poisson(20, size=n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e - e.min()})


def discrete_frame(n=1500, seed=0):
    """a -> c <- b, c -> d, all with two or three levels."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, n), rng.integers(0, 2, n)
    c = np.where(rng.random(n) < 0.15, rng.integers(0, 2, n), (a == 1) | (b == 1))
    d = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), 2 * c)
    return pd.DataFrame({"a": np.array(list("xyz"))[a], "b": b, "c": c == 1, "d": np.array(list("uvw"))[d]})


FRAMES = {
    "discrete-bic": discrete_frame,
    "bdeu": discrete_frame,
    "degenerate-gaussian": mixed_frame,
    "conditional-gaussian": mixed_frame,
}


def score_of(name, frame, knowledge=None):
    table = load_table(frame)
    return build_score(name, table, constraints_over(knowledge, table.names), device=CPU)


def contingency(frame, child, parents):
    cells = frame.groupby([*parents, child], observed=True).size()
    return cells.groupby(level=parents if len(parents) > 1 else parents[0]) if parents else [(None, cells)]


@pytest.mark.parametrize("parents", [[], ["a"], ["a", "b"]])
def test_discrete_families_by_hand(parents):
    frame = discrete_frame(300)
    table = load_table(frame)
    levels = [kind.n_levels for kind in table.kinds]
    bic, bdeu = (score_of(name, frame).local for name in ("discrete-bic", "bdeu"))
    places = tuple(table.names.index(p) for p in parents)
    combinations = np.prod([levels[p] for p in places])
    fit = evidence = 0.0
    prior = 10 / (2 * combinations)
    for _, counts in contingency(frame, "c", parents):
        n = counts.to_numpy()
        fit += (n * np.log(n / n.sum())).sum()
        evidence += (gammaln(n + prior) - gammaln(prior)).sum() + gammaln(2 * prior) - gammaln(2 * prior + n.sum())
    assert bic.of(2, places) == pytest.approx(fit - np.log(300) / 2 * combinations)
    assert bdeu.of(2, places) == pytest.approx(evidence)


def test_a_combination_that_is_missing_still_costs_its_parameters():
    codes = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5)
    local = DiscreteFamilies(codes, (2, 2, 2))
    assert local.of(2, (0, 1)) - local.of(2, (0,)) == pytest.approx(-2 * np.log(20) / 2)


def test_numbers_alone_are_the_sparse_linear_score():
    data = simulate(n_variables=8, degree=2, n_samples=400, standardize=True, random_state=1).data
    table = load_table(data)
    mixed = build_score("degenerate-gaussian", table, constraints_over(None, table.names), device=CPU)
    linear = SparseLinearScore(table.values, penalty=1.0)
    orders = torch.stack([torch.randperm(8, generator=torch.Generator().manual_seed(k)) for k in range(20)])
    difference = linear.sums(orders) - mixed.sums(orders)
    assert (difference - difference[0]).abs().max() < 1e-6
    for order in orders[:3].numpy():
        np.testing.assert_array_equal(linear.graph(order), mixed.graph(order))


def test_conditional_gaussian_by_hand():
    frame = mixed_frame(400)
    local = score_of("conditional-gaussian", frame).local
    price = np.log(400) / 2
    numbers = frame[["b", "c"]] / frame[["b", "c"]].std(ddof=0)
    whole = multivariate_normal(numbers.mean(), np.cov(numbers.T, ddof=0)).logpdf(numbers).sum()
    assert local.of(1, ()) + local.of(2, (1,)) == pytest.approx(whole - 5 * price)
    shares = frame["a"].value_counts()
    assert local.of(0, ()) == pytest.approx((shares * np.log(shares / 400)).sum() - 2 * price)
    fit = 0.0
    pooled = np.mean([(numbers["c"] - numbers["c"].groupby(frame["a"]).transform("mean")) ** 2])
    for level, size in shares.items():
        c = numbers["c"][frame["a"] == level]
        variance = (((c - c.mean()) ** 2).sum() + 2 * pooled) / (size + 2)
        fit += -size / 2 * np.log(2 * np.pi * variance) - ((c - c.mean()) ** 2).sum() / (2 * variance)
    assert local.of(2, (0,)) == pytest.approx(fit - price * 3 * 2)


def test_partitions_that_give_way_change_nothing(monkeypatch):
    frame = mixed_frame(200)
    whole = score_of("conditional-gaussian", frame).local
    monkeypatch.setattr("precede.scores.levels.families.MOST_NUMBERS", 1)
    small = score_of("conditional-gaussian", frame).local
    assert isinstance(small, ConditionalGaussianFamilies)
    for variable, parents in [(2, (0, 1)), (2, (0, 3)), (3, (0,)), (2, (0, 1))]:
        assert small.of(variable, parents) == whole.of(variable, parents)


@pytest.mark.parametrize("name", KIND_SCORES)
def test_equivalent_graphs_have_the_same_sum(name):
    local = score_of(name, FRAMES[name]()).local
    chains = [[(0, 2), (2, 3)], [(2, 0), (2, 3)], [(3, 2), (2, 0)]]
    complete = [[(o[0], o[1]), (o[0], o[2]), (o[1], o[2])] for o in permutations((0, 2, 3))]

    def total(edges):
        return sum(local.of(v, tuple(sorted(i for i, j in edges if j == v))) for v in (0, 2, 3))

    for group in (chains, complete):
        sums = [total(edges) for edges in group]
        assert np.ptp(sums) < 1e-8 * abs(sums[0])
    assert abs(total([(0, 2), (3, 2)]) - total(chains[0])) > 1  # a collider is another class


@pytest.mark.parametrize("name", KIND_SCORES)
def test_terms_are_the_families_of_the_graph(name):
    score = score_of(name, FRAMES[name]())
    d = score.n_variables
    for seed in range(3):
        order = torch.randperm(d, generator=torch.Generator().manual_seed(seed))
        edges = score.graph(order.numpy())
        own = [score.local.of(int(v), tuple(np.flatnonzero(edges[:, v]).tolist())) for v in order]
        torch.testing.assert_close(score.terms(order[None])[0], torch.tensor(own, dtype=torch.float64))
    assert (score.bounds() >= score.terms(torch.arange(d)[None])[0] - 1e-9).all()


@pytest.mark.parametrize("name", KIND_SCORES)
def test_expansions_say_where_to_go(name):
    score = score_of(name, FRAMES[name]())
    for variable, parents in [(2, ()), (2, (0,)), (3, (0, 2)), (0, (1,))]:
        found = score.expand(variable, parents)
        gains = dict(zip(found.rivals.tolist(), found.gains, strict=True))
        for one in set(range(score.n_variables)) - {variable, *parents}:
            gain = score.local.of(variable, tuple(sorted((*parents, one)))) - found.score
            assert gains.get(one, min(gain, 0.0)) == pytest.approx(gain)
    unrelated = score.expand(1, (0,))
    assert unrelated.losses[0] < 0  # a tells nothing about b alone
    assert unrelated.losses[0] == pytest.approx(score.local.of(1, (0,)) - score.local.of(1, ()))


@pytest.mark.parametrize("name", KIND_SCORES)
def test_the_graph_is_found_up_to_its_class(name):
    frame = FRAMES[name]()
    before = frame.copy()
    model = CORL(score=name, **QUICK).fit(frame)
    edges = {("a", "c"), ("b", "c"), ("c", "d")}
    truth = np.array([[(i, j) in edges for j in frame] for i in frame])
    np.testing.assert_array_equal(model.cpdag_, cpdag(truth))
    assert model.diagnostics_["identifies"] == "cpdag"
    words = {column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])}
    assert {(r["cause"], r["effect"]) for r in model.diagnostics_["levels"]} == {
        (i, j) for i, j, _ in model.graph_.edge_list() if {i, j} & words
    }
    assert any("Some directions cannot be determined" in remark for remark in model.diagnostics_["remarks"])
    pd.testing.assert_frame_equal(frame, before)
    again = CORL(score=name, **QUICK).fit(frame)
    np.testing.assert_array_equal(model.weights_, again.weights_)
    turned = CORL(score=name, **QUICK).fit(frame[frame.columns[::-1]])
    pd.testing.assert_frame_equal(turned.cpdag_.loc[list(frame), list(frame)], model.cpdag_)


@pytest.mark.parametrize("name", KIND_SCORES)
def test_knowledge_is_obeyed(name):
    frame = FRAMES[name]()
    knowledge = Knowledge(required=[("d", "a")], forbidden=[("b", "c")], tiers=[["d"], ["a", "b", "c"]])
    graph = CORL(score=name, knowledge=knowledge, **QUICK).fit(frame).graph_
    position = {v: k for k, v in enumerate(graph.order)}
    assert graph.adjacency.loc["d", "a"] == 1
    assert graph.adjacency.loc["b", "c"] == 0
    assert position["d"] < min(position[v] for v in "abc")


def test_polish_and_exact_search_agree():
    frame = discrete_frame()
    exact = CORL(score="bdeu", search="exact", verbose=False).fit(frame)
    score = score_of("bdeu", frame)
    found = polish(score, np.arange(4), n_restarts=5, rng=np.random.default_rng(0))
    assert found.score == pytest.approx(exact.score_)


def test_kinds_choose_the_score():
    number, binary = ColumnKind("number"), ColumnKind("binary", (0.0, 1.0), ("0", "1"))
    likert = ColumnKind("ordinal", tuple(map(float, range(5))), tuple("01234"))
    assert score_for([number, number]) is None
    assert score_for([binary, likert])[0] == "discrete-bic"
    assert score_for([likert, likert])[0] == "degenerate-gaussian"
    assert score_for([number, binary])[0] == "degenerate-gaussian"
    choice = choose_score(load_table(mixed_frame()))
    assert choice.name == "degenerate-gaussian"
    assert "3 of 5 columns are counts or have levels" in choice.reason


def test_the_smokers_chain_claims_no_direction():
    rng = np.random.default_rng(0)
    smoker = rng.random(1000) < 0.3
    tar = rng.poisson(1 + 4 * smoker)
    cancer = rng.random(1000) < 1 / (1 + np.exp(3 - 0.6 * tar))
    visits = rng.poisson(1 + 5 * cancer)
    frame = pd.DataFrame({"visits": visits, "cancer": 1 * cancer, "tar": tar, "smoker": 1 * smoker})
    model = CORL(**QUICK).fit(frame)
    pattern = model.cpdag_
    assert set(zip(*np.nonzero(np.triu(pattern)), strict=True)) == {(0, 1), (1, 2), (2, 3)}
    np.testing.assert_array_equal(pattern, pattern.T)  # transposed: no edge is directed
    said = next(check for check in model.diagnostics_["checks"] if check["name"] == "identifiability")
    assert said["level"] == "warning"
    assert "cannot be determined" in said["sentence"]
    levels = {check["name"]: check["level"] for check in model.diagnostics_["checks"]}
    assert levels["residual normality"] == levels["nonlinearity"] == "not run"


def test_refusals():
    with pytest.raises(DataError, match="column 'a' is categorical, and score='linear' takes numbers"):
        CORL(score="linear", **QUICK).fit(mixed_frame())
    with pytest.raises(DataError, match="column 'b', 'c', 'e' has no levels"):
        CORL(score="discrete-bic", **QUICK).fit(mixed_frame())
    with pytest.raises(OptionError, match="pruning='cam' cannot be used with score='degenerate-gaussian'"):
        CORL(pruning="cam", **QUICK).fit(mixed_frame())
    with pytest.raises(OptionError, match="score='bdeu' does not take noise='equal'"):
        CORL(score="bdeu", noise="equal", **QUICK).fit(discrete_frame())
    with pytest.raises(OptionError, match="must be positive"):
        DiscreteFamilies(np.zeros((3, 2), dtype=int), (1, 1), penalty=0)


def test_weights_and_effects_by_level():
    frame = mixed_frame(5000)
    table = load_table(frame)
    edges = np.zeros((5, 5), dtype=bool)
    edges[[0, 1], 2] = edges[2, 3] = edges[2, 0] = True
    edges[0, 2] = True
    found = LevelRegressions(table, edges)
    weights = found.weights()
    assert weights[1, 2] == pytest.approx(1.5, abs=0.05)
    assert 0.7 < weights[0, 2] < 0.9  # standard deviations of 1.4 by the levels and 1 by the noise
    assert 0 < weights[2, 3] < 0.5  # a difference in probability
    by_level = {(record.cause, record.effect): record for record in found.effects()}
    assert set(by_level) == {("a", "c"), ("c", "a")}
    np.testing.assert_allclose(np.ravel(by_level["a", "c"].effects), [0, 2, -1.5], atol=0.1)
    assert by_level["c", "a"].effect_levels == ("low", "mid", "top")
    assert np.sum(by_level["c", "a"].effects) == pytest.approx(0, abs=1e-9)


def test_bootstrap_keeps_the_levels():
    frame = discrete_frame(200)
    frame.loc[0, "a"] = "rare"  # lost in a third of the resamples
    found = CORL(score="bdeu", **QUICK).bootstrap(frame, n_resamples=5, random_state=0)
    assert found.edge_probability.shape == (4, 4)


def test_a_parent_is_exchanged_where_growth_took_a_coarse_proxy():
    rng = np.random.default_rng(0)
    n = 1200
    left, right = rng.integers(0, 4, (2, n))
    effect = np.minimum(left, right)
    echo = np.where(rng.random(n) < 0.25, rng.integers(0, 4, n), effect)
    proxy = 2 * echo + rng.integers(0, 2, n)  # tells more than either cause alone, at the price of eight levels
    local = DiscreteFamilies(np.column_stack([left, right, proxy, effect]), (4, 4, 8, 4))
    grown = FamiliesScore(local, "discrete-bic", exchange=False)
    exchanged = FamiliesScore(local, "discrete-bic")
    order = np.array([0, 1, 2, 3])
    assert np.flatnonzero(grown.graph(order)[:, 3]).tolist() != [0, 1]
    assert np.flatnonzero(exchanged.graph(order)[:, 3]).tolist() == [0, 1]
    assert exchanged.score_of(order) > grown.score_of(order)
