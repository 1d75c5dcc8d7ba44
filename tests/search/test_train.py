"""Algorithm 1: it learns, repeats itself bit for bit, stops when told, and every option is read."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from precede.errors import OptionError
from precede.knowledge import Constraints, Knowledge
from precede.policy.inputs import FixedInputs, ResampledInputs
from precede.runtime.deadline import Deadline
from precede.runtime.device import one_thread
from precede.scores.linear import LinearScore
from precede.search.checkpoint import restore, state_of
from precede.search.exact import exact_order
from precede.search.learner import Learner, Networks, Patience
from precede.search.run import run_observed
from precede.search.settings import Details, TrainingSettings
from precede.search.train import READ_EVERY, BestOrdering, IterationRecord, Trainer
from precede.simulation import simulate

SETTINGS = TrainingSettings(
    reward="dense",
    shaping="bound",
    encoder="transformer",
    decoder="lstm",
    pointer="dot",
    normalization="layer",
    inputs="fixed",
    n_iterations=20,
    batch_size=16,
    n_encoder_rows=32,
    gamma=1.0,
    entropy_bonus=0.03,
    actor_learning_rate=1e-4,
    critic_learning_rate=1e-3,
    patience=None,
    details=Details(),
)


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return simulate(n_variables=8, degree=2, n_samples=400, random_state=5).data.to_numpy()


def run(data: np.ndarray, constraints: Constraints | None = None, seed: int = 0, max_time=None, **changes):
    score = LinearScore(data)
    constraints = constraints or Constraints.none(data.shape[1])
    trainer = Trainer([Learner(score, data, replace(SETTINGS, **changes), constraints, np.random.default_rng(seed))])
    return trainer, [record for (record,) in trainer.run(Deadline(max_time))]


@pytest.mark.parametrize("encoder", ["null", "mlp", "lstm", "transformer"])
@pytest.mark.parametrize("decoder", ["mlp", "lstm"])
def test_all_eight_architectures_learn(data: np.ndarray, encoder: str, decoder: str) -> None:
    _, records = run(data, encoder=encoder, decoder=decoder, n_iterations=40)
    early, late = (np.mean([r.mean_score for r in part]) for part in (records[:10], records[-10:]))
    assert late > early


@pytest.mark.parametrize(
    "changes",
    [
        {"reward": "episodic"},
        {"shaping": "plain", "gamma": 0.98},
        {"inputs": "resample"},
        {"pointer": "additive"},
    ],
)
def test_each_variant_learns(data: np.ndarray, changes: dict) -> None:
    _, records = run(data, **changes, n_iterations=40)
    early, late = (np.mean([r.mean_score for r in part]) for part in (records[:10], records[-10:]))
    assert late > early


def test_it_reaches_the_optimum_of_the_score(data: np.ndarray) -> None:
    trainer, _ = run(data[:, :6], n_iterations=60, batch_size=32)
    best = exact_order(LinearScore(data[:, :6])).score
    assert trainer.best.score() == pytest.approx(best, rel=1e-3)


def test_same_seed_same_history_bit_for_bit(data: np.ndarray) -> None:
    with one_thread():  # as CORL does: several threads add in any order
        one, records = run(data)
        two, again = run(data)
    assert [replace(r, seconds=0) for r in records] == [replace(r, seconds=0) for r in again]
    assert one.best.order().tolist() == two.best.order().tolist()
    _, other = run(data, seed=1)
    assert records[-1].mean_score != other[-1].mean_score


@pytest.mark.parametrize(
    "changes",
    [
        {"reward": "episodic"},
        {"shaping": "plain"},
        {"encoder": "mlp"},
        {"decoder": "mlp"},
        {"pointer": "additive"},
        {"inputs": "resample"},
        {"batch_size": 8},
        {"n_encoder_rows": 16},
        {"gamma": 0.5},
        {"entropy_bonus": 0.0},
        {"actor_learning_rate": 1e-3},
        {"critic_learning_rate": 1e-1},
        {"details": Details(standardize_returns=False)},
        {"details": Details(largest_gradient=1e-3)},
        {"details": Details(largest_gradient=None)},
        {"details": Details(critic="initial-state")},
        {"reward": "episodic", "details": Details(critic="every-state")},
        {"details": Details(moving_average=True)},
        {"details": Details(clip_each_tensor=True)},
        {"details": Details(adam_beta2=0.9)},
        {"details": Details(adam_epsilon=1e-2)},
        {"details": Details(width=64)},
        {"details": Details(heads=16)},
        {"details": Details(glimpse=True)},
        {"details": Details(sinks_first=True)},
        {"details": Details(standardize_returns=False, return_unit="residuals")},
        {"inputs": "resample", "details": Details(row_scale="none")},
    ],
)
def test_every_setting_changes_the_course(data: np.ndarray, changes: dict) -> None:
    _, plain = run(data, n_iterations=10)
    _, changed = run(data, n_iterations=10, **changes)
    assert (plain[-1].mean_score, plain[-1].entropy) != (changed[-1].mean_score, changed[-1].entropy)


def test_records_count_up_and_the_best_only_rises(data: np.ndarray) -> None:
    trainer, records = run(data, n_iterations=25)
    assert [r.iteration for r in records] == list(range(1, 26))
    best = [r.best_score for r in records]
    assert best == sorted(best)
    assert best[-1] == trainer.best.score() == pytest.approx(max(r.batch_best for r in records), rel=2e-9)
    order = torch.from_numpy(trainer.best.order())[None]
    score = LinearScore(data)
    assert float(score.total(score.terms(order).sum(1))) == pytest.approx(trainer.best.score())


def test_of_equal_orders_the_first_is_kept() -> None:
    best = BestOrdering(torch.tensor([[2, 1, 0]]))
    orders = torch.tensor([[[0, 1, 2], [1, 0, 2], [0, 2, 1]]])
    best.offer(orders, torch.tensor([[-9.0, -4.0, -4.0 + 1e-12]], dtype=torch.float64))
    assert best.order().tolist() == [1, 0, 2]
    best.offer(orders, torch.tensor([[-9.0, -5.0, -4.0 + 2e-9]], dtype=torch.float64))
    assert best.order().tolist() == [1, 0, 2]
    best.offer(orders, torch.tensor([[-9.0, -5.0, -4.0 + 1e-7]], dtype=torch.float64))
    assert best.order().tolist() == [0, 2, 1]
    assert best.known() is not None
    assert float(best.scores) == -4.0 + 1e-7


def test_each_run_keeps_its_own_best_until_it_ends() -> None:
    best = BestOrdering(torch.tensor([[0, 1], [0, 1], [0, 1]]))
    orders, scores = torch.tensor([[[1, 0]]] * 3), torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64)
    best.offer(orders, scores, torch.tensor([True, False, True]))
    assert best.orders.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert best.known(1) is None
    assert best.scores.tolist() == [1.0, -np.inf, 3.0]


def test_an_offered_order_stands_until_a_better_one_comes(data: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    score = LinearScore(data)
    optimum = exact_order(score)
    trainer = Trainer([Learner(score, data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    trainer.best.offer_one(optimum.order[::-1].copy(), -1e9)
    records, interrupted = run_observed(trainer, [])
    assert not interrupted
    assert trainer.best.score() > -1e9
    trainer = Trainer([Learner(score, data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    trainer.best.offer_one(optimum.order, optimum.score)
    assert [r.best_score for (r,) in trainer.run()] == [optimum.score] * len(records)

    def interrupt(self: Trainer) -> torch.Tensor:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "step", interrupt)
    trainer = Trainer([Learner(score, data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    trainer.best.offer_one(optimum.order, optimum.score)
    assert run_observed(trainer, []) == ([], True)
    assert trainer.best.order().tolist() == optimum.order.tolist()
    assert trainer.best.score() == optimum.score


def test_a_cancelled_deadline_ends_the_run(data: np.ndarray) -> None:
    whole = Deadline(None)
    trainer = Trainer([Learner(LinearScore(data), data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    records, interrupted = run_observed(trainer, [lambda *_: whole.cancel()], whole)
    assert interrupted
    assert len(records) == READ_EVERY
    assert run_observed(trainer, [], whole) == ([], True)


def test_every_observer_sees_every_record(data: np.ndarray) -> None:
    one: list[tuple[IterationRecord, Trainer]] = []
    two: list[tuple[IterationRecord, Trainer]] = []
    trainer = Trainer([Learner(LinearScore(data), data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    records, interrupted = run_observed(
        trainer, [lambda *seen: one.append(seen), lambda *seen: two.append(seen)], Deadline(None)
    )
    assert one == two == [(record, trainer) for record in records]
    assert not interrupted


def test_patience_ends_the_run(data: np.ndarray) -> None:
    _, records = run(data, n_iterations=2000, patience=20, batch_size=64)
    moves = [r.iteration for r, before in zip(records[1:], records, strict=False) if r.best_score > before.best_score]
    last = moves[-1] if moves else 1
    assert len(records) < 2000
    assert 20 <= len(records) - last < 20 + READ_EVERY


def test_patience_on_the_mean_waits_while_the_policy_learns() -> None:
    """Best score at its top from the start; the mean comes closer for 60 iterations."""
    means = [-100.0 * 0.95**k for k in range(60)] + [-100.0 * 0.95**59] * 400
    ends = {}
    for on in ("best", "mean"):
        patience = Patience(50, on)
        for iteration, mean in enumerate(means, start=1):
            patience.see(iteration, 0.0, mean)
            if patience.spent(iteration):
                ends[on] = iteration
                break
    assert ends["best"] == 51
    assert 150 < ends["mean"] < 400


def test_patience_on_the_mean_reaches_the_trainer(data: np.ndarray) -> None:
    _, best = run(data, n_iterations=300, patience=20)
    _, mean = run(data, n_iterations=300, patience=20, details=Details(patience_on="mean"))
    assert len(best) < len(mean)


def test_max_time_ends_the_run(data: np.ndarray) -> None:
    _, records = run(data, n_iterations=100_000, max_time=0.2)
    assert 0 < len(records) < 100_000
    assert len(run(data, max_time=1e-12)[1]) == 1  # never an order that nobody scored


def test_normalization_reaches_the_encoder(data: np.ndarray) -> None:
    batch, layer = (run(data, n_iterations=2, normalization=name)[0] for name in ("batch", "layer"))
    assert any(isinstance(part, torch.nn.BatchNorm1d) for part in batch.learners[0].actor.modules())
    assert not any(isinstance(part, torch.nn.BatchNorm1d) for part in layer.learners[0].actor.modules())


def test_a_best_score_of_another_score_is_not_kept(data: np.ndarray) -> None:
    """As where ``max_time`` cut the table of parent sets at another size than in the run that was saved."""

    class Shifted(LinearScore):
        def total(self, sums: torch.Tensor) -> torch.Tensor:
            return super().total(sums) - 1000

    first, _ = run(data, n_iterations=3)
    same = Trainer([Learner(LinearScore(data), data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    restore(same, state_of(first))
    assert same.best.score() == first.best.score()
    other = Trainer([Learner(Shifted(data), data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    restore(other, state_of(first))
    assert other.best.score() == pytest.approx(first.best.score() - 1000)
    assert (other.best.order() == first.best.order()).all()


def test_the_critic_values_what_it_is_told(data: np.ndarray) -> None:
    """The initial state has one value, whatever the order; every state has its own."""
    orders = torch.stack([torch.randperm(8, generator=torch.Generator().manual_seed(k)) for k in range(3)])
    for reward, critic, spread in [
        ("dense", "by-reward", True),
        ("episodic", "by-reward", False),
        ("dense", "initial-state", False),
        ("episodic", "every-state", True),
    ]:
        trainer, _ = run(data, n_iterations=1, reward=reward, details=Details(critic=critic))
        (learner,) = trainer.learners
        values = trainer._values(learner.actor.encoder(learner.inputs.draw(3))[None], orders[None])[0]
        assert values.shape == (3, 8)
        assert bool((values.std(1) > 1e-6).all()) is spread


def test_sampled_orders_obey_knowledge(data: np.ndarray) -> None:
    constraints = Knowledge(roots=[3], sinks=[0], required=[(5, 2)]).over(range(8))
    trainer, _ = run(data, constraints)
    assert constraints.permits(trainer.best.order())
    assert trainer.best.order()[0] == 3
    assert trainer.best.order()[-1] == 0


def test_fixed_inputs_do_not_change_and_resampled_ones_do(data: np.ndarray) -> None:
    device = torch.device("cpu")
    fixed = FixedInputs(data, 32, np.random.default_rng(0), device)
    assert fixed.draw(4).shape == (1, 8, fixed.n_inputs)
    torch.testing.assert_close(fixed.draw(4), fixed.draw(4))
    drawn = ResampledInputs(data, 32, torch.Generator().manual_seed(0), device)
    assert drawn.draw(4).shape == (4, 8, 32)
    assert not torch.equal(drawn.draw(4), drawn.draw(4))


def test_more_samples_than_rows_are_drawn_with_replacement(data: np.ndarray) -> None:
    inputs = FixedInputs(data[:20], 64, np.random.default_rng(0), torch.device("cpu"))
    assert inputs.draw(1).shape == (1, 8, 65)


def test_inputs_do_not_depend_on_the_unit(data: np.ndarray) -> None:
    one = FixedInputs(data, 16, np.random.default_rng(0), torch.device("cpu"))
    two = FixedInputs(1000 * data, 16, np.random.default_rng(0), torch.device("cpu"))
    torch.testing.assert_close(one.draw(1), two.draw(1), rtol=1e-4, atol=1e-4)


def test_resampled_inputs_show_small_columns_beside_large_ones() -> None:
    """In the unit of the smallest column, large values by their logarithm."""
    rows = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 1e4]
    inputs = ResampledInputs(rows, 300, torch.Generator().manual_seed(0), torch.device("cpu")).draw(2)
    small, large = inputs.std(dim=(0, 2))
    assert 0.6 < small < 1.0
    assert 5 < inputs[:, 1].abs().median() < 12
    again = ResampledInputs(1000 * rows, 300, torch.Generator().manual_seed(0), torch.device("cpu")).draw(2)
    torch.testing.assert_close(inputs, again, rtol=1e-4, atol=1e-4)
    assert large > small
    common = ResampledInputs(rows, 300, torch.Generator().manual_seed(0), torch.device("cpu"), "common").draw(2)
    assert common[:, 0].std() < 1e-3
    assert 1.2 < common[:, 1].std() < 1.6


class HostReads(TorchDispatchMode):
    """Names of the operations within the block that would have a CPU wait for its GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__ in ("_local_scalar_dense", "nonzero", "masked_select", "unique"):
            self.seen.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("reward", ["dense", "episodic"])
def test_no_step_reads_a_number(data: np.ndarray, reward: str) -> None:
    settings = replace(SETTINGS, reward=reward)
    trainer = Trainer([Learner(LinearScore(data), data, settings, Constraints.none(8), np.random.default_rng(0))])
    trainer.step()
    with HostReads() as reads:
        trainer.step()
    assert reads.seen == set()


def test_sinks_first_places_and_pays_from_the_end(data: np.ndarray) -> None:
    """The order has causes first all the same, knowledge holds, and the return of a step is that of what it placed."""
    constraints = Knowledge(roots=[3], sinks=[0], required=[(5, 2)]).over(range(8))
    details = Details(sinks_first=True)
    trainer, records = run(data, constraints, details=details, shaping="plain", n_iterations=40)
    assert constraints.permits(trainer.best.order())
    assert np.mean([r.mean_score for r in records[-10:]]) > np.mean([r.mean_score for r in records[:10]])
    orders = torch.arange(8).expand(1, 2, 8)
    terms = torch.arange(16.0).view(1, 2, 8)
    assert trainer._returns(orders, terms)[0, 0].tolist() == [28.0, 21.0, 15.0, 10.0, 6.0, 3.0, 1.0, 0.0]
    (learner,) = trainer.learners
    drawn = learner.actor(learner.inputs.draw(1), torch.zeros(1, 8, 8), learner.before)
    scored, _ = learner.actor.log_probabilities(drawn.states, drawn.orders, learner.before)
    torch.testing.assert_close(drawn.log_probabilities, scored)


@pytest.mark.parametrize("reward", ["dense", "episodic"])
def test_returns_in_the_unit_of_residuals(data: np.ndarray, reward: str) -> None:
    """Minus residual variances, or minus the logarithm of their mean but for a constant, whatever the rows."""
    details = Details(standardize_returns=False, return_unit="residuals")
    trainer, _ = run(data, n_iterations=1, reward=reward, shaping="plain", gamma=1.0, details=details)
    score = LinearScore(data)
    orders = torch.stack([torch.arange(8), torch.arange(8).flip(0)])
    variances = score.residual_variances(orders)
    found = trainer._returns(orders[None], score.terms(orders)[None])[0]
    if reward == "dense":
        torch.testing.assert_close(found, -variances.flip(1).cumsum(1).flip(1))
    else:
        torch.testing.assert_close(found.diff(dim=0), -variances.sum(1).log().diff()[:, None].expand(1, 8))


def test_the_moving_average_follows_the_returns(data: np.ndarray) -> None:
    trainer, _ = run(data, n_iterations=1, details=Details(moving_average=True))
    assert float(trainer.average) == pytest.approx(0.99 * -1.0, abs=1e-6)  # standardized returns have mean zero
    other, _ = run(data, n_iterations=1)
    assert float(other.average) == -1.0
    again = Trainer([Learner(LinearScore(data), data, SETTINGS, Constraints.none(8), np.random.default_rng(0))])
    restore(again, state_of(trainer))
    assert float(again.average) == float(trainer.average)


def test_each_tensor_is_clipped_by_itself() -> None:
    def moved(each: bool) -> list[float]:
        network = torch.nn.Linear(1, 1)
        details = Details(clip_each_tensor=each)
        networks = Networks([network], 0.1, details)
        networks.descend((30 * network.weight + 40 * network.bias).sum(), 1.0)
        return [float(parameter.grad.norm()) for parameter in network.parameters() if parameter.grad is not None]

    assert moved(each=True) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert moved(each=False) == pytest.approx([0.6, 0.8], abs=1e-5)


def test_the_critics_gradient_is_clipped_with_each_tensor(data: np.ndarray) -> None:
    details = Details(clip_each_tensor=True, standardize_returns=False)
    trainer, _ = run(data, n_iterations=1, shaping="plain", details=details)
    gradients = [parameter.grad for parameter in trainer.critic.parameters.values()]
    norms = [float(gradient.norm()) for gradient in gradients if gradient is not None]
    assert max(norms) == pytest.approx(1.0, abs=1e-3)


def test_width_and_heads_reach_the_networks(data: np.ndarray) -> None:
    trainer, _ = run(data, n_iterations=1, details=Details(width=64, heads=16, glimpse=True))
    (learner,) = trainer.learners
    assert learner.actor.width == 64
    assert {block.heads for block in learner.actor.encoder.blocks} == {16}
    assert learner.actor.decoder.lstm.weight_hh_l0.shape == (256, 64)
    layers = learner.critic.children()
    assert [layer.out_features for layer in layers if isinstance(layer, torch.nn.Linear)] == [128, 64, 1]
    with pytest.raises(OptionError, match="heads=7 cannot be used: they must divide the width, which is 64"):
        run(data, details=Details(width=64, heads=7))
    with pytest.raises(OptionError, match="encoder='null' has none as wide"):
        run(data, encoder="null", details=Details(glimpse=True))


def test_rows_may_be_shown_as_they_are(data: np.ndarray) -> None:
    drawn = ResampledInputs(data, 32, torch.Generator().manual_seed(0), torch.device("cpu"), "none").draw(1)[0]
    assert np.isin(drawn.numpy().T, data.astype(np.float32)).all()
