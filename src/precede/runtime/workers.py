"""Many fits at once: on processes of this machine or on the workers of a Dask cluster, with the same results."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from precede.errors import OptionError, PrecedeError, is_number, refusing
from precede.lazy import joblib

SECONDS = 10
"""How long a Dask scheduler may take to answer, and a worker of it to appear."""

SECONDS_BETWEEN_LOOKS = 1.0
"""How often a worker process looks whether it still works for somebody."""

Result = TypeVar("Result")
Item = TypeVar("Item")


def check_jobs(option: str, jobs: object) -> None:
    """Refuse anything but a number of processes, or -1 for one per core."""
    if not is_number(jobs, whole=True) or jobs == 0 or jobs < -1:
        raise OptionError(f"{option}={jobs!r} cannot be used: it takes a number of processes, or -1 for one per core.")


def part_of(items: Sequence[Item], shard: str | None) -> Sequence[Item]:
    """What one of several machines does that share the work: every n-th, from the k-th on.

    Examples
    --------
    >>> part_of(range(8), "2/3"), part_of("abc", None)
    (range(1, 8, 3), 'abc')
    """
    if shard is None:
        return items
    found = re.fullmatch("([0-9]{1,9})/([0-9]{1,9})", shard)
    k, n = map(int, found.groups()) if found else (0, 0)
    if not 1 <= k <= n:
        raise OptionError(f"shard={shard!r} cannot be used: it takes k/n, the k-th of n parts, as in '3/8'.")
    return items[k - 1 :: n]


def shard_name(shard: str) -> str:
    """How files of a part are named."""
    return shard.replace("/", "-of-")


@dataclass(frozen=True)
class Workers:
    """Who does the work.

    Parameters
    ----------
    jobs : int
        Processes here; -1 takes every core, 1 is this very process.
    cluster : str or None
        Address of a Dask scheduler, whose workers are used instead.
    """

    jobs: int = 1
    cluster: str | None = None


HERE = Workers()
"""This very process."""


def as_finished(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], workers: Workers
) -> Iterator[Result]:
    """Yield ``function(*task)`` of each task as it is done, in any sequence.

    Parameters
    ----------
    function : callable
        Must not depend on the process it runs in.
    tasks : iterable of tuple
        Arguments.
    workers : Workers
    """
    jobs, cluster = workers.jobs, workers.cluster
    if cluster is None and jobs == 1:
        for task in tasks:
            yield function(*task)
        return
    try:
        if cluster is not None:
            yield from _on_cluster(function, tasks, cluster)
        else:
            with _processes():
                streams = joblib.parallel.get_active_backend()[0].supports_return_generator
                pool = joblib.Parallel(jobs, return_as="generator_unordered" if streams else "list", batch_size=1)
                yield from pool(joblib.delayed(function)(*task) for task in tasks)
    except Exception as error:
        if type(error).__name__ not in ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker"):
            raise
        raise PrecedeError(
            "a worker process died, most often for lack of memory: what was finished is kept; start again with "
            "fewer processes."
        ) from error


def _end_with(parent: int) -> None:
    """Look now and then, in a thread of its own, whether the parent is still there; a worker begins its life so."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _processes() -> Iterator[None]:
    """Processes of one thread each; when the block ends early they end too, at once; if this one is killed, soon.

    A backend that somebody has registered with joblib and chosen, such as Ray's, stays.
    """
    if type(joblib.parallel.get_active_backend()[0]).__module__ != "joblib._parallel_backends":
        yield
        return
    try:
        with joblib.parallel_config(
            backend="loky", inner_max_num_threads=1, initializer=_end_with, initargs=(os.getpid(),)
        ):
            yield
    except BaseException:
        import_module("joblib.externals.loky").get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


def _on_cluster(function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], address: str) -> Iterator[Result]:
    """On the workers of a Dask scheduler, of which there must be some: the work is never done here instead.

    joblib would do it here where the cluster has one thread in all.
    """
    with refusing(ImportError, OptionError, f"cluster={address!r} needs Dask: install precede[cluster]."):
        distributed = import_module("distributed")
    with refusing((OSError, ValueError), OptionError, f"cluster={address!r} does not answer as a Dask scheduler:"):
        client = distributed.Client(address, timeout=SECONDS)
    with client:
        with refusing(TimeoutError, OptionError, f"cluster={address!r} has no workers: start some with 'dask worker'."):
            client.wait_for_workers(1, timeout=SECONDS)
        left = iter(tasks)
        ahead = 2 * sum(client.ncores().values())  # so that a scheduler does not hold all data of all tasks
        running = distributed.as_completed(client.submit(function, *task, pure=False) for task in islice(left, ahead))
        for future in running:
            yield future.result()
            for task in islice(left, 1):
                running.add(client.submit(function, *task, pure=False))
