"""What only a GPU can show: a recorded step is the step as it is, and every branch of the networks runs there.

``make test-cuda`` on a machine with an NVIDIA GPU; skipped elsewhere.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from precede import CORL, simulate
from precede.corl.settings import training_of
from precede.knowledge import Constraints, Knowledge
from precede.scores.gp import GPScore
from precede.scores.linear import LinearScore
from precede.scores.quadratic import QuadraticScore
from precede.scores.sparse_linear import NonGaussianScore
from precede.search.cuda_graphs import WARM_UP
from precede.search.learner import Learner
from precede.search.settings import TrainingSettings
from precede.search.train import Trainer

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
N_VARIABLES, N_STEPS = 8, WARM_UP + 12


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return simulate(n_variables=N_VARIABLES, degree=2, n_samples=300, random_state=0).data.to_numpy()


def settings_of(model: CORL, **changes: object) -> TrainingSettings:
    return replace(training_of(model, None), batch_size=16, **changes)


def records(values: np.ndarray, settings: TrainingSettings, constraints: Constraints, graphed: bool) -> torch.Tensor:
    """The numbers of each step, (n_steps, 1, 4)."""
    score = LinearScore(values, device="cuda")
    trainer = Trainer([Learner(score, values, settings, constraints, np.random.default_rng(0))])
    if not graphed:
        trainer.collect, trainer.update = trainer._collect, trainer._update
    return torch.stack([trainer.step() for _ in range(N_STEPS)]).cpu()


def compare(values: np.ndarray, settings: TrainingSettings, constraints: Constraints | None = None) -> None:
    """Recorded and as they are: the same random numbers, so the same steps but for rounding."""
    free = constraints or Constraints.none(N_VARIABLES)
    eager, graphed = (records(values, settings, free, on) for on in (False, True))
    assert torch.isfinite(graphed).all()
    torch.testing.assert_close(graphed, eager, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("reward", ["dense", "episodic"])
@pytest.mark.parametrize("encoder", ["null", "mlp", "lstm", "transformer"])
@pytest.mark.parametrize("decoder", ["mlp", "lstm"])
def test_graphed_steps_are_the_steps_as_they_are(values, encoder, decoder, reward):
    compare(values, settings_of(CORL(encoder=encoder, decoder=decoder, reward=reward)))


@pytest.mark.parametrize("mode", ["corl-1", "corl-2"])
def test_the_papers_mode_is_recorded_right(values, mode):
    compare(values, settings_of(CORL.paper(mode), n_encoder_rows=32))


def test_knowledge_is_obeyed_by_recorded_steps(values):
    constraints = Knowledge(required=[(0, 1)], roots=[3]).over(range(N_VARIABLES))
    compare(values, settings_of(CORL()), constraints)


def test_runs_together_are_recorded_right(values):
    """Their numbers are those of each by itself: no run reads another's, and the recording moves every network."""
    settings = settings_of(CORL.paper("corl-2"), n_encoder_rows=32)

    def learner(seed: int) -> Learner:
        free = Constraints.none(N_VARIABLES)
        return Learner(LinearScore(values, device="cuda"), values, settings, free, np.random.default_rng(seed))

    together, alone = Trainer([learner(0), learner(1)]), Trainer([learner(1)])
    numbers = [(together.step()[1], alone.step()[0]) for _ in range(N_STEPS)]
    for here, there in numbers[:WARM_UP]:  # later, rounding may turn a choice
        torch.testing.assert_close(here, there, rtol=1e-3, atol=1e-3)
    assert all(torch.isfinite(here).all() for here, _ in numbers)


@pytest.mark.parametrize("make", [LinearScore, NonGaussianScore, QuadraticScore, GPScore])
def test_terms_are_those_of_the_cpu(values, make):
    orders = torch.from_numpy(np.array([np.random.default_rng(k).permutation(N_VARIABLES) for k in range(16)]))
    on_gpu = make(values[:200], device="cuda").terms(orders.cuda()).cpu()
    torch.testing.assert_close(on_gpu, make(values[:200]).terms(orders), rtol=1e-6, atol=1e-6)


def test_a_fit_on_the_gpu_finds_the_graph_of_the_cpu():
    data = simulate(n_variables=N_VARIABLES, degree=2, n_samples=1000, random_state=1)
    options = {"score": "linear", "n_iterations": 20, "random_state": 0, "verbose": False, "diagnose": False}
    on_gpu, on_cpu = (CORL(**options, device=device).fit(data.data) for device in ("cuda", "cpu"))
    assert (on_gpu.graph_.edges == on_cpu.graph_.edges).all()
    assert on_gpu.score_ == pytest.approx(on_cpu.score_)


def test_fits_in_threads_leave_each_other_alone(values):
    """They are not recorded: autograd has one thread for all, and its work for one would end another's recording."""

    def score(seed: int) -> float:
        options = {"score": "linear", "n_iterations": 20, "polish": False, "verbose": False, "diagnose": False}
        return CORL(**options, pretrained=None, random_state=seed, device="cuda").fit(values).score_

    with ThreadPoolExecutor(4) as several, ThreadPoolExecutor(1) as one:
        assert list(several.map(score, range(8))) == pytest.approx(list(one.map(score, range(8))))


def test_a_resumed_run_goes_on_recording(values, tmp_path):
    options = {"score": "linear", "pretrained": None, "polish": False, "random_state": 0, "verbose": False}
    options |= {"device": "cuda", "diagnose": False, "checkpoint": str(tmp_path / "run.safetensors")}
    CORL(**options, n_iterations=10).fit(values)
    resumed = CORL(**options, n_iterations=20, resume=True).fit(values)
    assert resumed.history_["iteration"].tolist() == list(range(1, 21))
    assert np.isfinite(resumed.history_["mean_score"]).all()
