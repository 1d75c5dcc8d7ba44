"""Our Adam against torch's."""

import pytest
import torch

from precede.search.adam import Adam


def networks() -> tuple[torch.nn.Module, torch.nn.Module]:
    torch.manual_seed(0)
    first = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    second = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    second.load_state_dict(first.state_dict())
    return first, second


def descend(network: torch.nn.Module, optimizer: Adam | torch.optim.Adam, n_steps: int) -> None:
    generator = torch.Generator().manual_seed(1)
    for _ in range(n_steps):
        network.zero_grad(set_to_none=True)
        network(torch.randn(8, 3, generator=generator)).square().sum().backward()
        optimizer.step()


def test_the_steps_are_those_of_torch() -> None:
    ours, theirs = networks()
    descend(ours, Adam(ours.parameters(), 1e-2), 5)
    descend(theirs, torch.optim.Adam(theirs.parameters(), 1e-2, fused=True), 5)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=0)


def test_a_restored_one_goes_on() -> None:
    whole, halves = networks()
    descend(whole, Adam(whole.parameters(), 1e-2), 3)
    first = Adam(halves.parameters(), 1e-2)
    descend(halves, first, 2)
    second = Adam(halves.parameters(), 1e-2)
    second.restore({name: tensor.clone() for name, tensor in first.state().items()})
    assert [float(second.state()[f"{k}.step"]) for k in range(4)] == [2.0] * 4
    with pytest.raises(RuntimeError, match="exp_avg of parameter 0 has shape"):
        second.restore(
            {name: torch.zeros(1) if "exp_avg" in name else tensor for name, tensor in first.state().items()}
        )


def test_a_parameter_without_a_gradient_stays() -> None:
    moved, still = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    moved.grad = torch.ones(2)
    Adam([moved, still], 0.1).step()
    assert still.tolist() == [1.0, 1.0]
    assert moved.tolist() != [1.0, 1.0]
