"""The critic: expected return from a state (Appendix A.2)."""

from torch import Tensor, nn

from precede.policy.encoders import mlp

CRITIC_WIDTHS = (512, 256, 1)  # Appendix A.2


class Critic(nn.Module):
    r"""Value :math:`V_{\phi_v}(\hat s)` by 512, 256 and 1 units.

    Deviations from the paper: its appendix gives CORL-1 a value for every state and CORL-2 one for the initial state,
    while Section 4.2 implies the reverse. A dense reward has a return at every step, so it gets :math:`V(\hat s_t)`;
    an episodic reward has one return, so it gets :math:`V(\hat s_0)`.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = mlp(width, CRITIC_WIDTHS)

    def forward(self, states: Tensor) -> Tensor:
        """(..., width) to (...)."""
        result: Tensor = self.layers(states)[..., 0]
        return result
