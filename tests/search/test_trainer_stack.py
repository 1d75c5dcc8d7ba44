"""A stack of runs takes the steps that each run would take by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import precede as pc
from precede.discovery.plan import training_of
from precede.knowledge import Constraints
from precede.policy.pretrained import load_pretrained
from precede.runtime.deadline import Deadline
from precede.scores.linear import LinearScore
from precede.search.settings import TrainingSettings
from precede.search.stacked.operations import NormalizedBatch, PointerLogits, Recurrence
from precede.search.stacked.train import TrainerStack
from precede.search.train import Trainer


def settings_of(name: str, **changes: object) -> TrainingSettings:
    return replace(training_of(pc.CORL.paper(name), None), **changes)  # type: ignore[arg-type]


def trainers_of(settings: TrainingSettings, device: str = "cpu", pretrained: str | None = None) -> list[Trainer]:
    made = []
    for seed in (3, 4):
        values = pc.simulate(n_variables=6, degree=2, n_samples=200, random_state=seed).data.to_numpy()
        score = LinearScore(values, device=device)
        start = None if pretrained is None else load_pretrained(pretrained)
        made.append(Trainer(score, values, settings, Constraints.none(6), np.random.default_rng(seed), start))
    return made


@pytest.mark.parametrize("name", ["corl-1", "corl-2"])
def test_same_as_alone(name: str) -> None:
    settings = settings_of(name, batch_size=8, n_samples=16, n_iterations=12)
    alone = [list(trainer.run()) for trainer in trainers_of(settings)]
    stack = TrainerStack(trainers_of(settings))
    together = list(stack.run(Deadline(None)))
    assert len(together) == 12
    for run, records in enumerate(alone):
        for record, rows in zip(records, together, strict=True):
            own = rows[run]
            assert own is not None
            assert own.mean_score == pytest.approx(record.mean_score, rel=1e-9)
            assert own.best_score == pytest.approx(record.best_score, rel=1e-9)
            assert own.entropy == pytest.approx(record.entropy, rel=1e-3)


@pytest.mark.parametrize("operation", ["pointer", "recurrence", "norm"])
def test_gradients_are_those_of_finite_differences(operation: str) -> None:
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)

    if operation == "pointer":
        torch.autograd.gradcheck(PointerLogits.apply, (draw(4, 5, 3), draw(4, 5, 2), draw(2, 5)))
    elif operation == "recurrence":
        torch.autograd.gradcheck(Recurrence.apply, (draw(3, 2, 2, 12), draw(2, 12, 3), draw(2, 2, 3), draw(2, 2, 3)))
    else:
        torch.autograd.gradcheck(NormalizedBatch.apply, (draw(2, 3, 4, 5), draw(2, 5), draw(2, 5)))


@pytest.mark.parametrize("patience", [1, 4, 13])
def test_patience_ends_a_run_where_it_would_end_alone(patience: int) -> None:
    settings = settings_of("corl-2", batch_size=4, n_samples=8, n_iterations=60, patience=patience)
    alone = [list(trainer.run()) for trainer in trainers_of(settings)]
    trainers = trainers_of(settings)
    together = list(TrainerStack(trainers).run(Deadline(None)))
    for run, records in enumerate(alone):
        own = [row[run] for row in together]
        kept = [record for record in own if record is not None]
        assert [record.iteration for record in kept] == [record.iteration for record in records]
        assert trainers[run].best_score == pytest.approx(records[-1].best_score, rel=1e-9)


def test_other_runs_are_refused() -> None:
    settings = settings_of("corl-1", batch_size=4, n_samples=8)
    first, second = trainers_of(settings)
    second.settings = replace(settings, batch_size=5)
    with pytest.raises(TypeError, match="same settings"):
        TrainerStack([first, second])


def test_a_run_at_its_end_stands_still() -> None:
    settings = settings_of("corl-2", batch_size=4, n_samples=8, n_iterations=10)
    first, second = trainers_of(settings)
    first.patience.limit = 0
    stack = TrainerStack([first, second])
    records = list(stack.run(Deadline(None)))
    assert all(row[0] is None for row in records)
    assert records[-1][1] is not None
    assert first.best_score == -np.inf
    assert np.isfinite(second.best_score)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("name", ["corl-1", "corl-2"])
def test_kernels_agree_with_the_operations_they_stand_for(name: str) -> None:
    settings = settings_of(name, batch_size=8, n_samples=16, n_iterations=1)
    states = torch.randn(2, 8, 6, 256, generator=torch.Generator().manual_seed(0))
    noise = torch.zeros(16, 6, 6)
    results = []
    for device in ("cpu", "cuda"):
        actor = TrainerStack(trainers_of(settings, device)).actor
        own = states.detach().clone().to(device).requires_grad_()
        orders = actor.sample(own, noise.to(device))
        logs, _ = actor.log_probabilities(own, orders)
        logs.square().sum().backward()  # type: ignore[no-untyped-call]
        gradients = [parameter.grad for parameter in actor.parameters.values() if parameter.grad is not None]
        results.append([tensor.detach().cpu() for tensor in (orders, logs, own.grad, *gradients) if tensor is not None])
    for there, here in zip(*results, strict=True):
        torch.testing.assert_close(there, here, rtol=0.02, atol=0.02 * float(here.abs().max()))
