"""Settings of the whole suite: a test that passes never fails by luck."""

import os
import signal
from collections.abc import Iterator

import numpy as np
import pytest

try:
    from hypothesis import settings
except ModuleNotFoundError:  # a machine with a GPU may have little more than torch and pytest: make test-cuda
    pass
else:
    settings.register_profile("same", derandomize=True, deadline=None)
    if not os.environ.get("EXPLORE"):  # the same examples every time: a change is judged by itself, not by luck
        settings.load_profile("same")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a shell starts what runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the programs that tests start and interrupt inherit it


@pytest.fixture(autouse=True, scope="session")
def no_luck() -> Iterator[None]:
    """Where a test or a fixture gives no seed, it draws the same numbers every time."""
    fresh = np.random.default_rng
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(np.random, "default_rng", lambda seed=None: fresh(20 if seed is None else seed))
        yield
