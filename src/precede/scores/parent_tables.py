"""Sparse scores: the best parent set among the predecessors, looked up in a table and grown past it."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.errors import OptionError, check_not_negative, check_positive
from precede.knowledge import Constraints
from precede.runtime import GRACE, Deadline, ProgressBar
from precede.scores.assumptions import Assumptions
from precede.scores.protocol import OrderScore, ParentSet, TableMoves, check_agreement
from precede.ties import TOLERANCE, first_best

CHUNK_ELEMENTS = 2**24
"""Orders are looked up in pieces of about this many entries, which bounds the memory."""

TABLE_SHARE = 0.5
"""Part of the time allowed that the table may take: the search has the rest."""

MOST_CANDIDATES = 16
"""Candidate parents of one variable at most: the look-up array has a place for each of their subsets."""

MOST_PARENTS = 8
"""Of a screened score."""

SETS_AT_ONCE = 16
"""Sets between two looks at the clock, for a local score that does not say (``sets_at_once``)."""


N_KNOTS = 6
"""Pieces of the regression splines."""


def hinge_basis(column: FloatArray) -> FloatArray:
    """Constant, line, and hinges at inner quantiles: linear in the tails, so that an outlier bends nothing."""
    knots = np.quantile(column, np.linspace(0, 1, N_KNOTS + 2)[1:-1])
    hinges = np.maximum(column[:, None] - knots[None, :], 0)
    return np.column_stack([np.ones_like(column), column, hinges])


class LocalScore(Protocol):
    """How well sets of parents explain each variable: log-likelihood or log evidence, higher is better.

    Parameters
    ----------
    name : str
        Of the score that it makes.
    assumes : Assumptions
        What it takes for granted.
    n_samples, n_variables : int

    Notes
    -----
    It may have more: ``notes``, remarks for the user, and ``sets_at_once``, how many sets it is given between two looks
    at the clock.
    """

    name: str
    assumes: Assumptions
    n_samples: int
    n_variables: int

    def of_sets(self, sets: Sequence[ParentSet]) -> FloatArray:
        """Score of every variable given each set, (n_sets, n_variables); NaN for the members of the set."""


class ColumnScore(LocalScore, Protocol):
    """A local score with the standardized columns that it judges, (n_samples, n_variables), and what it can afford.

    Parameters
    ----------
    columns : (n_samples, n_variables) tensor
        Standardized.
    most_candidates : int
        Candidate parents of each variable.
    most_sets : int
        Sets that are scored at most, half of them in the table.
    """

    columns: Tensor
    most_candidates: int
    most_sets: int


@dataclass(frozen=True)
class ParentSets:
    """Which parent sets are looked at.

    Parameters
    ----------
    candidates : (n_variables, n_variables) bool array, optional
        ``[i, j]``: i may be a parent of j; every other variable when left out. At most 16 per variable.
    max_parents : int
        Largest sets of all.
    table_size : int or None
        Largest sets that are scored at the start; ``max_parents`` when None, and then the maximum is exact.
    max_sets : int or None
        Once this many sets have been scored, the table included, none is grown any more; the score's ``notes`` say so.
    """

    candidates: BoolArray | None = None
    max_parents: int = 4
    table_size: int | None = None
    max_sets: int | None = None

    def __post_init__(self) -> None:
        check_positive("max_parents", self.max_parents, integer=True)
        if self.table_size is not None:
            check_positive("table_size", self.table_size, integer=True)

    def open_to(self, constraints: Constraints) -> BoolArray:
        """Candidates that the constraints leave, ``[i, j]``; a required parent is always there, and not one."""
        allowed = constraints.allowed & ~constraints.required
        if self.candidates is not None:
            allowed = allowed & self.candidates
        counts = allowed.sum(axis=0)
        if counts.max(initial=0) > MOST_CANDIDATES:
            raise OptionError(
                f"column {int(counts.argmax())} has {int(counts.max())} candidate parents and a sparse table takes "
                f"at most {MOST_CANDIDATES} a variable: screen them first (candidates=...)."
            )
        return np.asarray(allowed)


SMALL_SETS = ParentSets()


class ParentSetCache:
    """Local scores minus their penalty, computed once per set; one evaluation serves every variable outside the set."""

    def __init__(self, local: LocalScore, price: float) -> None:
        self.local, self.price = local, price
        self._rows: dict[ParentSet, FloatArray] = {}

    def __len__(self) -> int:
        """Number of sets evaluated."""
        return len(self._rows)

    def fill(self, sets: set[ParentSet], go_on: Callable[[], bool] = lambda: True) -> bool:
        """Evaluate the sets that are not there yet; False when ``go_on``, asked before each piece, put an end to it."""
        missing = sorted(members for members in sets if members not in self._rows)
        step = int(getattr(self.local, "sets_at_once", SETS_AT_ONCE))
        for start in range(0, len(missing), step):
            if not go_on():
                return False
            piece = missing[start : start + step]
            self._rows.update(zip(piece, self.local.of_sets(piece), strict=True))
        return True

    def score(self, variable: int, parents: ParentSet) -> float:
        """Penalized local score of a set that was filled in."""
        return float(self._rows[parents][variable]) - self.price * len(parents)


def candidate_parents(evidence: ColumnScore, most: int, constraints: Constraints) -> BoolArray:
    """Candidates of each variable, ``[i, j]``: i may be a parent of j (as CAM's preliminary neighborhood selection).

    Two rankings take turns: the evidence given one variable alone, and the path of an additive spline regression that
    takes in the most useful variable next. Together they find strong parents and those that only show beside others.
    """
    d = evidence.n_variables
    free = constraints.allowed & ~constraints.required
    if (free.sum(axis=0) <= most).all():
        return free
    singles = evidence.of_sets([(i,) for i in range(d)])
    columns = evidence.columns.cpu().numpy()
    bases = np.stack([hinge_basis(columns[:, i])[:, 1:] for i in range(d)], axis=1)  # (m, d, n_terms)
    bases = bases - bases.mean(axis=0)
    candidates = np.zeros((d, d), dtype=bool)
    for v in range(d):
        open_to_v = np.flatnonzero(free[:, v])
        alone = open_to_v[np.argsort(-singles[open_to_v, v], kind="stable")]
        beside = open_to_v[_selection_path(bases[:, open_to_v], columns[:, v], most)]
        turns = [int(i) for pair in zip_longest(beside, alone) for i in pair if i is not None]
        candidates[list(dict.fromkeys(turns))[:most], v] = True
    return candidates


def _selection_path(bases: FloatArray, target: FloatArray, most: int) -> list[int]:
    """Groups of columns in the order in which forward regression takes them in.

    Parameters
    ----------
    bases : (n_samples, n_groups, n_terms) array
    target : (n_samples,) array
    most : int
        Length of the path.
    """
    m, n_groups, n_terms = bases.shape
    design = np.column_stack([bases.reshape(m, -1), target])
    moments = design.T @ design / m
    moments[np.diag_indices_from(moments)] += 1e-6  # hinges may coincide where values are tied
    path: list[int] = []
    for _ in range(min(most, n_groups)):
        blocks = moments[:-1, :-1].reshape(n_groups, n_terms, n_groups, n_terms)
        blocks = blocks[np.arange(n_groups), :, np.arange(n_groups)]
        cross = moments[:-1, -1].reshape(n_groups, n_terms, 1)
        gain = (cross * np.linalg.solve(blocks, cross)).sum(axis=(1, 2))
        gain[path] = -np.inf
        best = int(gain.argmax())
        path.append(best)
        group = slice(best * n_terms, (best + 1) * n_terms)
        # what the chosen group explains is taken out of everything
        moments = moments - moments[:, group] @ np.linalg.solve(moments[group, group], moments[group])
        chosen = np.arange(group.start, group.stop)
        moments[chosen, chosen] = 1.0  # its own block is spent: keep it solvable
    return path


def affordable_size(candidates: BoolArray, max_parents: int, budget: int) -> int:
    """Largest size for which the table has no more sets than the budget (at least 1)."""
    members = [np.flatnonzero(column).tolist() for column in candidates.T]
    sets: set[ParentSet] = {()}
    for size in range(1, max_parents + 1):
        for own in members:
            sets.update(combinations(own, size))
            if len(sets) > budget:
                return max(1, size - 1)
    return max_parents


class SparseScore(OrderScore):
    r"""Sum over the variables of the best penalized local score among the sets of predecessors .

    .. math:: \mathrm{term}_t = \max_{S \subseteq \mathrm{pre}(t),\ |S| \le k}\;
              \mathrm{local}(t, S) - |S| \cdot \mathrm{penalty} \cdot \tfrac12 \log m.

    All sets of at most ``table_size`` candidates are scored at the start; where the best of them is that large, it
    is grown and shrunk one parent at a time, among the predecessors, up to ``max_parents``. An order then costs a
    look-up, and the maximizing sets are the graph (:meth:`graph`): no pruning step.

    Parameters
    ----------
    local : LocalScore
        Gaussian-process evidence, linear likelihood, or your own.
    sets : ParentSets
        Candidates, k (``max_parents``), and how much is scored at the start.
    penalty : float
        Price of a parent in units of log(m)/2; 1 is BIC's.
    constraints : Constraints, optional
        Forbidden parents never enter a set; required ones always are in it (an order that is permitted has them
        among the predecessors) and do not count towards ``max_parents``.
    device : str or torch.device
        Where orders are looked up.
    deadline : Deadline, optional
        The table is built by the size of the sets and may take half of the time: then it ends with the last whole
        size, 1 at least, and no set is grown past it. When all the time is spent, growth ends, and what an order
        still asks for is the best set known by then. Both are said in ``notes``.
    verbose : bool
        Show a progress bar while the table is built.

    Examples
    --------
    >>> from precede.scores.evidence import GaussianProcessEvidence
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> y = np.sin(2 * x) + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> score = SparseScore(GaussianProcessEvidence(np.column_stack([x, y])))
    >>> forward, backward = score.terms(torch.tensor([[0, 1], [1, 0]])).sum(1)
    >>> bool(forward > backward)
    True
    >>> score.graph(np.array([0, 1])).astype(int)
    array([[0, 1],
           [0, 0]])
    """

    def __init__(
        self,
        local: LocalScore,
        sets: ParentSets = SMALL_SETS,
        *,
        penalty: float = 1.0,
        constraints: Constraints | None = None,
        device: torch.device | str = "cpu",
        deadline: Deadline | None = None,
        verbose: bool = False,
    ) -> None:
        check_not_negative("penalty", penalty)
        self.name, self.assumes = local.name, local.assumes
        self.n_variables = d = local.n_variables
        self.device = torch.device(device)
        self.max_parents = sets.max_parents
        self.table_size = min(sets.max_parents, sets.table_size or sets.max_parents)
        self.notes: list[str] = list(getattr(local, "notes", []))
        constraints = constraints or Constraints.none(d)
        allowed = sets.open_to(constraints)
        self.required = [tuple(np.flatnonzero(constraints.required[:, v]).tolist()) for v in range(d)]
        self.candidates = [np.flatnonzero(allowed[:, v]) for v in range(d)]
        self.cache = ParentSetCache(local, price=penalty * math.log(local.n_samples) / 2)
        self._deadline = deadline or Deadline(None)
        self._max_sets = math.inf if sets.max_sets is None else sets.max_sets
        self._evaluate_by_size(verbose)
        self._build_table()

    # -- the table ---------------------------------------------------------------------------------------------

    def _evaluate_by_size(self, verbose: bool) -> None:
        """Score all sets of 0, 1, ... candidates; where time is short, ``table_size`` is the last whole size."""
        layers = [
            {self._members(v, bits) for v in range(self.n_variables) for bits in self._tabled(v, size)}
            for size in range(self.table_size + 1)
        ]
        half, grace = self._deadline.part(share=TABLE_SHARE), self._deadline.with_grace(GRACE)
        with ProgressBar("scoring parent sets", len(set().union(*layers)), verbose) as progress:
            for size, sets in enumerate(layers):

                def go_on(size: int = size) -> bool:
                    progress.update(len(self.cache), parents=str(size))
                    return size == 0 or not (half.cancelled and grace.passed() if size == 1 else half.passed())

                if not self.cache.fill(sets, go_on):
                    self.notes.append(
                        f"The table of parent sets ends at {size - 1} of {self.table_size} parents, and no set is "
                        "grown past it: building it may take half of the time allowed."
                    )
                    self.max_parents = self.table_size = size - 1
                    break

    def _build_table(self) -> None:
        """Best tabled set among every subset of every variable's candidates; bit r stands for the r-th candidate."""
        d, width = self.n_variables, max((len(c) for c in self.candidates), default=0)
        best = np.full((d, 1 << width), -np.inf)
        chosen = np.zeros((d, 1 << width), dtype=np.int64)
        for v in range(d):
            for bits in (bits for size in range(self.table_size + 1) for bits in self._tabled(v, size)):
                best[v, bits] = self.cache.score(v, self._members(v, bits))
                chosen[v, bits] = bits
        for r in range(width):  # the best among subsets, one candidate at a time
            halves = best.reshape(d, -1, 2, 1 << r), chosen.reshape(d, -1, 2, 1 << r)
            with_it = halves[0][:, :, 1]
            slack = TOLERANCE * np.abs(np.where(np.isfinite(with_it), with_it, 0.0))
            better = halves[0][:, :, 0] >= with_it - slack  # ties go to the set without it
            for half in halves:
                half[:, :, 1][better] = half[:, :, 0][better]
        self._chosen = chosen
        # Where the best tabled set is of the largest size, a larger one may do better: it is grown when asked for.
        sizes = np.array([bits.bit_count() for bits in range(1 << width)])
        best[(sizes[chosen] == self.table_size) & (self.table_size < self.max_parents)] = np.nan
        self._best = torch.from_numpy(best).to(self.device)
        weights = np.zeros((d, width), dtype=np.int64)
        self._candidate_index = torch.zeros((d, width), dtype=torch.int64, device=self.device)
        for v, members in enumerate(self.candidates):
            weights[v, : len(members)] = 1 << np.arange(len(members))
            self._candidate_index[v, : len(members)] = torch.from_numpy(members)
        self._weights = torch.from_numpy(weights).to(self.device)  # zero where a variable has fewer candidates

    def _tabled(self, variable: int, size: int) -> Iterator[int]:
        """Bits of every set of this many candidates."""
        for members in combinations(range(len(self.candidates[variable])), size):
            yield sum(1 << r for r in members)

    def _members(self, variable: int, bits: int) -> ParentSet:
        """Columns of a set of candidates, with the required parents."""
        chosen = [int(c) for r, c in enumerate(self.candidates[variable]) if bits >> r & 1]
        return tuple(sorted([*chosen, *self.required[variable]]))

    # -- growth past the table ---------------------------------------------------------------------------------

    def _settle(self, problems: list[tuple[int, int]]) -> None:
        """Grow and shrink the best tabled set of (variable, predecessor bits), all problems side by side."""
        current = [int(self._chosen[problem]) for problem in problems]
        active = list(range(len(problems)))
        while active:
            moves = {k: self._neighbors(*problems[k], current[k]) for k in active}
            sets = {self._members(problems[k][0], bits) for k in active for bits in moves[k]}
            if not self.cache.fill(sets, lambda: not self._deadline.passed() and len(self.cache) < self._max_sets):
                self._say_that_growth_ended()
                break
            still: list[int] = []
            for k in active:
                variable = problems[k][0]
                scores = [self.cache.score(variable, self._members(variable, bits)) for bits in moves[k]]
                best = first_best(np.array(scores))  # the first is the current set itself
                if best > 0:
                    current[k] = moves[k][best]
                    still.append(k)
            active = still
        for (variable, predecessors), bits in zip(problems, current, strict=True):
            self._chosen[variable, predecessors] = bits
            self._best[variable, predecessors] = self.cache.score(variable, self._members(variable, bits))

    def _say_that_growth_ended(self) -> None:
        reason = "when the time was over" if self._deadline.passed() else f"at {len(self.cache)} sets"
        note = f"Growing parent sets past the {self.table_size} parents of the table ended {reason}"
        if not any("ended" in earlier for earlier in self.notes):
            self.notes.append(f"{note}: sets that were asked for later are the best known by then.")

    def _neighbors(self, variable: int, predecessors: int, bits: int) -> list[int]:
        """The set itself, then every set with one candidate more or fewer."""
        singles = [1 << r for r in range(len(self.candidates[variable]))]
        fewer = [bits ^ one for one in singles if bits & one] if bits.bit_count() > self.table_size else []
        more = [bits | one for one in singles if predecessors & one and not bits & one]
        return [bits, *fewer, *(more if bits.bit_count() < self.max_parents else [])]

    # -- the OrderScore interface ------------------------------------------------------------------------------

    def terms(self, orders: Tensor) -> Tensor:
        rows = max(1, CHUNK_ELEMENTS // max(1, self._weights.numel()))
        parts = torch.split(orders, rows)
        return torch.cat([self._look_up(self._predecessor_bits(part)).gather(1, part) for part in parts])

    def _look_up(self, predecessors: Tensor) -> Tensor:
        """Best scores among predecessors, (n_orders, n_variables) by column; those not known yet are settled."""
        variables = torch.arange(self.n_variables, device=self.device)
        missing = torch.nonzero(self._best[variables, predecessors].isnan())
        if len(missing):
            bits = predecessors[missing[:, 0], missing[:, 1]]
            self._settle(sorted(set(zip(missing[:, 1].tolist(), bits.tolist(), strict=True))))
        return self._best[variables, predecessors]

    def moves(self) -> TableMoves | None:
        if self.device.type != "cpu":
            return None
        place = np.full((self.n_variables, self.n_variables), -1, dtype=np.int64)
        for v, members in enumerate(self.candidates):
            place[v, members] = np.arange(len(members))
        return TableMoves(self._best.numpy(), place, lambda variable, bits: self._settle([(variable, bits)]))

    def _predecessor_bits(self, orders: Tensor) -> Tensor:
        """Which candidates of each variable come before it, as bits."""
        position = orders.argsort(dim=1)
        before = position[:, self._candidate_index] < position[:, :, None]
        return (before * self._weights).sum(dim=2)

    def bounds(self) -> Tensor:
        return self._look_up(self._weights.sum(dim=1)[None])[0]

    def graph(self, order: IntArray) -> BoolArray:
        """The graph of an order: each variable's maximizing set, ``[i, j]`` means i -> j."""
        orders = torch.as_tensor(np.asarray(order), device=self.device)[None]
        self.terms(orders)  # settles what the order needs
        predecessors = self._predecessor_bits(orders)[0].tolist()
        edges = np.zeros((self.n_variables, self.n_variables), dtype=bool)
        for v, bits in enumerate(predecessors):
            edges[list(self._members(v, int(self._chosen[v, bits]))), v] = True
        check_agreement(edges, order)
        return edges


def screened_score(
    local: ColumnScore,
    *,
    penalty: float = 1.0,
    max_parents: int = MOST_PARENTS,
    table_size: int | None = None,
    constraints: Constraints | None = None,
    device: torch.device | str = "cpu",
    deadline: Deadline | None = None,
    verbose: bool = False,
) -> SparseScore:
    """Sparse score of screened candidates, half of whose sets are in the table, as those of a size are affordable.

    Parameters
    ----------
    local : ColumnScore
        It says how many candidates a variable has at most, and how many sets are scored.
    penalty, constraints, device, deadline, verbose
        As in :class:`SparseScore`.
    max_parents : int
    table_size : int or None
        Largest sets of the table; as large as keeps it quick when None.

    Examples
    --------
    >>> from precede.scores.location_scale import ConditionalDensity
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 400))
    >>> score = screened_score(ConditionalDensity(np.column_stack([np.exp(0.8 * x) * noise + x, x])))
    >>> forward, backward = score.sums(torch.tensor([[1, 0], [0, 1]]))
    >>> bool(forward > backward)
    True
    """
    constraints = constraints or Constraints.none(local.n_variables)
    candidates = candidate_parents(local, min(local.most_candidates, MOST_CANDIDATES), constraints)
    table_size = table_size or affordable_size(candidates, max_parents, local.most_sets // 2)
    sets = ParentSets(candidates, max_parents, table_size, local.most_sets)
    return SparseScore(
        local, sets, penalty=penalty, constraints=constraints, device=device, deadline=deadline, verbose=verbose
    )
