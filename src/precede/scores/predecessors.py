"""Scores that regress each variable on all its predecessors, and the cache of Algorithm 1: each set once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import check_positive
from precede.runtime.deadline import Deadline
from precede.scores.likelihood import Noise, NoiseModel
from precede.scores.protocol import BatchedScore, OrderScore

# Which of the sets were evaluated, and their rows of terms, one piece after another.
Pieces = Iterator[tuple[IntArray, FloatArray]]


class PredecessorCache:
    """Terms of any variable given any set of predecessors, computed once per set.

    One factorization of a set serves every variable outside it, so a miss evaluates the whole set and stores a row of
    terms, one for each variable. Keys are Python ints whose bit j says that variable j is in the set: exact for any
    number of variables.

    Parameters
    ----------
    n_variables : int
    evaluate : callable
        ``evaluate(members)`` takes an (n_sets, n_variables) bool array and yields pieces: which of the sets, and an
        (n_of_these, n_variables) float array whose ``[s, j]`` is the term of variable j given set s. What it says of
        members is never read.
    max_sets : int
        The cache starts afresh when it would hold more sets than this.

    Attributes
    ----------
    n_lookups : int
        (variable, set) pairs asked for.
    n_evaluations : int
        Sets evaluated.

    Examples
    --------
    >>> def evaluate(members):
    ...     yield np.arange(len(members)), np.repeat(members.sum(1, keepdims=True), 3, axis=1)
    >>> cache = PredecessorCache(3, evaluate)
    >>> cache.terms(np.array([[2, 0, 1], [2, 1, 0]]))
    array([[0., 1., 2.],
           [0., 1., 2.]])
    >>> cache.n_lookups, cache.n_evaluations  # {}, {2}, {2, 0} and {2, 1}
    (6, 4)
    """

    def __init__(self, n_variables: int, evaluate: Callable[[BoolArray], Pieces], *, max_sets: int = 1_000_000) -> None:
        check_positive("max_sets", max_sets, integer=True)
        self.n_variables = n_variables
        self.max_sets = max_sets
        self.n_lookups = 0
        self.n_evaluations = 0
        self._evaluate = evaluate
        self._row_of: dict[int, int] = {}
        self._table = np.empty((0, n_variables))

    def __len__(self) -> int:
        """Number of sets held."""
        return len(self._row_of)

    @property
    def hit_rate(self) -> float:
        """Share of the lookups that needed no evaluation; 0 before the first."""
        return 1 - self.n_evaluations / self.n_lookups if self.n_lookups else 0.0

    def terms(self, orders: IntArray, deadline: Deadline | None = None) -> FloatArray:
        """Term of each variable given all before it, (n_orders, n_variables), in each order's own sequence.

        Raises
        ------
        OutOfTime
            The deadline passed while sets were missing; those evaluated until then are kept.
        """
        keys = predecessor_masks(orders)
        self._fill(list(dict.fromkeys(keys)), deadline)
        rows = np.fromiter(map(self._row_of.__getitem__, keys), dtype=np.int64, count=len(keys))
        self.n_lookups += len(keys)
        result: FloatArray = self._table[rows, orders.ravel()].reshape(orders.shape)
        return result

    def given_all_others(self, deadline: Deadline | None = None) -> FloatArray:
        """Term of each variable given all the others, (n_variables,): one set for each; raises as ``terms`` does."""
        everything = (1 << self.n_variables) - 1
        keys = [everything ^ (1 << j) for j in range(self.n_variables)]
        self._fill(keys, deadline)
        self.n_lookups += len(keys)
        return self._table[[self._row_of[key] for key in keys], np.arange(self.n_variables)]

    def missing(self, orders: IntArray) -> list[int]:
        """Keys of the sets that ``terms`` of these orders would evaluate; whoever has their rows may ``keep`` them."""
        return self._missing(list(dict.fromkeys(predecessor_masks(orders))))

    def keep(self, keys: list[int], rows: FloatArray) -> None:
        """Remember the rows of sets, (n_keys, n_variables), but for those that came in the meantime."""
        new = [s for s, key in enumerate(keys) if key not in self._row_of]
        start, stop = len(self._row_of), len(self._row_of) + len(new)
        if stop > len(self._table):
            grown = np.empty((max(stop, 2 * start), self.n_variables))
            grown[:start] = self._table[:start]
            self._table = grown
        self._table[start:stop] = rows[new]
        self._row_of.update(zip((keys[s] for s in new), range(start, stop), strict=True))
        self.n_evaluations += len(new)

    def _missing(self, keys: list[int]) -> list[int]:
        missing = [key for key in keys if key not in self._row_of]
        if len(self._row_of) + len(missing) > self.max_sets:
            self._row_of.clear()
            return keys
        return missing

    def _fill(self, keys: list[int], deadline: Deadline | None) -> None:
        missing = self._missing(keys)
        n_left = len(missing)
        pieces = self._evaluate(members_of(missing, self.n_variables)) if missing else iter(())
        while n_left:
            if deadline is not None:
                deadline.check()
            which, values = next(pieces)
            self.keep([missing[s] for s in which], values)
            n_left -= len(which)


def predecessor_masks(orders: IntArray) -> list[int]:
    """Bit mask of the variables before each position, row after row.

    Examples
    --------
    >>> predecessor_masks(np.array([[2, 0, 1]]))
    [0, 4, 5]
    """
    fits_a_word = orders.shape[1] < 63
    powers = np.array([1 << j for j in range(orders.shape[1])], dtype=np.int64 if fits_a_word else object)
    bits = powers[orders]
    masks: list[int] = (bits.cumsum(axis=1) - bits).ravel().tolist()
    return masks


def members_of(masks: list[int], n_variables: int) -> BoolArray:
    """Sets as a bool array, (n_sets, n_variables).

    Examples
    --------
    >>> members_of([5], 3)
    array([[ True, False,  True]])
    """
    n_bytes = (n_variables + 7) // 8
    packed = b"".join(mask.to_bytes(n_bytes, "little") for mask in masks)
    words = np.frombuffer(packed, dtype=np.uint8).reshape(len(masks), n_bytes)
    return np.unpackbits(words, axis=1, count=n_variables, bitorder="little").astype(bool)


# Which of several scores, which of its sets were regressed on, and the residual variances given each.
JointPieces = Iterator[tuple[int, IntArray, FloatArray]]


class PredecessorScore(OrderScore):
    """Terms looked up in a cache of predecessor sets; between the pieces that it lacks, it looks at the clock.

    A subclass adds ``regressions``.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    noise : {"unequal", "equal"}
    n_coefficients : int
        Of the regressions on all predecessors, together.
    device : str or torch.device
    max_sets : int
        Predecessor sets kept in the cache.
    """

    noises = ("equal", "unequal")

    def __init__(
        self, values: FloatArray, noise: Noise, n_coefficients: int, device: torch.device | str, max_sets: int
    ) -> None:
        self.n_samples, self.n_variables = values.shape
        self.device = torch.device(device)
        self.likelihood = NoiseModel(noise, self.n_samples, values.var(axis=0), n_coefficients)
        if noise == "equal":
            self.assumes = self.assumes.with_equal_variances()
        self.cache = PredecessorCache(self.n_variables, self.evaluate, max_sets=max_sets)

    @property
    def hit_rate(self) -> float:
        """Share of the (variable, set) lookups that needed no new regression."""
        return self.cache.hit_rate

    @property
    def n_evaluations(self) -> int:
        """Predecessor sets factorized so far."""
        return self.cache.n_evaluations

    @property
    def residual_units(self) -> tuple[float, float]:
        return self.likelihood.residual_units

    def terms(self, orders: Tensor) -> Tensor:
        return torch.from_numpy(self.cache.terms(orders.cpu().numpy(), self.deadline)).to(self.device)

    def total(self, sums: Tensor) -> Tensor:
        return self.likelihood.total(sums)

    def bounds(self) -> Tensor:
        return torch.from_numpy(self.cache.given_all_others(self.deadline)).to(self.device)

    @abstractmethod
    def regressions(self, members: BoolArray) -> Pieces:
        """Regress on sets, piece by piece: which of them, and the residual variance of every variable given each."""

    def residual_variances(self, members: BoolArray) -> FloatArray:
        """Residual variance of every variable given each set, (n_sets, n_variables).

        Parameters
        ----------
        members : (n_sets, n_variables) bool array
        """
        variances = np.empty(members.shape)
        for which, piece in self.regressions(members):
            variances[which] = piece
        return variances

    def evaluate(self, members: BoolArray) -> Pieces:
        """Terms in the place of the variances."""
        for which, variances in self.regressions(members):
            yield which, self.likelihood.terms(variances)

    @classmethod
    def together(cls, scores: Sequence[Self]) -> BatchedScore:
        """One transfer of all orders, and one round of regressions on all sets that are missing."""
        return PredecessorScores(scores)

    @classmethod
    def joint_regressions(cls, scores: Sequence[Self], members: Sequence[BoolArray]) -> JointPieces:
        """Regress on the sets of several scores, here one score after another."""
        for k, (score, own) in enumerate(zip(scores, members, strict=True)):
            for which, variances in score.regressions(own):
                yield k, which, variances


class PredecessorScores(BatchedScore):
    """Scores with a cache each: what all of them lack is evaluated together."""

    def __init__(self, scores: Sequence[PredecessorScore]) -> None:
        super().__init__(scores)
        self._kind = type(scores[0])
        self._own = list(scores)

    def terms(self, orders: Tensor) -> Tensor:
        host = orders.cpu().numpy()
        missing = [score.cache.missing(own) for score, own in zip(self._own, host, strict=True)]
        members = [members_of(keys, orders.shape[2]) for keys in missing]
        n_left, deadline = sum(map(len, missing)), self._own[0].deadline
        pieces = self._kind.joint_regressions(self._own, members)
        while n_left:
            if deadline is not None:
                deadline.check()
            k, which, variances = next(pieces)
            score = self._own[k]
            score.cache.keep([missing[k][s] for s in which], score.likelihood.terms(variances))
            n_left -= len(which)
        found = [score.cache.terms(own) for score, own in zip(self._own, host, strict=True)]
        return torch.from_numpy(np.stack(found)).to(orders.device)
