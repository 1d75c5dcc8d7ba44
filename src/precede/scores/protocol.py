"""What a score of causal orders is: the one interface that every search, check and report sees.

The formulas behind scores and search are in ``docs/explanation/mathematics.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import KnowledgeError
from precede.graph.dags import class_of, halves
from precede.knowledge import Constraints
from precede.runtime import Deadline
from precede.scores.assumptions import Assumptions

ParentSet = tuple[int, ...]


class Expansion(NamedTuple):
    """A parent set, and what one parent more or less would change.

    Parameters
    ----------
    score : float
    rivals : (n_rivals,) int array
        Variables whose addition may pay, in any sequence.
    gains : (n_rivals,) array
        What the score gains by each.
    losses : (n_parents,) array
        What it loses without each parent: below zero where it is better without; infinite where it is required.
    """

    score: float
    rivals: IntArray
    gains: FloatArray
    losses: FloatArray


@dataclass(frozen=True)
class ExpandedMoves:
    """A score that works out parent sets one by one.

    Parameters
    ----------
    expand : callable
        ``expand(variable, parents)``, parents ascending.
    required : (n_variables, n_variables) bool array
        ``[child, parent]``: parents that are in every set.
    """

    expand: Callable[[int, ParentSet], Expansion]
    required: BoolArray


@dataclass(frozen=True)
class CovarianceMoves:
    r"""Linear regressions: compiled code works out sets from the correlations, and the shape of what they leave.

    The score of v given S is :math:`\mathrm{offset}_v - \frac m2 \log \hat\sigma^2_{v \mid S} - |S| \, \mathrm{price}`,
    with the residual variance of the standardized v; and, where there are rows, what its shape is worth, which sets are
    not chosen by.

    Parameters
    ----------
    correlation : (n_variables, n_variables) array
    offset : (n_variables,) array
    n_samples : int
    price : float
    max_parents : int
    allowed, required : (n_variables, n_variables) bool arrays
        ``[child, parent]``.
    columns : (n_variables, n_rows) array
        Standardized; no rows where all noise is taken as Gaussian.
    shape_price : float
        Nats that a residual's shape must be worth to count.
    """

    correlation: FloatArray
    offset: FloatArray
    n_samples: int
    price: float
    max_parents: int
    allowed: BoolArray
    required: BoolArray
    columns: FloatArray
    shape_price: float


@dataclass(frozen=True)
class TableMoves:
    """A table of terms by the candidates that come before a variable.

    Parameters
    ----------
    table : (n_variables, 2^n_candidates) array
        ``[v, bits]``: term of v when the candidates of these bits come before it; NaN where it is not known yet.
    place : (n_variables, n_variables) int array
        ``[v, u]``: bit of u among the candidates of v, -1 where it is none.
    settle : callable
        ``settle(variable, bits)`` writes a missing entry.
    """

    table: FloatArray
    place: IntArray
    settle: Callable[[int, int], None]


@dataclass(frozen=True)
class VarianceMoves:
    """A score whose terms are residual variances of linear regressions on all predecessors, times a number.

    Parameters
    ----------
    covariance : (n_variables, n_variables) array
    weight : float
        Positive; the terms are minus this times the variances.
    """

    covariance: FloatArray
    weight: float


StateMoves = CovarianceMoves | ExpandedMoves | TableMoves
"""Those of parent sets (:mod:`precede.scores.parents`)."""

LocalMoves = StateMoves | VarianceMoves


Identifies = Literal["dag", "cpdag"]
NoiseName = Literal["auto", "equal", "unequal"]

CHUNK_ORDERS = 4096
"""On a GPU, moved orders are scored in pieces of about this many where the score has no quicker way."""


CPDAG_NOTE = (
    "Some directions cannot be determined from independences alone: lines without arrowheads may point either way."
)


class BatchedScore:
    """Scores side by side, here each by itself; a kind of score that can do more at once brings its own.

    The first axis of every tensor is the score.

    Parameters
    ----------
    scores : sequence of OrderScore
        Of one kind and over as many variables; see :meth:`precede.scores.protocol.OrderScore.together`.
    """

    def __init__(self, scores: Sequence[OrderScore]) -> None:
        self.scores = list(scores)

    def terms(self, orders: Tensor) -> Tensor:
        """Terms (n_scores, n_orders, n_variables) of as many orders, by each order's own score."""
        return torch.stack([score.terms(own) for score, own in zip(self.scores, orders, strict=True)])

    def total(self, sums: Tensor) -> Tensor:
        """Reported scores of sums of terms, both (n_scores, ...)."""
        return torch.stack([score.total(own) for score, own in zip(self.scores, sums, strict=True)])

    def bounds(self) -> Tensor:
        """Best terms, (n_scores, 1, n_variables): they stand beside orders of each score."""
        return torch.stack([score.bounds() for score in self.scores])[:, None]

    @contextmanager
    def within(self, deadline: Deadline | None) -> Iterator[None]:
        """A block in which they may give up when a deadline passes."""
        with ExitStack() as blocks:
            for score in self.scores:
                blocks.enter_context(score.within(deadline))
            yield


class OrderScore(ABC):
    r"""Judge of causal orders; higher is better. A score of your own sets the attributes and writes ``terms``.

    ``terms(orders)`` decomposes: entry ``[k, t]`` depends only on the t-th variable of order k and on the *set* of
    variables before it (Equation 3 of the paper). The order's score is ``total(terms.sum(1))``, where ``total`` is
    increasing (the identity for most scores), so every search may compare sums of terms.

    Attributes
    ----------
    name : str
    n_variables : int
    device : torch.device
        Where orders are judged.
    identifies : {"dag", "cpdag"}
        What the score can tell: the graph, or only its Markov equivalence class.
    assumes : Assumptions
        What it takes for granted. Linear ones are pruned by extended BIC and have linear weights, others by splines.
    notes : sequence of str
        Remarks for the user: what was cut short, approximated, or cannot be told.
    deadline : Deadline or None
        When ``terms`` and ``bounds`` may give up with ``OutOfTime``; a search sets it by
        ``within`` where it can do without an answer. A score whose terms take seconds looks at it between its steps.
    """

    name: str
    n_variables: int
    device: torch.device = torch.device("cpu")
    identifies: Identifies = "dag"
    assumes: Assumptions = Assumptions()
    notes: Sequence[str] = ()
    deadline: Deadline | None = None

    @abstractmethod
    def terms(self, orders: Tensor) -> Tensor:
        """Contribution of each variable given all variables before it.

        Parameters
        ----------
        orders : (n_orders, n_variables) int64 tensor on ``device``
            Causes first.

        Returns
        -------
        terms : (n_orders, n_variables) float64 tensor
            In the order's own sequence.
        """

    def total(self, sums: Tensor) -> Tensor:
        """Increasing map from sums of the terms to the reported score."""
        return sums

    def bounds(self) -> Tensor:
        """Best term that each variable can have, (n_variables,): its term given all the others.

        For a score whose terms grow with the set of predecessors; otherwise a point of reference.
        """
        d = self.n_variables
        variables = torch.arange(d, device=self.device)
        orders = variables.repeat(d, 1)
        # row j: every variable but j in column order, then j
        others = orders[~torch.eye(d, dtype=torch.bool, device=self.device)].view(d, d - 1)
        return self.terms(torch.cat([others, variables[:, None]], dim=1))[:, -1]

    def insertion_sums(self, order: Tensor) -> Tensor:
        """All insertion moves of an order, judged together; here by scoring every moved order.

        Parameters
        ----------
        order : (n_variables,) int64 tensor

        Returns
        -------
        sums : (n_variables, n_variables) float64 tensor
            ``[i, k]``: sum of the terms after the variable at position i is taken out and put in at position k.
        """
        return torch.cat(list(self._scored_moves(order)))

    def insertion_pieces(self, order: Tensor) -> Iterator[Tensor]:
        """Rows of ``insertion_sums`` in pieces, so that a search can look at the clock between them.

        A score with a quicker way than scoring every moved order has them all in one piece.
        """
        if type(self).insertion_sums is not OrderScore.insertion_sums:
            yield self.insertion_sums(order)
        else:
            yield from self._scored_moves(order)

    def _scored_moves(self, order: Tensor) -> Iterator[Tensor]:
        """Sums of the moved orders: on a CPU one variable's moves at a time."""
        d = len(order)
        slot = torch.arange(d, device=order.device)
        target = slot[:, None]
        at_once = 1 if order.device.type == "cpu" else max(1, CHUNK_ORDERS // d)
        for start in range(0, d, at_once):
            source = slot[start : start + at_once, None, None]
            low, high = torch.minimum(source, target), torch.maximum(source, target)
            # where each slot of the moved order takes its variable from: shifted by one inside the stretch
            shift = torch.where(source < target, 1, -1) * ((slot >= low) & (slot <= high))
            taken = torch.where(slot == target, source, slot + shift)
            yield self.sums(order[taken.view(-1, d)]).view(-1, d)

    def moves(self) -> LocalMoves | None:
        """How compiled local search may price single moves; None where every order has to be judged as a whole."""
        return None

    def placing_sums(self, order: Tensor, n_placed: int) -> Tensor:
        """Where to put the next variable of a growing order; here by scoring every place.

        Parameters
        ----------
        order : (n_variables,) int64 tensor
        n_placed : int
            The variables before this position are placed, the one at it comes next, the others do not count yet.

        Returns
        -------
        sums : (n_placed + 1,) float64 tensor
            ``[k]``: sum of the terms of the variables placed, after the next one was put in at position k.
        """
        place = torch.arange(n_placed + 1, device=order.device)
        slot = torch.arange(len(order), device=order.device)
        # slots after the new place, up to the one that became free, take their left neighbor's variable
        shift = ((slot[None, :] > place[:, None]) & (slot[None, :] <= n_placed)).long()
        orders = order[torch.where(slot[None, :] == place[:, None], n_placed, slot[None, :] - shift)]
        terms = self.terms(orders)[:, : n_placed + 1]
        by_column = torch.zeros(orders.shape, dtype=terms.dtype, device=terms.device)
        return by_column.scatter_(1, orders[:, : n_placed + 1], terms).sum(1)

    def graph(self, order: IntArray) -> BoolArray | None:
        """Best graph that agrees with an order, ``[i, j]`` means i -> j; None where pruning has to find it."""
        return None

    def told(self, edges: BoolArray) -> BoolArray:
        """Edges whose direction the score tells although it identifies the CPDAG only: none but with interventions."""
        return np.zeros_like(edges)

    def marks(self, edges: BoolArray, constraints: Constraints) -> FloatArray:
        """What the score says of each direction: one for i -> j, a half each way where it knows only the class."""
        if self.identifies == "dag":
            return edges.astype(float)
        return halves(class_of(edges, self.told(edges) | constraints.directs(edges)))

    def quick_order(self, constraints: Constraints) -> IntArray | None:
        """A good order in milliseconds, where the score knows a way; None where it does not."""
        return None

    @contextmanager
    def within(self, deadline: Deadline | None) -> Iterator[None]:
        """A block in which this score may give up when a deadline passes."""
        before, self.deadline = self.deadline, deadline
        try:
            yield
        finally:
            self.deadline = before

    @property
    def residual_units(self) -> tuple[float, float]:
        """What a term is of minus a residual variance, and a total of minus its logarithm; 1 where it is neither."""
        return 1.0, 1.0

    @classmethod
    def together(cls, scores: Sequence[Self]) -> BatchedScore:
        """Scores of this very class side by side, one for each data set; here each is asked by itself."""
        return BatchedScore(scores)

    # -- what follows from the terms ---------------------------------------------------------------------------

    def sums(self, orders: Tensor) -> Tensor:
        """Sum of each order's terms, (n_orders,), always added up by column.

        Orders with the same terms then have the same sum to the last bit, whatever their sequence.
        """
        return column_sums(orders, self.terms(orders))

    def totals(self, orders: Tensor) -> Tensor:
        """Score of each order, (n_orders,)."""
        return self.total(self.sums(orders))

    def score_of(self, order: IntArray) -> float:
        """Score of one order."""
        return float(self.totals(torch.as_tensor(order, device=self.device)[None])[0])


def column_sums(orders: Tensor, terms: Tensor) -> Tensor:
    """Sum of each order's terms, added up by column and not by position; see :meth:`OrderScore.sums`."""
    return torch.zeros_like(terms).scatter_(1, orders, terms).sum(1)


def check_agreement(edges: BoolArray, order: IntArray) -> None:
    """Refuse an order that puts a variable before one of its parents, which then is required."""
    position = np.argsort(order)
    against = np.argwhere(edges & (position[:, None] > position[None, :]))
    if len(against):
        raise KnowledgeError(f"the order puts column {against[0][1]} before a parent that is required.")
