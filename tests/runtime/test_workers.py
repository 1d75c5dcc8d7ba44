"""Who does the work: parts of it, and the backend that somebody has chosen for joblib."""

import math

import joblib
import pytest
from joblib._parallel_backends import ThreadingBackend

from precede.errors import OptionError
from precede.runtime.workers import Workers, as_finished, part_of


def test_parts_are_everything_once():
    parts = [part_of(range(10), f"{k}/3") for k in (1, 2, 3)]
    assert sorted(number for part in parts for number in part) == list(range(10))


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5", ""])
def test_other_parts_are_refused(shard):
    with pytest.raises(OptionError, match="takes k/n, the k-th of n parts"):
        part_of(range(10), shard)


@pytest.mark.parametrize("streams", [True, False])
def test_a_backend_of_somebody_else_does_the_work(streams):
    asked = []

    class Elsewhere(ThreadingBackend):  # as Ray's: registered with joblib, some without a stream of results
        supports_return_generator = streams

        def configure(self, *args, **options):
            asked.append(True)
            return super().configure(*args, **options)

    joblib.register_parallel_backend("elsewhere", Elsewhere)
    with joblib.parallel_config("elsewhere"):
        found = sorted(as_finished(math.sqrt, [(1.0,), (4.0,), (9.0,)], Workers(2)))
    assert found == [1.0, 2.0, 3.0]
    assert asked
