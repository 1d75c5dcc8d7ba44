"""Ties go to the first; deadlines and signals keep what is known."""

import os
import signal

import numpy as np
import pytest
import torch

from precede.runtime.deadline import Deadline, stopped_by_signals
from precede.ties import TOLERANCE, exceeds, first_best, first_best_rows, first_best_tensor, tied


@pytest.mark.parametrize("shift", [0.0, -1e6, 1e6])
def test_rounding_never_decides(shift):
    values = np.array([1.0, 5.0, 5.0, 2.0]) + shift
    for noise in (-1e-15, 1e-15):
        nudged = values * (1 + noise * np.array([1, -1, 1, -1]))
        assert first_best(nudged) == 1
        assert int(first_best_tensor(torch.from_numpy(nudged))) == 1
        assert first_best_rows(np.stack([nudged, nudged[::-1]])).tolist() == [1, 1]


def test_evidence_decides():
    values = np.array([100.0, 100.0 * (1 + 3 * TOLERANCE)])
    assert first_best(values) == 1
    assert exceeds(values[1], values[0])
    assert not tied(values, values[0])[1]


def test_infinite_values():
    assert first_best(np.array([-np.inf, -3.0, -np.inf])) == 1
    assert first_best(np.array([-np.inf, -np.inf])) == 0
    assert exceeds(0.0, -np.inf)


def test_parts_of_a_deadline():
    whole = Deadline(100.0)
    assert 45 < whole.part(share=0.5).remaining() <= 50
    assert whole.part(1000.0).remaining() <= 100
    assert Deadline(None).part(share=0.5).remaining() is None
    part = whole.part()
    whole.cancel()
    assert part.passed()
    assert part.cancelled
    assert Deadline(0.0).passed()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_cancels_and_a_second_one_breaks_off(number):
    def breaks(*_):
        raise KeyboardInterrupt

    before = signal.signal(number, breaks)
    try:
        deadline = Deadline(None)
        with stopped_by_signals(deadline):
            os.kill(os.getpid(), number)
            assert deadline.cancelled
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
        assert signal.getsignal(number) is breaks
    finally:
        signal.signal(number, before)


def test_blocks_within_blocks_hear_of_signals():
    """A signal stops the innermost block; the others count it, and work that looks at no deadline breaks off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with stopped_by_signals(Deadline(None)) as outer:
            with stopped_by_signals(Deadline(None)) as inner:
                os.kill(os.getpid(), signal.SIGINT)
            assert inner.deadline.cancelled
            assert not outer.deadline.cancelled
            with pytest.raises(KeyboardInterrupt), outer.breaking_off():
                os.kill(os.getpid(), signal.SIGINT)
            assert not outer.deadline.cancelled
            os.kill(os.getpid(), signal.SIGINT)
            assert outer.deadline.cancelled
            with stopped_by_signals(Deadline(None)) as late:
                assert late.deadline.cancelled
            with pytest.raises(KeyboardInterrupt), outer.breaking_off():
                pass
            assert (inner.heard, outer.heard) == (1, 3)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_grace_begins_when_the_deadline_has_passed():
    seconds = iter(range(100))
    whole = Deadline(None, clock=lambda: float(next(seconds)))
    grace = whole.with_grace(3.0)
    assert grace.remaining() is None
    whole.cancel()
    assert not grace.passed()
    assert [grace.passed() for _ in range(3)] == [False, True, True]


def test_a_signal_that_ends_the_process_is_left_alone():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with stopped_by_signals(Deadline(None)):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_zero_is_a_value_like_any_other():
    assert first_best(np.array([-1.0, 0.0, 0.0])) == 1
    assert int(first_best_tensor(torch.tensor([-1.0, 0.0, 0.0]))) == 1
    assert not exceeds(0.0, 0.0)
    assert exceeds(1e-300, 0.0)
    assert tied(np.array([0.0, 1e-300]), 0.0).tolist() == [True, False]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_tolerance_is_a_share_of_the_size(size, sign):
    other = sign * size
    assert not exceeds(other + 0.5 * TOLERANCE * size, other)
    assert exceeds(other + 2 * TOLERANCE * size, other)
    values = other + np.array([-2, -0.5, 0.5, 2]) * TOLERANCE * size
    assert tied(values, other).tolist() == [False, True, True, False]
    assert tied(values, other, scale=10 * size).all()
    assert first_best(np.array([other - 0.5 * TOLERANCE * size, other])) == 0
    assert first_best(np.array([other - 2 * TOLERANCE * size, other])) == 1
    assert first_best(np.array([other - 2 * TOLERANCE * size, other]), scale=-10 * size) == 0
