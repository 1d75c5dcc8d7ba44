"""Sparse linear scores: parents grown and shrunk from the covariance matrix, and the shape of what they leave."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import OptionError
from precede.knowledge import Constraints
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import Moments, covariance, regularized
from precede.scores.moves import CovarianceMoves
from precede.scores.protocol import CPDAG_NOTE, Identifies, OrderScore, check_agreement
from precede.scores.regions import Parents, RegionMemo
from precede.scores.shape import ResidualShapes, evenly_spaced, told_by_shape

CHUNK_ELEMENTS = 2**22
"""Problems are solved in pieces of about this many (problem, variable) pairs, which bounds the memory."""

SMALLEST_VARIANCE = 1e-9
"""A variable that the parents leave less than this share of its variance has nothing to add."""


@dataclass
class _Growth:
    """Problems that still grow (and some that are done), one row each."""

    problem: Tensor
    growing: Tensor
    target: Tensor
    permitted: Tensor
    available: Tensor
    required: Tensor
    rivals: Tensor
    variance: Tensor
    cross: Tensor
    rows: Tensor

    def keep(self, mask: Tensor) -> _Growth:
        """Only the problems in the mask."""
        return _Growth(**{item.name: getattr(self, item.name)[mask] for item in fields(self)})

    def add(self, correlations: Tensor, winner: Tensor, size: int) -> None:
        """Condition on one more parent each; a problem that is done stays as it is."""
        if size == self.rows.shape[1]:
            self.rows = torch.cat([self.rows, torch.empty_like(self.rows)], dim=1)
        known = self.rows[:, :size]
        at_winner = known.gather(2, winner[:, None].expand(-1, size, 1))  # (n_problems, size, 1)
        row = correlations - (at_winner.transpose(1, 2) @ known)[:, 0]
        row = row / self.variance.gather(1, winner).clamp_min(SMALLEST_VARIANCE).sqrt() * self.growing[:, None]
        self.rows[:, size] = row
        self.variance = self.variance - row.square()
        self.cross = self.cross - row.gather(1, self.target) * row
        for flags in (self.permitted, self.available, self.required):
            flags.scatter_(1, winner, False)


class LinearAnyScore(OrderScore):
    r"""Linear regressions on the best parents among the predecessors, with noise of any shape.

    .. math:: \mathrm{term}_t = -\frac m2 (\log 2 \pi \hat\sigma^2_{t \mid S} + 1)
              + \max(0, m J(r_{t \mid S}) - \log m) - |S| \, (\mathrm{penalty} \cdot \tfrac12 \log m + \gamma \log d),

    where S is grown one parent at a time while the Gaussian part rises, then shrunk likewise (the grow-shrink of BOSS
    and FLOP): a function of the *set* of predecessors. J is the residual's negentropy
    (``precede.scores.shape.negentropy``). Noise variances are free, so the score does not depend on the columns'
    scales. Where noise is Gaussian J is priced out, and Markov-equivalent graphs have the same score: then **only the
    CPDAG is identified**. Where some is not, its shape tells more (:meth:`told`).

    :class:`SparseLinearScore` takes all noise as Gaussian, and its sets are the graph; :class:`NonGaussianScore` takes
    no noise as Gaussian: its J has no price.

    Parameters
    ----------
    values : (n_samples, n_variables) array
    penalty : float or None
        Price of a parent in units of log(m)/2; None takes ``usual_penalty``. BIC's own 1 keeps a null edge with
        probability .005 at 3,000 rows, about 20 of them at 100 variables; BOSS and FLOP use 2.
    gamma : float
        Extended BIC: log(d) times this is added to the price of a parent.
    max_parents : int or None
        Largest parent set; no limit when None.
    constraints : Constraints, optional
        Forbidden parents never enter a set; required ones always are in it.
    moments : Moments, optional
        In place of those of the values, where cells were missing.
    device : str or torch.device

    References
    ----------
    Andrews, Ramsey, Sanchez-Romero, Camchong, Kummerfeld (2023), BOSS, NeurIPS.
    Wienöbst, Henckel, Weichwald (2025), FLOP.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause, other = rng.normal(size=(2, 500))
    >>> effect = cause + other + rng.normal(size=500)
    >>> score = LinearAnyScore(np.column_stack([effect, cause, other]))
    >>> score.parent_sets(np.array([1, 2, 0])).astype(int)
    array([[0, 0, 0],
           [1, 0, 0],
           [1, 0, 0]])
    """

    name = "linear-any"
    identifies: Identifies = "cpdag"
    noises = ("unequal",)
    assumes = Assumptions(
        "linear",
        words="Every variable is a weighted sum of few causes plus noise of any variance and shape.",
    )
    shape: ClassVar[Literal["priced", "free", "none"]] = "priced"
    """What the shape of noise counts for: more than its price, all of it, or nothing."""

    usual_penalty: ClassVar[float] = 1.0
    """BIC's own: sets hold all that may matter, and the best order is pruned by extended BIC."""

    def __init__(
        self,
        values: FloatArray,
        *,
        penalty: float | None = None,
        gamma: float = 0.0,
        max_parents: int | None = None,
        constraints: Constraints | None = None,
        moments: Moments | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        penalty = self.usual_penalty if penalty is None else penalty
        if penalty < 0 or gamma < 0 or penalty + gamma == 0:
            raise OptionError(
                f"penalty={penalty!r} and gamma={gamma!r} cannot be used: they must not be negative, nor both zero "
                "(every graph that is full would score the same)."
            )
        if max_parents is not None and max_parents < 1:
            raise OptionError(
                f"max_parents={max_parents!r} cannot be used: it must be a positive whole number or None."
            )
        moments = moments or Moments(covariance(values), len(values))
        self.n_samples, self.n_variables = m, d = moments.n_samples, values.shape[1]
        self.device = torch.device(device)
        scatter = regularized(moments.covariance)
        self._log_scale = torch.from_numpy(np.log(np.diag(scatter))).to(self.device)
        spread = np.sqrt(np.diag(scatter))
        self.correlation = torch.from_numpy(scatter / np.outer(spread, spread)).to(self.device)
        self.price = penalty * math.log(m) / 2 + gamma * math.log(d)
        # a regression on m - 2 columns leaves nothing to estimate a variance from
        self.max_parents = min(max_parents or d - 1, d - 1, max(1, m - 2))
        constraints = constraints or Constraints.none(d)
        self._allowed = torch.from_numpy(constraints.allowed.T.copy()).to(self.device)  # [child, parent]
        self._required = torch.from_numpy(constraints.required.T.copy()).to(self.device)
        none: FloatArray = np.zeros((d, 0))
        self._columns = none if self.shape == "none" else evenly_spaced(values, spread)
        self.shape_price = math.log(self._columns.shape[1]) if self.shape == "priced" else 0.0
        self.worth_of_shape = ResidualShapes(self._columns, self.correlation.cpu().numpy(), self.shape_price)
        self.memo = RegionMemo(d, self.parents, self.device)
        self.notes = [CPDAG_NOTE] if self.shape == "none" else []

    # -- parents of many problems at once ----------------------------------------------------------------------

    def parents(self, variables: Tensor, predecessors: Tensor) -> Parents:
        """Grow and shrink parent sets.

        Parameters
        ----------
        variables : (n_problems,) int64 tensor
        predecessors : (n_problems, n_variables) bool tensor
        """
        rows = max(1, CHUNK_ELEMENTS // self.n_variables)
        parts = [
            self._solve(v, p)
            for v, p in zip(torch.split(variables, rows), torch.split(predecessors, rows), strict=True)
        ]
        return Parents(
            torch.cat([part.chosen for part in parts]),
            torch.cat([part.terms for part in parts]),
            torch.cat([part.touched for part in parts]),
            torch.cat([part.rivals for part in parts]),
        )

    def _solve(self, variables: Tensor, predecessors: Tensor) -> Parents:
        chosen, touched, rivals = self._grow(variables, predecessors)
        terms = self._shrink(variables, chosen)
        if self.shape != "none":
            worth = [self.worth_of_shape(v, s) for v, s in zip(variables.tolist(), chosen.cpu().numpy(), strict=True)]
            terms += torch.tensor(worth, dtype=torch.float64, device=self.device)
        return Parents(chosen, terms, touched, rivals)

    def _grow(self, variables: Tensor, predecessors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Add the parent that raises the likelihood most, while that is worth its price.

        A parent that takes away the share r² of the target's variance raises the likelihood by -m/2 log(1 - r²), so
        shares are compared. Kept for every problem: each variable's variance, and its covariance with the target,
        given the parents chosen so far; and one row of a Cholesky factor per parent, from which the next row follows.
        """
        n, d = predecessors.shape
        enough = -math.expm1(-2 * self.price / self.n_samples)
        permitted, required = self._allowed[variables], self._required[variables]
        available = (predecessors & permitted) | required
        chosen, all_rivals = torch.zeros_like(available), torch.zeros_like(available)
        state = _Growth(
            problem=torch.arange(n, device=self.device),
            growing=torch.ones(n, dtype=torch.bool, device=self.device),
            target=variables[:, None],
            permitted=permitted,
            available=available,
            required=required,
            rivals=torch.zeros_like(available),
            variance=self.correlation.diagonal().repeat(n, 1),
            cross=self.correlation[variables],
            rows=torch.empty(n, 8, d, dtype=torch.float64, device=self.device),
        )
        for size in range(d):
            share = state.cross.square() / (state.variance * state.variance.gather(1, state.target))
            share.masked_fill_(~state.permitted | (state.variance < SMALLEST_VARIANCE), -1.0)
            best, winner = share.masked_fill(~state.available, -1.0).masked_fill(state.required, 2.0).max(dim=1)
            continues = state.growing & (best > enough)
            if size >= self.max_parents:
                continues &= best > 1  # only what is required
            else:
                hurdle = torch.where(continues, best, enough)[:, None]
                state.rivals |= (share > hurdle) & ~state.available & state.growing[:, None]
            state.growing = continues
            n_growing = int(continues.sum())
            if n_growing == 0:
                break
            if n_growing < len(continues) / 2:
                all_rivals[state.problem] = state.rivals
                winner = winner[continues]
                state = state.keep(continues)
            chosen[state.problem[state.growing], winner[state.growing]] = True
            state.add(self.correlation[winner], winner[:, None], size)
        all_rivals[state.problem] = state.rivals
        return chosen, chosen & ~self._required[variables], all_rivals  # what is required is there in any case

    def _shrink(self, variables: Tensor, chosen: Tensor) -> Tensor:
        """Drop the parent whose loss is least, while it is not worth its price: changes ``chosen``, returns terms."""
        n = len(variables)
        terms = torch.empty(n, dtype=torch.float64, device=self.device)
        problem = torch.arange(n, device=self.device)
        while len(problem):
            target, sets = variables[problem], chosen[problem]
            size = sets.sum(dim=1)
            width = int(size.max())
            members = sets.to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, :width]
            real = torch.arange(width, device=self.device) < size[:, None]
            nodes = torch.cat([target[:, None], members], dim=1)
            present = torch.cat([torch.ones_like(target[:, None], dtype=torch.bool), real], dim=1)
            block = self.correlation[nodes[:, :, None], nodes[:, None, :]]
            block = torch.where(present[:, :, None] & present[:, None, :], block, 0.0)
            block = block + torch.diag_embed((~present).to(block.dtype))  # absent nodes: a unit on the diagonal
            inverse = torch.linalg.inv(block)
            precision = inverse[:, 0, 0]
            # variance without parent s: 1 / (P_00 - P_0s² / P_ss)
            share = inverse[:, 0, 1:].square() / (inverse.diagonal(dim1=1, dim2=2)[:, 1:] * precision[:, None])
            loss = -self.n_samples / 2 * torch.log1p(-share.clamp(max=1 - 1e-15))
            loss = torch.where(real & ~self._required[target].gather(1, members), loss, torch.inf)
            if width:
                least, place = loss.min(dim=1)
            else:
                least, place = torch.full_like(precision, torch.inf), torch.zeros_like(target)
            drops = least < self.price
            log_variance = -torch.log(precision) + self._log_scale[target]
            likelihood = -self.n_samples / 2 * (log_variance + math.log(2 * math.pi) + 1)
            terms[problem] = likelihood - self.price * size.to(torch.float64)
            problem, place = problem[drops], place[drops]
            if len(problem):
                chosen[problem, members[drops].gather(1, place[:, None])[:, 0]] = False
        return terms

    # -- the OrderScore interface ------------------------------------------------------------------------------

    def terms(self, orders: Tensor) -> Tensor:
        rows = max(1, CHUNK_ELEMENTS // self.n_variables**2)
        return torch.cat([self._terms_of(part) for part in torch.split(orders, rows)])

    def _terms_of(self, orders: Tensor) -> Tensor:
        position = orders.argsort(dim=1)
        before = position[:, None, :] < position[:, :, None]  # [order, variable, predecessor]
        return self.memo.terms(before.transpose(0, 1)).T.gather(1, orders)  # transposed: one row per variable there

    def _parents_in(self, order: Tensor) -> Parents:
        """Parents of each variable given all before it, row v for variable v."""
        position = order.argsort()
        return self.memo.parents(position[None, :] < position[:, None])

    def moves(self) -> CovarianceMoves:
        # also beside a GPU: compiled code on one core is quicker than batches of regressions there
        offset = -self.n_samples / 2 * (self._log_scale.cpu().numpy() + math.log(2 * math.pi) + 1)
        return CovarianceMoves(
            self.correlation.cpu().numpy(), offset, self.n_samples, self.price, self.max_parents,
            self._allowed.cpu().numpy(), self._required.cpu().numpy(), self._columns, self.shape_price,
        )  # fmt: skip

    def bounds(self) -> Tensor:
        d = self.n_variables
        everything = ~torch.eye(d, dtype=torch.bool, device=self.device)
        return self.parents(torch.arange(d, device=self.device), everything).terms

    def told(self, edges: BoolArray) -> BoolArray:
        """Edges of a best graph that shapes direct: without J, they could be turned."""
        return told_by_shape(edges, self.worth_of_shape) if self.shape == "priced" else np.zeros_like(edges)

    def parent_sets(self, order: IntArray) -> BoolArray:
        """Each variable's parents by grow and shrink, ``[i, j]`` means i -> j."""
        chosen = self._parents_in(torch.as_tensor(np.asarray(order), device=self.device)).chosen
        edges: BoolArray = chosen.cpu().numpy().T.copy()  # transposed: a row of chosen is a child
        check_agreement(edges, order)
        return edges

    def insertion_sums(self, order: Tensor) -> Tensor:
        r"""As in ``OrderScore``, without scoring the d² orders one by one.

        Notes
        -----
        A variable that moves to the right leaves the predecessors of those it passes, which matters only to those
        that touched it; to the left, it joins them, which matters only where it is a rival. And an answer holds for
        all predecessor sets of its region (:mod:`precede.scores.regions`), so few of the d³ problems are solved.
        """
        d = self.n_variables
        place = torch.arange(d, device=self.device)
        position = order.argsort()
        now = self._parents_in(order)
        terms = now.terms[order]  # in sequence, as all that follows
        # rank[v, u]: position of u among the others of v
        rank = position[None, :] - (position[None, :] > position[:, None]).long()
        rank[place, place] = d  # never a predecessor of itself
        own = self.memo.terms(rank[:, None, :] < place[None, :, None])[order]  # [i, k]: i given the first k others
        # joint[v, u, :]: predecessors of v when u has changed sides; it matters only if u was touched, or is a rival
        before = position[None, :] < position[:, None]
        matters = torch.where(before, now.touched, now.rivals)
        joint = before[:, None, :] ^ torch.eye(d, dtype=torch.bool, device=self.device)
        passed = self.memo.terms(joint, matters) - now.terms[:, None]
        changes = torch.where(matters, passed, 0.0).T[order][:, order]  # [moved, passed]; transposed: passed is v
        right = changes.triu(1).cumsum(dim=1)
        left = changes.tril(-1).flip(1).cumsum(dim=1).flip(1)
        return terms.sum() - terms[:, None] + own + right.triu(1) + left.tril(-1)


class SparseLinearScore(LinearAnyScore):
    """The same with Gaussian noise only: :math:`J = 0`, and nothing but the CPDAG is identified."""

    name = "sparse-linear"
    assumes = Assumptions(
        "linear",
        gaussian="assumed",
        words="Every variable is a weighted sum of few causes plus Gaussian noise of any variance.",
    )
    shape = "none"
    usual_penalty = 2.0

    def graph(self, order: IntArray) -> BoolArray:
        """The graph of an order: the parent sets."""
        return self.parent_sets(order)


class NonGaussianScore(LinearAnyScore):
    """The same with the shape at any price (LiNGAM): parents cost little, and BIC prunes the order that is best.

    A set of all that may matter leaves residuals their shape also where growth one by one would miss some parents.
    """

    name = "nongaussian"
    identifies = "dag"
    assumes = Assumptions(
        "linear",
        gaussian="excluded",
        words="Every variable is a weighted sum of its causes plus noise, and the noise is not Gaussian.",
    )
    shape = "free"
    usual_penalty = 0.5
