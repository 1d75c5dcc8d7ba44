"""The critic: expected return from a state (Appendix A.2)."""

from torch import Tensor, nn

from precede.policy.encoders import WIDTH
from precede.policy.layers import perceptron


class Critic(nn.Module):
    r"""Value :math:`V_{\phi_v}(\hat s)` by 512, 256 and 1 units (Appendix A.2): twice the network's width, and once.

    The paper's appendix gives CORL-1 a value for every state and CORL-2 one for the initial state, while Section 4.2
    implies the reverse. :meth:`precede.CORL.paper` follows the appendix; by default a dense reward, which has a return
    at every step, gets :math:`V(\hat s_t)`, and an episodic one :math:`V(\hat s_0)`. The two were not told apart by
    experiment (``docs/results/paper-details.md``).
    """

    def __init__(self, width_in: int, width: int = WIDTH) -> None:
        super().__init__()
        self.layers = perceptron(width_in, (2 * width, width, 1))

    def forward(self, states: Tensor) -> Tensor:
        """(..., width) to (...)."""
        result: Tensor = self.layers(states)[..., 0]
        return result
