"""The whole search: never worse than what was scored, whatever cuts it short."""

import json
import os
import signal
from importlib import import_module

import numpy as np
import pytest

from precede import CORL, simulate
from precede.runtime.deadline import Deadline
from precede.scores.linear import LinearScore
from precede.scores.sparse_linear import NonGaussianScore
from precede.search.local import greedy_order


@pytest.fixture(autouse=True)
def ctrl_c():
    """Workers of a test run ignore Ctrl-C; Python does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


QUICK = {"n_iterations": 20, "batch_size": 8, "random_state": 0, "verbose": False, "diagnose": False}


def data(d: int = 6, **options):
    return simulate(n_variables=d, degree=2, n_samples=200, random_state=3, **options).data


class Interrupting(LinearScore):
    """Somebody presses Ctrl-C while the score is asked for the k-th time."""

    def __init__(self, values, k: int):
        super().__init__(values)
        self.left = k

    def count(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

    def terms(self, orders):
        self.count()
        return super().terms(orders)

    def insertion_sums(self, order):
        self.count()
        return super().insertion_sums(order)

    def bounds(self):
        self.count()
        return super().bounds()


@pytest.mark.parametrize("options", [{}, {"pretrained": None}, {"polish": False}], ids=["default", "scratch", "alone"])
def test_an_interrupt_at_any_moment_keeps_the_best_order_known(options):
    table = data()
    plain = LinearScore(table.to_numpy())
    greedy = plain.score_of(greedy_order(plain))
    uninterrupted = 0
    for k in [*range(1, 12), 15, 20, 25, 200]:
        score = Interrupting(table.to_numpy(), k)
        before = signal.getsignal(signal.SIGINT)
        model = CORL(score, **{**QUICK, **options}).fit(table)
        assert signal.getsignal(signal.SIGINT) is before
        search = model.diagnostics_["search"]
        json.dumps(search, allow_nan=False)
        assert search["interrupted"] == (score.left <= 0)
        uninterrupted += not search["interrupted"]
        assert np.isfinite(model.score_)
        order = np.array([table.columns.get_loc(name) for name in model.causal_order_])
        assert plain.score_of(order) == pytest.approx(model.score_)
        if options.get("polish", True):
            assert model.score_ >= greedy - 1e-9 * abs(greedy)
    assert uninterrupted


def interrupt_in(monkeypatch, where: str) -> None:
    """Somebody presses Ctrl-C as a function is called."""
    module, _, name = where.rpartition(".")
    before = getattr(import_module(module), name)

    def pressed(*arguments, **options):
        os.kill(os.getpid(), signal.SIGINT)
        return before(*arguments, **options)

    monkeypatch.setattr(where, pressed)


@pytest.mark.parametrize("where", ["precede.corl.fit.build_score", "precede.search.run.greedy_order"])
def test_an_interrupt_before_the_greedy_order_still_ends_with_it(where, monkeypatch):
    table = data()
    score = NonGaussianScore(table[sorted(table)].to_numpy())
    interrupt_in(monkeypatch, where)
    model = CORL("nongaussian", **QUICK).fit(table)
    assert model.diagnostics_["search"]["interrupted"]
    greedy = score.score_of(greedy_order(score))
    assert model.score_ >= greedy - 1e-9 * abs(greedy)


def test_an_interrupt_in_the_table_of_a_gp_score_leaves_single_parents(monkeypatch):
    """It left none, and a graph without edges."""
    table = simulate(n_variables=4, degree=1, n_samples=80, sem="gp", random_state=0).data
    interrupt_in(monkeypatch, "precede.corl.fit.build_score")
    model = CORL("sparse-gp", **QUICK).fit(table)
    assert model.diagnostics_["search"]["interrupted"]
    assert model.graph_.n_edges > 0


@pytest.mark.parametrize("ending", ["interrupted", "out_of_time"])
def test_exact_search_that_is_cut_short_ends_with_the_greedy_order(ending, monkeypatch):
    """Dynamic programming looked at no clock."""
    table = data()
    limit = 1e-9 if ending == "out_of_time" else None
    if ending == "interrupted":
        interrupt_in(monkeypatch, "precede.search.run.exact_order")
    model = CORL("linear", search="exact", max_time=limit, verbose=False, diagnose=False).fit(table)
    search = model.diagnostics_["search"]
    assert search[ending]
    assert not search["exact"]
    plain = LinearScore(table.to_numpy())
    assert model.score_ == pytest.approx(plain.score_of(greedy_order(plain)))


@pytest.mark.parametrize("where", ["precede.estimator.sample_of", "precede.evidence.checks.edge_readings.read_edges"])
def test_an_interrupt_after_the_search_keeps_its_result(where, monkeypatch):
    table = data()
    options = {**QUICK, "diagnose": True}
    whole = CORL("linear", **options).fit(table)
    interrupt_in(monkeypatch, where)
    model = CORL("linear", **options).fit(table)
    assert model.graph_ == whole.graph_
    assert not model.diagnostics_["search"]["interrupted"]
    assert any("checks were interrupted" in remark.sentence for remark in model.diagnostics_.remarks)


def test_never_worse_than_any_order_that_was_scored():
    """More iterations never give a worse result: the greedy order and the first look are polished too."""
    table = data(12, sem="lingam")
    options = {**QUICK, "score": "nongaussian", "patience": None}
    scores = [CORL(**{**options, "n_iterations": n}).fit(table).score_ for n in (1, 10, 30)]
    assert scores == sorted(scores)
    found = CORL(**options).fit(table).diagnostics_["search"]
    assert found["best_score"] >= max(found["greedy_score"], found["policy_score"])
    scratch = CORL(**options, pretrained=None).fit(table).diagnostics_["search"]
    assert scratch["best_score"] >= max(scratch["greedy_score"], scratch["policy_score"])


def test_the_record_adds_up():
    table = data(10, sem="lingam")
    found = CORL("nongaussian", patience=10, **QUICK).fit(table).diagnostics_["search"]
    start = max(found["greedy_score"], NonGaussianScore(table.to_numpy()).score_of(np.array(found["policy_order"])))
    assert start + found["polish_gain"] + found["rl_gain"] == pytest.approx(found["best_score"], rel=1e-9)
    assert found["rl_gain"] >= 0
    assert not found["out_of_time"]
    scratch = CORL("nongaussian", pretrained=None, **QUICK).fit(table).diagnostics_["search"]
    whole = scratch["greedy_score"] + scratch["polish_gain"] + scratch["rl_gain"]
    assert whole == pytest.approx(scratch["best_score"], rel=1e-9)


@pytest.mark.parametrize(
    ("pretrained", "said"), [("default", "Independent searches agree"), (None, "No search found a better order")]
)
def test_the_sentence_says_what_the_searches_found(pretrained, said):
    table = data(6, sem="lingam")
    options = {**QUICK, "n_iterations": 2, "patience": None, "diagnose": "quick"}
    model = CORL("nongaussian", pretrained=pretrained, **options).fit(table)
    sentence = next(check.sentence for check in model.diagnostics_.checks if check.name.startswith("distance"))
    assert sentence.startswith(f"{said} (score {model.score_:.2f})")
    record = model.diagnostics_["search"]
    assert {"greedy_score", "polish_gain", "rl_gain"} <= set(record)  # what each part added


def test_time_over_before_anything_is_learned():
    found = CORL("nongaussian", max_time=1e-6, **QUICK).fit(data()).diagnostics_["search"]
    assert found["out_of_time"]
    assert found["iterations"] == 0
    assert np.isfinite(found["best_score"])


def test_one_deadline_for_score_search_and_greedy(monkeypatch):
    """The clock is looked at in every phase: a long one takes nothing from the limit's hold on the next."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(
        "precede.corl.estimator.Deadline", lambda limit: Deadline(limit, clock=lambda: float(next(seconds)))
    )
    for limit in (1.0, 30.0, 100.0):
        found = CORL("nongaussian", max_time=limit, n_restarts=1000, **{**QUICK, "n_iterations": 10_000}).fit(data())
        assert found.diagnostics_["search"]["out_of_time"]
        assert found.diagnostics_["search"]["seconds"] < limit + 60  # ticks: every look is one


class Uneven(LinearScore):
    """Climbs that end where they begin: the two starts never agree."""

    def insertion_sums(self, order):
        return self.sums(order[None]).repeat(len(order), len(order))


def test_a_pretrained_policy_is_trained_where_polish_leaves_a_question_open():
    table = data(8)
    options = {"random_state": 0, "verbose": False, "diagnose": False}
    settled = CORL("linear", **options).fit(table).diagnostics_["search"]
    assert settled["climbs_agree"]
    assert settled["iterations"] == 0
    assert "rl_gain" not in settled
    open_question = CORL(Uneven(table.to_numpy()), **options).fit(table).diagnostics_["search"]
    assert not open_question["climbs_agree"]
    assert open_question["iterations"] > 0
    assert open_question["kind"] == "policy"
    assert "ended at different scores" in open_question["why"]
    cheap = CORL("sparse-linear", **options).fit(table).diagnostics_["search"]
    assert cheap["iterations"] == 0


def test_a_policy_is_not_trained_on_its_own_probabilities_unless_that_is_asked_for():
    model = CORL("policy", random_state=0, verbose=False, diagnose=False).fit(data(standardize=True))
    assert model.diagnostics_["search"]["iterations"] == 0
    assert "nothing to learn" in model.diagnostics_["search"]["why"]
    assert CORL("policy", **QUICK).fit(data(standardize=True)).diagnostics_["search"]["iterations"] == 20
    assert model.diagnostics_["search"]["best_score"] >= model.diagnostics_["search"]["greedy_score"]
    assert model.sample_orders(5, random_state=0).orders.shape == (5, 6)
