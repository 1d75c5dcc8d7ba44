"""Seeds hold in threads, and a call leaves the caller's process as it was."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from precede import CORL, methods, simulate
from precede.policy.actor import Actor, Architecture, make_critic
from precede.policy.networks import DecoderName, PaperEncoderName
from precede.policy.prediction import load_pretrained
from precede.runtime.device import all_threads, one_thread, pool_of_threads
from precede.runtime.randomness import initial_weights
from precede.scores.choose import choose_score
from precede.scores.evidence import GaussianProcessEvidence
from precede.scores.parent_tables import ParentSets, SparseScore

DATA = simulate(n_variables=5, degree=1, n_samples=200, random_state=0).data
TRAINED: dict[str, dict[str, Any]] = {
    "corl": {"score": "linear", "n_iterations": 15, "batch_size": 8, "n_encoder_rows": 8},
    "dag-gnn": {"hidden_size": 4, "n_epochs": 3, "max_steps": 2},
    "gran-dag": {"hidden_size": 4, "n_iterations": 60, "window": 20},
    "rl-bic2": {"n_iterations": 10, "batch_size": 8, "n_samples": 8, "width": 8, "n_heads": 2, "n_blocks": 1},
    "notears-mlp": {"hidden_size": 2, "max_iterations": 2},
}


def history(method: str, seed: int) -> pd.DataFrame:
    model = methods()[method](verbose=False, random_state=seed, **TRAINED[method]).fit(DATA)
    return model.history_.drop(columns="seconds", errors="ignore")


@pytest.mark.parametrize("method", sorted(TRAINED))
def test_threaded_fits_equal_fits_one_after_another(method: str) -> None:
    seeds = [1, 2, 3, 4]
    expected = [history(method, seed) for seed in seeds]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: history(method, seed), seeds))
    for one, other in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("encoder", ["null", "mlp", "lstm", "transformer"])
@pytest.mark.parametrize("decoder", ["mlp", "lstm"])
def test_every_weight_comes_from_the_generator(encoder: PaperEncoderName, decoder: DecoderName) -> None:
    """A layer whose first weights were drawn elsewhere would differ between the two."""

    def weights() -> dict[str, torch.Tensor]:
        with initial_weights(np.random.default_rng(5)):
            actor = Actor(8, Architecture(encoder, decoder, "additive", 8, "batch"))
            return {**actor.state_dict(), **make_critic(actor.width).state_dict()}

    before = torch.get_rng_state()
    first = weights()
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(7)  # moves the global generator, which must not matter
    second = weights()
    assert all(torch.equal(first[name], second[name]) for name in first)
    with initial_weights(np.random.default_rng(6)):
        other = Actor(8, Architecture(encoder, decoder, "additive", 8, "batch")).state_dict()
    assert any(not torch.equal(other[name], first[name]) for name in other)


@pytest.mark.parametrize("method", sorted(TRAINED))
def test_the_callers_torch_is_left_alone(method: str, tmp_path: Path) -> None:
    state, threads, numpy_state = torch.get_rng_state(), torch.get_num_threads(), np.random.get_state()[1].copy()  # noqa: NPY002
    history(method, 0)
    load_pretrained("default")
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002


def test_the_number_of_threads_comes_back_when_blocks_overlap() -> None:
    threads = torch.get_num_threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    assert torch.get_num_threads() == 1
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert torch.get_num_threads() == threads


def test_a_written_file_obeys_the_mask_and_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask was set to zero for a moment, in which other threads made files that all could write to."""
    graph = CORL(score="linear", search="exact", verbose=False).fit(DATA).graph_
    mask = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the mask of the process was changed"))
        graph.to_json(tmp_path / "graph.json")
    finally:
        monkeypatch.undo()
        os.umask(mask)
    assert (tmp_path / "graph.json").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["graph.json"]


@pytest.fixture
def threads_given_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_growth_ends_at_the_same_set_on_any_number_of_threads(threads_given_back: None) -> None:
    values = np.tanh(np.random.default_rng(0).normal(size=(40, 8)).cumsum(axis=1))
    scored = []
    for n_threads in (1, 5):
        torch.set_num_threads(n_threads)
        score = SparseScore(GaussianProcessEvidence(values), ParentSets(max_parents=4, table_size=1, max_sets=50))
        bounds = score.bounds()
        assert score.notes, "the limit was not reached"
        scored.append((len(score.cache), bounds.tolist()))
    assert scored[0] == scored[1]


def test_a_block_within_a_block_leaves_the_outer_one_at_one_thread(threads_given_back: None) -> None:
    """After the inner one ended, the outer went on with many threads, which waited for each other."""
    torch.set_num_threads(3)
    with one_thread():
        with one_thread():
            pass
        assert torch.get_num_threads() == 1
        with all_threads():
            assert torch.get_num_threads() == 3
        assert torch.get_num_threads() == 1
        with pool_of_threads(5) as pool:
            assert set(pool.map(lambda _: torch.get_num_threads(), range(5))) == {1}
    assert torch.get_num_threads() == 3


def test_the_whole_fit_of_a_small_table_is_on_one_thread(
    threads_given_back: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice of the score was not: small regressions on two threads took twenty times the processor seconds."""
    torch.set_num_threads(3)
    seen = []

    def spied(table: Any, *likely: Any) -> Any:
        seen.append(torch.get_num_threads())
        return choose_score(table, *likely)

    monkeypatch.setattr("precede.corl.fit.choose_score", spied)
    CORL(verbose=False, random_state=0, diagnose=False).fit(DATA)
    assert seen == [1]
    assert torch.get_num_threads() == 3
