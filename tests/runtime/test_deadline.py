"""Deadlines on a clock of the tests' own: parts, parents, and who said stop."""

from __future__ import annotations

import threading

import pytest

from precede.runtime.deadline import Deadline, OutOfTime, stopped_by_signals


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_limit_counts_from_its_start(clock):
    deadline = Deadline(10.0, clock=clock)
    assert (deadline.elapsed(), deadline.remaining(), deadline.passed()) == (0.0, 10.0, False)
    clock.now += 4
    assert (deadline.elapsed(), deadline.remaining(), deadline.passed()) == (4.0, 6.0, False)
    clock.now += 6
    assert (deadline.remaining(), deadline.passed()) == (0.0, True)
    clock.now += 6
    assert deadline.remaining() == 0.0
    assert not deadline.cancelled


def test_work_is_given_up_where_the_time_is_over(clock):
    deadline = Deadline(10.0, clock=clock)
    deadline.check()
    clock.now += 10
    with pytest.raises(OutOfTime):
        deadline.check()


def test_without_a_limit_only_a_word_ends_it(clock):
    deadline = Deadline(None, clock=clock)
    clock.now += 1e9
    assert deadline.remaining() is None
    assert not deadline.passed()
    deadline.cancel()
    assert deadline.remaining() == 0.0
    assert deadline.passed()


def test_a_part_ends_with_the_whole(clock):
    whole = Deadline(10.0, clock=clock)
    clock.now += 2
    half, short, long, free = whole.part(share=0.5), whole.part(3.0), whole.part(30.0), whole.part()
    assert [part.remaining() for part in (half, short, long, free)] == [4.0, 3.0, 8.0, 8.0]
    clock.now += 3
    assert [part.passed() for part in (half, short, long, free)] == [False, True, False, False]
    assert not whole.passed()
    clock.now += 5
    assert all(part.passed() for part in (half, short, long, free))


def test_a_part_of_no_limit(clock):
    whole = Deadline(None, clock=clock)
    assert whole.part(share=0.5).remaining() is None
    assert whole.part(2.0).remaining() == 2.0


def test_a_word_reaches_parts_but_not_the_whole(clock):
    whole = Deadline(None, clock=clock)
    part = whole.part(5.0)
    part.cancel()
    assert part.cancelled
    assert not whole.cancelled
    other = whole.part(5.0)
    whole.cancel()
    assert other.cancelled
    assert other.passed()


def test_signals_are_for_the_main_thread():
    seen = []

    def work() -> None:
        with stopped_by_signals(Deadline(None)):
            seen.append("ran")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["ran"]
