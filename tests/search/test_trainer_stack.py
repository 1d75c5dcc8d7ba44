"""A stack of runs takes the steps that each run would take by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import precede as pc
from precede.discovery.plan import training_of
from precede.knowledge import Constraints
from precede.policy.pretrained import load_pretrained
from precede.policy.recurrence import Recurrence
from precede.runtime.deadline import Deadline
from precede.scores.gp import GPScore
from precede.scores.likelihood import Noise
from precede.scores.linear import LinearScore
from precede.scores.quadratic import QuadraticScore
from precede.search.settings import TrainingSettings
from precede.search.stacked.operations import NormalizedBatch, PointerLogits
from precede.search.stacked.train import TrainerStack
from precede.search.train import Trainer


def settings_of(name: str, nonlinear: bool = False, **changes: object) -> TrainingSettings:
    return replace(training_of(pc.CORL.paper(name, nonlinear), None), **changes)  # type: ignore[arg-type]


def trainers_of(settings: TrainingSettings, device: str = "cpu", pretrained: str | None = None) -> list[Trainer]:
    made = []
    for seed in (3, 4):
        values = pc.simulate(n_variables=6, degree=2, n_samples=200, random_state=seed).data.to_numpy()
        score = LinearScore(values, device=device)
        start = None if pretrained is None else load_pretrained(pretrained)
        made.append(Trainer(score, values, settings, Constraints.none(6), np.random.default_rng(seed), start))
    return made


def nonlinear_trainers(settings: TrainingSettings, kind: type[GPScore | QuadraticScore], noise: Noise) -> list[Trainer]:
    """Three runs; two have as many rows, the third has others."""
    made = []
    for seed, m in ((3, 40), (4, 40), (5, 33)):
        values = pc.simulate(n_variables=5, sem="gp-scaled", n_samples=m, random_state=seed).data.to_numpy()
        score, rng = kind(values, noise=noise), np.random.default_rng(seed)
        made.append(Trainer(score, values, settings, Constraints.none(5), rng))
    return made


def assert_same_as_alone(alone: list[Trainer], together: list[Trainer]) -> None:
    single = [list(trainer.run()) for trainer in alone]
    rows = list(TrainerStack(together).run(Deadline(None)))
    assert len(rows) == together[0].settings.n_iterations
    for run, records in enumerate(single):
        for record, row in zip(records, rows, strict=True):
            own = row[run]
            assert own is not None
            assert own.mean_score == pytest.approx(record.mean_score, rel=1e-9)
            assert own.best_score == pytest.approx(record.best_score, rel=1e-9)
            assert own.entropy == pytest.approx(record.entropy, rel=1e-3)
        assert together[run].best_order.tolist() == alone[run].best_order.tolist()


@pytest.mark.parametrize("name", ["corl-1", "corl-2"])
def test_same_as_alone(name: str) -> None:
    settings = settings_of(name, batch_size=8, n_samples=16, n_iterations=12)
    assert_same_as_alone(trainers_of(settings), trainers_of(settings))


@pytest.mark.parametrize(
    ("name", "kind", "noise"),
    [("corl-2", GPScore, "equal"), ("corl-1", GPScore, "unequal"), ("corl-1", QuadraticScore, "equal")],
)
def test_nonlinear_runs_are_the_same_as_alone(name: str, kind: type[GPScore | QuadraticScore], noise: Noise) -> None:
    settings = settings_of(name, nonlinear=True, batch_size=8, n_samples=16, n_iterations=4)
    alone, together = nonlinear_trainers(settings, kind, noise), nonlinear_trainers(settings, kind, noise)
    assert_same_as_alone(alone, together)
    for mine, own in zip(alone, together, strict=True):
        assert isinstance(mine.score, GPScore | QuadraticScore)
        assert isinstance(own.score, GPScore | QuadraticScore)
        assert own.score.n_evaluations == mine.score.n_evaluations  # no set twice


def test_shaped_rewards_and_other_numbers_of_rows_are_the_same_as_alone() -> None:
    settings = settings_of("corl-2", batch_size=8, n_samples=16, n_iterations=3, shaping="bound")

    def made() -> list[Trainer]:
        first, second = trainers_of(settings)
        values = pc.simulate(n_variables=6, degree=2, n_samples=90, random_state=5).data.to_numpy()
        third = Trainer(LinearScore(values), values, settings, Constraints.none(6), np.random.default_rng(5))
        return [first, second, third]

    assert_same_as_alone(made(), made())
    assert_same_as_alone(made()[:2], made()[:2])


def test_runs_may_share_a_score() -> None:
    settings = settings_of("corl-2", nonlinear=True, batch_size=8, n_samples=16, n_iterations=4)
    values = pc.simulate(n_variables=5, sem="gp-scaled", n_samples=40, random_state=3).data.to_numpy()
    shared = GPScore(values, noise="equal")

    def made(*scores: GPScore) -> list[Trainer]:
        drawn = zip((8, 9), scores, strict=True)
        return [Trainer(s, values, settings, Constraints.none(5), np.random.default_rng(seed)) for seed, s in drawn]

    assert_same_as_alone(made(GPScore(values, noise="equal"), GPScore(values, noise="equal")), made(shared, shared))
    assert shared.n_evaluations == len(shared.cache)


def test_a_score_out_of_time_leaves_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of("corl-2", nonlinear=True, batch_size=8, n_samples=16, n_iterations=30)
    trainers = nonlinear_trainers(settings, GPScore, "equal")
    stack, within, write = TrainerStack(trainers), Deadline(None), GPScore.write_kernels
    states: list[torch.Tensor] = []

    def cancelling(self: GPScore, *arguments: Any) -> None:
        if stack.iteration == 1:
            within.cancel()
        write(self, *arguments)

    def step() -> torch.Tensor:
        states[:] = [trainer.generator.get_state() for trainer in trainers]
        return TrainerStack.step(stack)

    monkeypatch.setattr(GPScore, "write_kernels", cancelling)
    monkeypatch.setattr(stack, "step", step)
    for trainer in trainers:
        assert isinstance(trainer.score, GPScore)
        trainer.score.sets_at_once = 1
    rows = list(stack.run(within))
    assert len(rows) == 1
    for trainer, state in zip(trainers, states, strict=True):
        assert trainer.iteration == 1
        assert torch.equal(trainer.generator.get_state(), state)


def test_the_first_iteration_is_never_cut() -> None:
    settings = settings_of("corl-2", nonlinear=True, batch_size=8, n_samples=16, n_iterations=30)
    within = Deadline(None)
    within.cancel()
    trainers = nonlinear_trainers(settings, GPScore, "equal")
    assert len(list(TrainerStack(trainers).run(within))) == 1
    assert all(np.isfinite(trainer.best_score) for trainer in trainers)


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
    curved = nonlinear_trainers(settings, GPScore, "equal")
    with pytest.raises(TypeError, match="kind of score"):
        TrainerStack([first, curved[0]])


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
