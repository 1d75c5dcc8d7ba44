"""The policy: sampling and teacher-forced scoring agree, orders are valid, shapes and sizes are the paper's."""

from itertools import permutations

import numpy as np
import pytest
import torch

from precede import CORL
from precede.errors import OptionError
from precede.policy.actor import Actor, Architecture, make_critic, make_encoder
from precede.policy.networks import LSTM

ENCODERS = ("null", "mlp", "lstm", "transformer")
DECODERS = ("mlp", "lstm")


def make_actor(encoder: str = "transformer", decoder: str = "lstm", pointer: str = "dot") -> Actor:
    torch.manual_seed(0)
    return Actor(8, Architecture(encoder, decoder, pointer, 8))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("pointer", ["dot", "additive"])
@pytest.mark.parametrize("shared", [True, False])
def test_sampling_follows_the_scored_probabilities(encoder: str, decoder: str, pointer: str, shared: bool) -> None:
    """Without noise, each step takes the variable that scoring the order finds most probable."""
    actor = make_actor(encoder, decoder, pointer)
    states = actor.encoder(torch.randn(1 if shared else 3, 5, 8)).detach()
    orders = actor.sample(states, torch.zeros(3, 5, 5))
    logits = actor.logits(states, orders)
    torch.testing.assert_close(logits.argmax(-1), orders)


@pytest.mark.parametrize("decoder", DECODERS)
def test_probabilities_of_all_orders_sum_to_one(decoder: str) -> None:
    actor = make_actor(decoder=decoder)
    orders = torch.tensor(list(permutations(range(4))))
    with torch.no_grad():
        chosen, entropies = actor.log_probabilities(actor.encoder(torch.randn(1, 4, 8)), orders)
    assert float(chosen.sum(1).exp().sum()) == pytest.approx(1.0, abs=1e-5)
    assert (entropies >= 0).all()
    assert torch.allclose(entropies[:, -1], torch.zeros(24), atol=1e-6)


def test_gumbel_sampling_has_the_policys_frequencies() -> None:
    actor = make_actor()
    states = actor.encoder(3 * torch.randn(1, 3, 8)).detach()
    noise = -torch.empty(20000, 3, 3).exponential_().log()
    given = noise.clone()
    orders = actor.sample(states, noise)
    assert torch.equal(noise, given)  # another sample from the same noise is the same
    for order in permutations(range(3)):
        share = (orders == torch.tensor(order)).all(1).float().mean()
        probability = actor.log_probabilities(states, torch.tensor([order]))[0].sum().exp().detach()
        assert float(share) == pytest.approx(float(probability), abs=0.02)


def test_knowledge_masks_sampling_and_probabilities() -> None:
    actor = make_actor()
    before = torch.zeros(4, 4)
    before[2, 0] = before[3, 2] = before[3, 0] = 1  # 3 before 2 before 0
    states = actor.encoder(torch.randn(1, 4, 8)).detach()
    orders = actor.sample(states, -torch.empty(200, 4, 4).exponential_().log(), before)
    position = orders.argsort(1)
    assert (position[:, 3] < position[:, 2]).all()
    assert (position[:, 2] < position[:, 0]).all()
    allowed = torch.tensor([o for o in permutations(range(4)) if o.index(3) < o.index(2) < o.index(0)])
    total = actor.log_probabilities(states, allowed, before)[0].sum(1).exp().sum().detach()
    assert float(total) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("encoder", ["null", "mlp", "transformer"])
def test_encoders_do_not_see_the_column_order(encoder: str) -> None:
    torch.manual_seed(0)
    layer = make_encoder(encoder, 8)
    inputs, permutation = torch.randn(2, 5, 8), torch.tensor([4, 2, 0, 1, 3])
    torch.testing.assert_close(layer(inputs)[:, permutation], layer(inputs[:, permutation]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("encoder", "width"), [("null", 8), ("mlp", 256), ("lstm", 256), ("transformer", 256)])
def test_state_widths_are_the_papers(encoder: str, width: int) -> None:
    assert make_encoder(encoder, 8)(torch.zeros(2, 3, 8)).shape == (2, 3, width)


def test_transformer_has_the_papers_sizes() -> None:
    encoder = make_encoder("transformer", 64)
    shapes = {tuple(parameter.shape) for parameter in encoder.parameters()}
    assert len(encoder.blocks) == 3
    assert {(1024, 256), (256, 1024), (256, 64)} <= shapes


def test_critic_sizes() -> None:
    widths = [layer.out_features for layer in make_critic(256) if isinstance(layer, torch.nn.Linear)]
    assert widths == [512, 256, 1]


def test_every_parameter_gets_a_gradient() -> None:
    for encoder in ENCODERS:
        for decoder in DECODERS:
            actor = make_actor(encoder, decoder)
            states = actor.encoder(torch.randn(1, 5, 8))
            orders = torch.stack([torch.randperm(5) for _ in range(4)])
            weights = torch.randn(4, 5)
            (weights * actor.log_probabilities(states, orders)[0]).sum().backward()
            missing = [name for name, p in actor.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
            # a bias on all keys shifts all logits of a step alike only for a linear pointer; ours is a tanh
            assert missing == [], (encoder, decoder)


def test_gradient_matches_finite_differences() -> None:
    actor = make_actor("mlp", "lstm").double()
    inputs, orders = torch.randn(1, 4, 8, dtype=torch.float64), torch.tensor([[2, 0, 3, 1]])
    parameter = actor.decoder.lstm.weight_hh_l0

    def value() -> torch.Tensor:
        return actor.log_probabilities(actor.encoder(inputs), orders)[0].sum()

    value().backward()
    index = np.unravel_index(int(parameter.grad.abs().argmax()), parameter.shape)
    step = 1e-6
    with torch.no_grad():
        parameter[index] += step
        above = value().item()
        parameter[index] -= 2 * step
        below = value().item()
    assert (above - below) / (2 * step) == pytest.approx(float(parameter.grad[index]), rel=1e-5)


@pytest.mark.parametrize(
    ("option", "name"),
    [("encoder", "transfomer"), ("decoder", "lsmt"), ("pointer", "dots"), ("normalization", "bach")],
)
def test_unknown_parts_are_refused(option: str, name: str) -> None:
    with pytest.raises(OptionError, match="did you mean"):
        CORL(**{option: name}, n_iterations=1, verbose=False).fit(np.random.default_rng(0).normal(size=(30, 3)))


def test_batch_normalization_keeps_the_scale_of_a_variable() -> None:
    """The same rows ten times as large: layer normalization hides it, batch normalization does not."""
    rows = torch.randn(4, 1, 8, generator=torch.Generator().manual_seed(0))
    inputs = torch.cat([rows, 10 * rows, torch.randn(4, 3, 8, generator=torch.Generator().manual_seed(1))], dim=1)
    distance = {}
    for name in ("layer", "batch"):
        torch.manual_seed(0)
        encoder = make_encoder("transformer", 8, name)
        torch.nn.init.zeros_(encoder.embed.bias)
        states = encoder(inputs).detach()
        distance[name] = float((states[:, 0] - states[:, 1]).norm(dim=-1).mean() / states.norm(dim=-1).mean())
    assert distance["batch"] > 2 * distance["layer"]


def test_batch_normalization_is_the_same_after_training() -> None:
    encoder = make_encoder("transformer", 8, "batch")
    inputs = torch.randn(4, 5, 8)
    torch.testing.assert_close(encoder(inputs), encoder.eval()(inputs))
    assert not any("running" in name for name in encoder.state_dict())


@pytest.mark.parametrize("shared", [True, False])
def test_drawing_gives_the_probabilities_and_gradients_of_scoring(shared: bool) -> None:
    """What is learned from the steps of a draw is what scoring the drawn orders anew would teach."""
    actor = make_actor().double()
    inputs = torch.randn(1 if shared else 7, 5, 8, dtype=torch.float64)
    noise = -torch.empty(7, 5, 5, dtype=torch.float64).exponential_().log()
    before = torch.zeros(5, 5, dtype=torch.float64)
    before[4, 1] = 1
    drawn = actor(inputs, noise, before)
    scored = actor.log_probabilities(actor.encoder(inputs), drawn.orders, before)
    found = []
    for logs, entropies in ((drawn.log_probabilities, drawn.entropies), scored):
        weights = torch.arange(35, dtype=torch.float64).view(7, 5)
        gradients = torch.autograd.grad((weights * (logs + entropies)).sum(), list(actor.parameters()))
        found.append([logs.detach(), entropies.detach(), *gradients])
    for here, there in zip(*found, strict=True):
        torch.testing.assert_close(here, there, rtol=1e-9, atol=1e-9)
    assert torch.equal(drawn.orders, actor.sample(actor.encoder(inputs), noise, before))


def test_the_lstm_is_torchs() -> None:
    """First weights, names and steps, so that policies saved with torch's own have the same answers."""
    torch.manual_seed(3)
    ours = LSTM(5, 7)
    torch.manual_seed(3)
    theirs = torch.nn.LSTM(5, 7, batch_first=True)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, weight in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], weight)
    inputs = torch.randn(4, 6, 5)
    torch.testing.assert_close(ours(inputs), theirs(inputs)[0], rtol=1e-5, atol=1e-6)


def test_the_choices_depend_on_what_was_drawn_before() -> None:
    """An LSTM that forgot its steps, or a pointer that ignored it, would pass no test against itself."""
    actor = make_actor()
    for parameter in actor.decoder.parameters():
        torch.nn.init.normal_(parameter, std=0.05)
    states = actor.encoder(torch.randn(1, 6, 8)).detach()
    orders = torch.stack([torch.randperm(6) for _ in range(100)])
    logits = actor.logits(states, orders)[:, 3].detach()
    spread = [float(column[column.isfinite()].std()) for column in logits.T]
    assert min(spread) > 0.1


def test_equal_logits_take_the_first_variable() -> None:
    actor = make_actor()
    for parameter in actor.decoder.pointer.parameters():
        torch.nn.init.zeros_(parameter)
    orders = actor.sample(torch.ones(1, 5, 256), torch.zeros(3, 5, 5))
    assert torch.equal(orders, torch.arange(5).expand(3, 5))
