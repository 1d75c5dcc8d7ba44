"""A search that starts from an order of one's own, and who hears of it."""

import numpy as np
import pytest

from precede import CORL, CausalGraph, Knowledge, simulate
from precede.errors import OptionError
from precede.runtime.deadline import Step, subscribe
from precede.search import run
from precede.search.polish import polish

OPTIONS = {"score": "linear", "n_iterations": 0, "diagnose": False, "random_state": 0, "verbose": False}


@pytest.fixture
def starts(monkeypatch):
    """Where polish starts."""
    given = []

    def watched(score, order, *arguments, others=(), **options):
        given.extend([order.tolist(), *(other.tolist() for other in others)])
        return polish(score, order, *arguments, others=others, **options)

    monkeypatch.setattr(run, "polish", watched)
    return given


def data():
    return simulate(n_variables=5, degree=2, n_samples=200, random_state=0).data  # columns x1 to x5, sorted


def test_polish_starts_from_the_given_order_too(starts):
    CORL(**OPTIONS, initial_order=["x5", "x4", "x3", "x2", "x1"]).fit(data())
    assert [4, 3, 2, 1, 0] in starts
    assert len(starts) == 2  # the greedy order and the given one: without iterations no policy is asked
    CORL(**{**OPTIONS, "n_iterations": 1}, initial_order=["x5", "x4", "x3", "x2", "x1"]).fit(data())
    assert len(starts[2:]) >= 3  # and the policy's


def test_what_the_data_cannot_tell_stays_as_it_was():
    """Directions that a score leaves open follow the given order, so that a second fit changes nothing by itself."""
    options = {**OPTIONS, "score": "sparse-linear"}
    table = simulate(n_variables=6, degree=2, n_samples=500, random_state=1).data
    first = CORL(**{**options, "n_iterations": 5}).fit(table)
    again = CORL(**options, initial_order=first.causal_order_).fit(table)
    assert (again.graph_.edges == first.graph_.edges).all()
    with pytest.raises(OptionError, match="there is no policy to draw from"):
        again.sample_orders(5)


def test_a_given_order_is_bent_to_the_knowledge(starts):
    known = Knowledge(roots=["x1"])
    model = CORL(**OPTIONS, knowledge=known, initial_order=("x5", "x4", "x3", "x2", "x1")).fit(data())
    assert [0, 4, 3, 2, 1] in starts
    assert not model.graph_.edges[:, 0].any()


def test_the_columns_may_come_in_any_sequence(starts):
    CORL(**OPTIONS, initial_order=["x2", "x1", "x3", "x4", "x5"]).fit(data()[["x3", "x1", "x5", "x2", "x4"]])
    assert [1, 0, 2, 3, 4] in starts


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (["x1", "x2"], "must list each column once, and that fails for 'x3', 'x4', 'x5'"),
        (["x1", "x1", "x2", "x3", "x4", "x5"], "it repeats one"),
        ("x1", "must be a list, a tuple or None"),
    ],
)
def test_what_is_no_order_is_refused(order, words):
    with pytest.raises(OptionError, match=words):
        CORL(**OPTIONS, initial_order=order).fit(data())


@pytest.mark.parametrize("options", [{"search": "exact"}, {"polish": False}])
def test_an_order_that_nothing_would_read_is_refused(options):
    with pytest.raises(OptionError, match="initial_order is where polish starts"):
        CORL(**{**OPTIONS, **options}, initial_order=["x1", "x2", "x3", "x4", "x5"]).fit(data())


def test_listeners_hear_steps_and_the_graph():
    heard = []
    with subscribe(heard.append):
        model = CORL(**{**OPTIONS, "n_iterations": 3}, pretrained=None).fit(data())
    steps = [news for news in heard if isinstance(news, Step)]
    assert steps
    assert {step.label for step in steps} == {"learning an order"}
    assert steps[-1].total == 3
    assert np.isfinite(steps[-1].figures["best_score"])
    assert isinstance(heard[-1], CausalGraph)
    assert heard[-1] is model.graph_
    count = len(heard)
    CORL(**OPTIONS).fit(data())
    assert len(heard) == count  # nobody listens any more
