"""A stack of runs takes the steps that each run would take by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import precede as pc
from precede.corl.settings import training_of
from precede.knowledge import Constraints
from precede.policy.prediction import load_pretrained
from precede.runtime.deadline import Deadline
from precede.scores.gp import GPScore
from precede.scores.linear import LinearScore
from precede.scores.predecessors import Noise
from precede.scores.quadratic import QuadraticScore
from precede.search.learner import Learner
from precede.search.settings import Details, TrainingSettings
from precede.search.train import Trainer


def settings_of(name: str, nonlinear: bool = False, **changes: object) -> TrainingSettings:
    return replace(training_of(pc.CORL.paper(name, nonlinear), None), **changes)  # type: ignore[arg-type]


def learners_of(settings: TrainingSettings, device: str = "cpu", pretrained: str | None = None) -> list[Learner]:
    made = []
    for seed in (3, 4):
        values = pc.simulate(n_variables=6, degree=2, n_samples=200, random_state=seed).data.to_numpy()
        score = LinearScore(values, device=device)
        start = None if pretrained is None else load_pretrained(pretrained)
        made.append(Learner(score, values, settings, Constraints.none(6), np.random.default_rng(seed), start))
    return made


def nonlinear_learners(settings: TrainingSettings, kind: type[GPScore | QuadraticScore], noise: Noise) -> list[Learner]:
    """Three runs; two have as many rows, the third has others."""
    made = []
    for seed, m in ((3, 40), (4, 40), (5, 33)):
        values = pc.simulate(n_variables=5, sem="gp-scaled", n_samples=m, random_state=seed).data.to_numpy()
        score, rng = kind(values, noise=noise), np.random.default_rng(seed)
        made.append(Learner(score, values, settings, Constraints.none(5), rng))
    return made


def assert_same_as_alone(alone: list[Learner], together: list[Learner]) -> None:
    trainers = [Trainer([learner]) for learner in alone]
    single = [[record for (record,) in trainer.run()] for trainer in trainers]
    stack = Trainer(together)
    rows = list(stack.run(Deadline(None)))
    assert len(rows) == together[0].settings.n_iterations
    for run, records in enumerate(single):
        for record, row in zip(records, rows, strict=True):
            own = row[run]
            assert own is not None
            assert record is not None
            assert own.mean_score == pytest.approx(record.mean_score, rel=1e-9)
            assert own.best_score == pytest.approx(record.best_score, rel=1e-9)
            assert own.entropy == pytest.approx(record.entropy, rel=1e-3)
        assert stack.best.order(run).tolist() == trainers[run].best.order().tolist()


@pytest.mark.parametrize("name", ["corl-1", "corl-2"])
def test_same_as_alone(name: str) -> None:
    settings = settings_of(name, batch_size=8, n_encoder_rows=16, n_iterations=12)
    assert_same_as_alone(learners_of(settings), learners_of(settings))


@pytest.mark.parametrize(
    ("name", "kind", "noise"),
    [("corl-2", GPScore, "equal"), ("corl-1", GPScore, "unequal"), ("corl-1", QuadraticScore, "equal")],
)
def test_nonlinear_runs_are_the_same_as_alone(name: str, kind: type[GPScore | QuadraticScore], noise: Noise) -> None:
    settings = settings_of(name, nonlinear=True, batch_size=8, n_encoder_rows=16, n_iterations=4)
    alone, together = nonlinear_learners(settings, kind, noise), nonlinear_learners(settings, kind, noise)
    assert_same_as_alone(alone, together)
    for mine, own in zip(alone, together, strict=True):
        assert isinstance(mine.score, GPScore | QuadraticScore)
        assert isinstance(own.score, GPScore | QuadraticScore)
        assert own.score.cache.n_evaluations == mine.score.cache.n_evaluations  # no set twice


def test_shaped_rewards_and_other_numbers_of_rows_are_the_same_as_alone() -> None:
    settings = settings_of("corl-2", batch_size=8, n_encoder_rows=16, n_iterations=3, shaping="bound")

    def made() -> list[Learner]:
        first, second = learners_of(settings)
        values = pc.simulate(n_variables=6, degree=2, n_samples=90, random_state=5).data.to_numpy()
        third = Learner(LinearScore(values), values, settings, Constraints.none(6), np.random.default_rng(5))
        return [first, second, third]

    assert_same_as_alone(made(), made())
    assert_same_as_alone(made()[:2], made()[:2])


def test_runs_may_share_a_score() -> None:
    settings = settings_of("corl-2", nonlinear=True, batch_size=8, n_encoder_rows=16, n_iterations=4)
    values = pc.simulate(n_variables=5, sem="gp-scaled", n_samples=40, random_state=3).data.to_numpy()
    shared = GPScore(values, noise="equal")

    def made(*scores: GPScore) -> list[Learner]:
        drawn = zip((8, 9), scores, strict=True)
        return [Learner(s, values, settings, Constraints.none(5), np.random.default_rng(seed)) for seed, s in drawn]

    assert_same_as_alone(made(GPScore(values, noise="equal"), GPScore(values, noise="equal")), made(shared, shared))
    assert shared.cache.n_evaluations == len(shared.cache)


def test_a_score_out_of_time_leaves_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of("corl-2", nonlinear=True, batch_size=8, n_encoder_rows=16, n_iterations=30)
    learners = nonlinear_learners(settings, GPScore, "equal")
    stack, within, write = Trainer(learners), Deadline(None), GPScore.write_kernels
    states: list[torch.Tensor] = []

    def cancelling(self: GPScore, *arguments: Any) -> None:
        if stack.iteration == 1:
            within.cancel()
        write(self, *arguments)

    def step() -> torch.Tensor:
        states[:] = [learner.generator.get_state() for learner in learners]
        return Trainer.step(stack)

    monkeypatch.setattr(GPScore, "write_kernels", cancelling)
    monkeypatch.setattr(stack, "step", step)
    for learner in learners:
        assert isinstance(learner.score, GPScore)
        learner.score.sets_at_once = 1
    rows = list(stack.run(within))
    assert len(rows) == 1
    for learner, state in zip(learners, states, strict=True):
        assert learner.iteration == 1
        assert torch.equal(learner.generator.get_state(), state)


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder": "null"},
        {"encoder": "mlp", "decoder": "mlp", "pointer": "dot"},
        {"encoder": "lstm", "inputs": "fixed"},
        {"normalization": "layer", "inputs": "fixed", "pointer": "dot", "entropy_bonus": 0.1},
        {"details": Details(largest_gradient=1e-3, critic="every-state", standardize_returns=False)},
    ],
)
def test_any_network_is_the_same_as_alone(changes: dict[str, Any]) -> None:
    settings = settings_of("corl-2", batch_size=8, n_encoder_rows=16, n_iterations=4, **changes)
    assert_same_as_alone(learners_of(settings), learners_of(settings))


def test_knowledge_of_each_run_is_its_own() -> None:
    settings = settings_of("corl-2", batch_size=8, n_encoder_rows=16, n_iterations=3)
    values = pc.simulate(n_variables=6, degree=2, n_samples=200, random_state=3).data.to_numpy()
    first, last = (pc.Knowledge(**{name: [2]}).over(range(6)) for name in ("roots", "sinks"))

    def made() -> list[Learner]:
        score, rng = LinearScore(values), np.random.default_rng
        return [Learner(score, values, settings, known, rng(0)) for known in (first, last, Constraints.none(6))]

    assert_same_as_alone(made(), made())


@pytest.mark.parametrize("patience", [1, 4, 13])
def test_patience_ends_a_run_where_it_would_end_alone(patience: int) -> None:
    settings = settings_of("corl-2", batch_size=4, n_encoder_rows=8, n_iterations=60, patience=patience)
    alone = [[record for (record,) in Trainer([learner]).run() if record] for learner in learners_of(settings)]
    stack = Trainer(learners_of(settings))
    together = list(stack.run(Deadline(None)))
    for run, records in enumerate(alone):
        own = [row[run] for row in together]
        kept = [record for record in own if record is not None]
        assert [record.iteration for record in kept] == [record.iteration for record in records]
        assert float(stack.best.scores[run]) == pytest.approx(records[-1].best_score, rel=1e-9)


def test_other_runs_are_refused() -> None:
    settings = settings_of("corl-1", batch_size=4, n_encoder_rows=8)
    first, second = learners_of(settings)
    second.settings = replace(settings, batch_size=5)
    with pytest.raises(TypeError, match="same settings"):
        Trainer([first, second])
    curved = nonlinear_learners(settings, GPScore, "equal")
    with pytest.raises(TypeError, match="kind of score"):
        Trainer([first, curved[0]])


def test_a_run_at_its_end_stands_still() -> None:
    settings = settings_of("corl-2", batch_size=4, n_encoder_rows=8, n_iterations=10)
    first, second = learners_of(settings)
    first.patience.limit = 0
    stack = Trainer([first, second])
    records = list(stack.run(Deadline(None)))
    assert all(row[0] is None for row in records)
    assert records[-1][1] is not None
    assert stack.best.known(0) is None
    assert stack.best.known(1) is not None
