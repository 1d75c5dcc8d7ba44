"""Cells on a real Dask cluster: the same results, and a worker that is killed loses nothing."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from precede.errors import OptionError
from precede.experiments.cells import Data, Experiment
from precede.experiments.designs import rows
from precede.experiments.ledger import CELLS
from precede.experiments.reproduce import reproduce
from precede.runtime.workers import Workers, as_finished

LEARNING = replace(*rows("corl-2"), options={"n_iterations": 40, "batch_size": 8})
TINY = Experiment(
    "tiny",
    "Tiny",
    "nowhere",
    (Data("er1", "er", 6, 1, n_samples=200),),
    (*rows("eqvar"), LEARNING),
    seeds=tuple(range(6)),
)


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    cells = tmp_path / "cluster" / "tiny" / CELLS
    killed: list[int] = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:

        def kill_one() -> None:
            while not cells.exists() or cells.read_bytes().count(b"\n") < 3:
                time.sleep(0.02)
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        workers = Workers(cluster=cluster.scheduler_address)
        done = reproduce(TINY, out=tmp_path / "cluster", verbose=False, workers=workers)
        killer.join(timeout=10)
    assert killed
    assert done.n_run == 12
    reproduce(TINY, out=tmp_path / "here", verbose=False)
    assert cells.read_bytes() == (tmp_path / "here" / "tiny" / CELLS).read_bytes()


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_workers_of_several_threads_give_the_same(tmp_path: Path) -> None:
    """Seeds were global, so that threads of one worker took each other's numbers."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        reproduce(TINY, out=tmp_path / "cluster", verbose=False, workers=Workers(cluster=cluster.scheduler_address))
    reproduce(TINY, out=tmp_path / "here", verbose=False)
    cells = [(tmp_path / where / "tiny" / CELLS).read_bytes() for where in ("cluster", "here")]
    assert cells[0] == cells[1]


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_the_caller_does_none_of_the_work() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        done = list(as_finished(os.getpid, [()] * 3, Workers(cluster=cluster.scheduler_address)))
        assert done == [next(iter(cluster.workers.values())).pid] * 3


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_no_scheduler_at_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("precede.runtime.workers.SECONDS", 1)
    with pytest.raises(OptionError, match="does not answer"):
        reproduce(TINY, out=tmp_path, verbose=False, workers=Workers(cluster="tcp://127.0.0.1:1"))


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_a_cluster_without_workers_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("precede.runtime.workers.SECONDS", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(OptionError, match="has no workers"),
    ):
        reproduce(TINY, out=tmp_path, verbose=False, workers=Workers(cluster=cluster.scheduler_address))


def test_without_dask_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match=r"precede\[cluster\]"):
        reproduce(TINY, out=tmp_path, verbose=False, workers=Workers(cluster="tcp://127.0.0.1:8786"))
