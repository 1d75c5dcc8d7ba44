r"""Encoder by moments: pairs of variables meet in averages over samples of learned features; and its edge head.

Attention over samples costs a token for every value. Here samples only ever enter averages of products,
:math:`\frac1n \sum_s a(x_{si})\, b(x_{sj})^\top`, so all rows of a data set can be used, and most of the
work is on the d x d pairs. From the state of a pair the edge head has the probabilities of the four answers.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from precede.policy.features import N_PAIR_FEATURES, N_VARIABLE_FEATURES, classical_features, read_columns
from precede.policy.inputs import Told
from precede.policy.networks import perceptron
from precede.runtime import Deadline, one_thread, pool_of_threads

BLOCKS = 6
PAIR_WIDTH = 64
VALUE_WIDTH = 32
MOMENT_FEATURES = 8
"""Learned features of a value that enter the products: 8 x 8 moments for each pair of variables in each block."""

MIX_HEADS = 4
TRIANGLE_WIDTH = 32
HEADS = 8
CELL_FEATURES = 4
"""Of a cell: its value, its normal score, how often the value is found, and whether it was set."""

CELLS_AT_ONCE = 250_000
"""Views with as many cells are worked on side by side: each cell takes some 1.5 kB."""


class MomentsBlock(nn.Module):
    """Mix the values of the variables, take moments, let pairs that share a variable meet, update the states."""

    def __init__(self, width: int) -> None:
        super().__init__()
        # values
        self.coefficients = nn.Linear(PAIR_WIDTH, MIX_HEADS)
        self.mixed = nn.Linear(VALUE_WIDTH, VALUE_WIDTH, bias=False)
        self.value_layers = perceptron(VALUE_WIDTH, (2 * VALUE_WIDTH, VALUE_WIDTH), nn.GELU)
        self.factors = nn.Linear(VALUE_WIDTH, 2 * MOMENT_FEATURES)
        self.moments = nn.Linear(MOMENT_FEATURES**2, PAIR_WIDTH)
        # pairs
        self.norm_pairs = nn.LayerNorm(PAIR_WIDTH)
        self.sides = nn.Linear(PAIR_WIDTH, 4 * TRIANGLE_WIDTH)
        self.norm_triangles = nn.LayerNorm(2 * TRIANGLE_WIDTH)
        self.triangles = nn.Linear(2 * TRIANGLE_WIDTH, PAIR_WIDTH)
        self.from_states = nn.Linear(width, 2 * PAIR_WIDTH)
        self.norm_both = nn.LayerNorm(PAIR_WIDTH)
        self.pair_layers = perceptron(2 * PAIR_WIDTH, (4 * PAIR_WIDTH, PAIR_WIDTH), nn.GELU)
        # states
        self.bias = nn.Linear(PAIR_WIDTH, HEADS)
        self.gather = nn.Linear(3 * PAIR_WIDTH, width)
        self.norm_states = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.norm_forward = nn.LayerNorm(width)
        self.forward_layers = perceptron(width, (4 * width, width), nn.GELU)

    def forward(
        self, values: Tensor, pairs: Tensor, states: Tensor, seen: Tensor, both: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Update values (batch, d, n, 32), pairs (batch, d, d, 64) and states (batch, d, width).

        ``seen`` (batch, d, n) is zero for missing cells, ``both`` (batch, d, d) the number of rows that two columns
        have in common.
        """
        values = self._mix(values, pairs) * seen[..., None]
        pairs = pairs + self._moments(values, both)
        pairs = pairs + self._triangles(self.norm_pairs(pairs))
        here, there = self.from_states(states).chunk(2, dim=2)
        normed = self.norm_both(pairs + here[:, :, None] + there[:, None])
        pairs = pairs + self.pair_layers(torch.cat([normed, normed.transpose(1, 2)], dim=3))
        return values, pairs, self._update_states(states, pairs)

    def _mix(self, values: Tensor, pairs: Tensor) -> Tensor:
        """Add to each variable's values a signed combination of the others': what a regression residual is."""
        batch, d, n, _ = values.shape
        mix = self.coefficients(pairs).permute(0, 3, 1, 2)  # (batch, heads, d, d)
        mix = mix * torch.rsqrt(1 + mix.square().sum(3, keepdim=True))
        split = self.mixed(values).view(batch, d, n, MIX_HEADS, -1)
        values = values + torch.einsum("bhij,bjnhw->binhw", mix, split).reshape(values.shape)
        values = values - values.mean(2, keepdim=True)
        values = values * torch.rsqrt(values.square().mean(2, keepdim=True) + 1e-4)  # residuals standardized again
        result: Tensor = values + self.value_layers(values)
        return result

    def _moments(self, values: Tensor, both: Tensor) -> Tensor:
        batch, d, n, _ = values.shape
        left, right = self.factors(values).chunk(2, dim=3)  # (batch, d, n, features) each
        products = torch.einsum("binf,bjng->bijfg", left / n, right).reshape(batch, d, d, -1)
        result: Tensor = self.moments(products * (n / both)[..., None].to(products.dtype))
        return result

    def _triangles(self, pairs: Tensor) -> Tensor:
        """Pair (i, j) sees, for every k, (i, k) with (k, j) and (i, k) with (j, k)."""
        d = pairs.shape[1]
        first, second, third, fourth = self.sides(pairs).permute(0, 3, 1, 2).chunk(4, dim=1)
        through = torch.cat([first @ second, third @ fourth.mT], dim=1) / math.sqrt(d)
        result: Tensor = self.triangles(self.norm_triangles(through.permute(0, 2, 3, 1)))
        return result

    def _update_states(self, states: Tensor, pairs: Tensor) -> Tensor:
        batch, d, width = states.shape
        states = states + self.gather(torch.cat([pairs.mean(2), pairs.mean(1), pairs.amax(2)], dim=2))
        query, key, value = (
            self.project(self.norm_states(states)).view(batch, d, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        )
        bias = self.bias(pairs).permute(0, 3, 1, 2)
        scores = query @ key.mT / math.sqrt(width // HEADS) + bias
        attended = (scores.softmax(3).to(value.dtype) @ value).transpose(1, 2).reshape(batch, d, width)
        states = states + self.merge(attended)
        result: Tensor = states + self.forward_layers(self.norm_forward(states))
        return result


class MomentsEncoder(nn.Module):
    """States from averages over samples alone: any number of samples and variables, in any sequence."""

    width = 128

    def __init__(self) -> None:
        super().__init__()
        self.embed_values = perceptron(CELL_FEATURES, (VALUE_WIDTH, VALUE_WIDTH), nn.GELU)
        self.embed_pairs = perceptron(N_PAIR_FEATURES, (PAIR_WIDTH, PAIR_WIDTH), nn.GELU)
        self.embed_states = perceptron(N_VARIABLE_FEATURES, (self.width, self.width), nn.GELU)
        self.blocks = nn.ModuleList(MomentsBlock(self.width) for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(self.width)
        self.edges = EdgeHead(PAIR_WIDTH)

    def at_each(self, views: Tensor, told: Told, within: Deadline | None = None) -> list[tuple[Tensor, Tensor]]:
        """:meth:`states_and_edges` of each view: one by one they stay in the caches, and several cores share them.

        On a CPU each has one thread, so that rounding does not depend on how many there are.
        """

        def at(k: int) -> tuple[Tensor, Tensor]:
            with torch.no_grad():
                return self.states_and_edges(views[k, None], told.of(slice(k, k + 1)), within)

        at_once = min(len(views), CELLS_AT_ONCE // views[0].numel())
        if views.device.type != "cpu" or at_once <= 1:
            with one_thread():
                return [at(k) for k in range(len(views))]
        with one_thread(), pool_of_threads(at_once) as pool:
            return list(pool.map(at, range(len(views))))

    def states_and_edges(
        self, inputs: Tensor, told: Told | None = None, within: Deadline | None = None
    ) -> tuple[Tensor, Tensor]:
        """States (batch, d, width) and the logits (batch, d, d, 2) of :class:`precede.policy.moments.EdgeHead`.

        Raises
        ------
        OutOfTime
            The deadline has passed before the last block.
        """
        told = told or Told.nothing(inputs)
        # scales span orders of magnitude and their differences matter: no half precision here
        with torch.autocast(inputs.device.type, enabled=False):
            columns = read_columns(inputs, told)
            pair_features, variable_features = classical_features(columns, told)
            both = (columns.seen @ columns.seen.transpose(1, 2)).clamp_min(1.0)
            pairs, states = self.embed_pairs(pair_features), self.embed_states(variable_features)
        values = self.embed_values(torch.stack([columns.values, columns.scores, columns.ties, columns.was_set], dim=3))
        values = values * columns.seen[..., None]
        for block in self.blocks:
            if within is not None:
                within.check()
            values, pairs, states = block(values, pairs, states, columns.seen, both)
        return self.norm(states), ruled(self.edges(pairs), told)

    def forward(self, inputs: Tensor) -> Tensor:
        """States (batch, n_variables, width) of inputs (batch, n_variables, n_samples + 1), the log scale last.

        A missing cell is NaN.
        """
        return self.states_and_edges(inputs)[0]


SELDOM = -3.0
"""Logit of a common cause before the head has learned any."""

NEVER = -30.0
"""Logit of an answer that is known to be wrong, and of one that a policy was never taught."""


class EdgeHead(nn.Module):
    r"""Answers about each pair: i -> j, j -> i, a hidden common cause and no edge (i <-> j), or none of these.

    With e the output of two layers for an ordered pair, and c the sum over both ways of another output,
    :math:`P(i \to j) = \exp(e_{ij}) / (1 + \exp(e_{ij}) + \exp(e_{ji}) + \exp(c_{ij}))`. A direction that the data
    cannot tell has as much either way.

    Parameters
    ----------
    width : int
        Of a pair's state.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = perceptron(2 * width, (2 * width, 1), nn.GELU)
        self.common = nn.Linear(2 * width, 1)
        nn.init.zeros_(self.common.weight)
        nn.init.constant_(self.common.bias, SELDOM / 2)

    def forward(self, pairs: Tensor) -> Tensor:
        """Logits e and c, (batch, n_variables, n_variables, 2), of pairs (batch, n_variables, n_variables, width)."""
        normed = self.norm(pairs)
        inner = self.layers[:-1](torch.cat([normed, normed.transpose(1, 2)], dim=3))
        edges, common = self.layers[-1](inner).float(), self.common(inner).float()
        return torch.cat([edges, common + common.transpose(1, 2)], dim=3)


def ruled(logits: Tensor, told: Told) -> Tensor:
    """Logits under which a forbidden edge has probability zero, and a required one probability one."""
    edges, common = logits.unbind(3)
    out = told.forbidden | told.required.transpose(1, 2)
    some = told.required | told.required.transpose(1, 2)
    edges = edges.masked_fill(out, NEVER).masked_fill(told.required & ~told.forbidden, -NEVER)
    return torch.stack([edges, common.masked_fill(some, NEVER)], dim=3)


class PairAnswers(NamedTuple):
    """Of each ordered pair (batch, n_variables, n_variables): i -> j, a common cause, and none; as logs or not."""

    edge: Tensor
    common: Tensor
    none: Tensor


def answer_log_probabilities(logits: Tensor) -> PairAnswers:
    """Log-probabilities of the answers, from logits (batch, n_variables, n_variables, 2).

    Examples
    --------
    >>> answers = answer_log_probabilities(torch.zeros(1, 2, 2, 2))
    >>> [round(part.exp()[0, 0, 1].item(), 3) for part in answers]
    [0.25, 0.25, 0.25]
    """
    edges, common = logits.unbind(3)
    everything = torch.stack([torch.zeros_like(edges), edges, edges.transpose(1, 2), common]).logsumexp(0)
    return PairAnswers(edges - everything, common - everything, -everything)


def edge_loss(logits: Tensor, edges: Tensor, common: Tensor) -> Tensor:
    """Mean over unordered pairs of the cross-entropy between what is there and the answers.

    Parameters
    ----------
    logits : (batch, n_variables, n_variables, 2) tensor
    edges, common : (batch, n_variables, n_variables) float tensors
        Share of i -> j, which is a half either way where data cannot tell, and of a common cause.
    """
    said = answer_log_probabilities(logits)
    backwards = edges.transpose(1, 2)  # the edge that points the other way
    # each unordered pair is met twice, with the same terms
    chosen = edges * said.edge + backwards * said.edge.transpose(1, 2) + common * said.common
    chosen = chosen + (1 - edges - backwards - common) * said.none
    apart = ~torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
    return -chosen[:, apart].mean()
