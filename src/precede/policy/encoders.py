"""Encoders: the sampled rows of each variable become its state (Section 4.2 and Appendix A of the paper)."""

from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from precede.errors import OptionError
from precede.policy.layers import LSTM, NormalizationName, make_norm, perceptron
from precede.policy.moments import MomentsEncoder

PaperEncoderName = Literal["null", "mlp", "lstm", "transformer"]
"""Encoders of the paper, which ``CORL(encoder=...)`` takes."""
EncoderName = Literal[PaperEncoderName, "moments"]
"""Those and the encoder of the pretrained policy, which reads any number of rows and comes with its weights."""

WIDTH = 256  # Appendix A.2: the embedded state
HEADS = 8  # Appendix A.2
BLOCKS = 3  # Appendix A.2, Figure 5


class TransformerBlock(nn.Module):
    """Multi-head self-attention over variables, then two feed-forward layers, each part added and normalized.

    RL-BIC2's block has no layer that merges the heads. With batch normalization it is that of its authors' program:
    queries, keys and values are rectified, and weights drawn by Glorot's rule.
    """

    def __init__(self, normalization: NormalizationName, width: int, heads: int, of_rl_bic2: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Identity() if of_rl_bic2 else nn.Linear(width, width)
        self.forward_layers = perceptron(width, (4 * width, width))
        self.norm_attention = make_norm(normalization, width)
        self.norm_forward = make_norm(normalization, width)
        self.rectify = of_rl_bic2 and normalization == "batch"
        if self.rectify:
            first, _, second = self.forward_layers
            for weights in (*self.project.weight.split(width), first.weight, second.weight):
                nn.init.xavier_uniform_(weights)

    def forward(self, states: Tensor) -> Tensor:
        batch, d, width = states.shape
        projected = self.project(states)
        if self.rectify:
            projected = F.relu(projected)
        # shape: (3, batch, heads, d, width / heads)
        query, key, value = projected.view(batch, d, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value)
        states = self.norm_attention(states + self.merge(attended.transpose(1, 2).reshape(batch, d, width)))
        result: Tensor = self.norm_forward(states + self.forward_layers(states))
        return result


class TransformerEncoder(nn.Module):
    """A feed-forward layer with 256 units and three self-attention blocks (Figure 5).

    Where the paper only says "a normalization layer" there are two readings. "batch" is that of RL-BIC2, on whose
    encoder the paper's is built, with one more after the first layer: a state keeps the scale of its variable, which
    resampled rows need to be told apart. "layer" normalizes each state by itself and is for inputs that carry the scale
    as a number of its own.
    """

    def __init__(
        self,
        n_inputs: int,
        normalization: NormalizationName,
        width: int,
        heads: int,
        n_blocks: int = BLOCKS,
        of_rl_bic2: bool = False,
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(n_inputs, width)
        self.norm_embedding = make_norm(normalization, width) if normalization == "batch" else nn.Identity()
        blocks = [TransformerBlock(normalization, width, heads, of_rl_bic2) for _ in range(n_blocks)]
        self.blocks = nn.Sequential(*blocks)

    def forward(self, inputs: Tensor) -> Tensor:
        result: Tensor = self.blocks(self.norm_embedding(self.embed(inputs)))
        return result


class LearnedStates(nn.Module):
    """States that were computed once and are trained themselves, whatever the inputs."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = nn.Parameter(states.clone())

    def forward(self, inputs: Tensor) -> Tensor:
        return self.states


def make_encoder(
    name: EncoderName,
    n_inputs: int,
    normalization: NormalizationName = "layer",
    width: int = WIDTH,
    heads: int = HEADS,
) -> nn.Module:
    """Build an encoder that maps (batch, n_variables, n_inputs) to (batch, n_variables, width).

    "null" takes the data themselves for states; "mlp" passes each variable by itself through 256, 512 and 256 units
    (Appendix A.2), or as many as the width says; "lstm" passes the variables in column order through an LSTM, the only
    one that sees it. Only the transformer normalizes as it is told, and has heads.

    Examples
    --------
    >>> import torch
    >>> make_encoder("mlp", 64)(torch.zeros(2, 5, 64)).shape
    torch.Size([2, 5, 256])
    """
    match name:
        case "null":
            return nn.Identity()
        case "mlp":
            return perceptron(n_inputs, (width, 2 * width, width))
        case "lstm":
            return LSTM(n_inputs, width)
        case "transformer":
            if width % heads:
                raise OptionError(f"heads={heads} cannot be used: they must divide the width, which is {width}.")
            return TransformerEncoder(n_inputs, normalization, width, heads)
        case "moments":  # takes any number of rows
            return MomentsEncoder()
