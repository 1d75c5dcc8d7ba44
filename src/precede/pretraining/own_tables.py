"""Labeled tables of one's own to pretrain on (Section 4.2): a folder for each, as ``precede simulate`` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from precede.arrays import BoolArray, FloatArray
from precede.data.kinds import refuse_categories
from precede.data.load import load_table
from precede.errors import OptionError, listed
from precede.graph import CausalGraph
from precede.pretraining.curriculum import Curriculum, CurriculumSettings, Made
from precede.simulation.draws import Draws

MOST_ROWS = 1200
"""Rows of a task, at most: as many as the simulated ones have."""

HELD_OUT_EVERY = 5
"""Every fifth table is kept for validation; with fewer, all tables are for both."""


@dataclass(frozen=True)
class LabeledTable:
    """A table and its graph; columns in causal order."""

    name: str
    values: FloatArray
    edges: BoolArray


def read_tables(folder: Path) -> list[LabeledTable]:
    """Every folder below one that holds ``data.csv`` and ``truth.csv``."""
    found = [_read(path.parent) for path in sorted(folder.rglob("truth.csv")) if path.with_name("data.csv").exists()]
    if not found:
        raise OptionError(
            f"data={str(folder)!r} holds no labeled table: each is a folder with data.csv and truth.csv, the adjacency "
            "of its columns, as 'precede simulate' writes them."
        )
    return found


def _read(folder: Path) -> LabeledTable:
    table, graph = load_table(folder / "data.csv"), CausalGraph.from_csv(folder / "truth.csv")
    refuse_categories(table.names, table.kinds, "pretraining")
    odd = set(map(str, table.names)) ^ set(map(str, graph.names))
    if odd or not graph.n_edges:
        why = f"they differ in {listed(sorted(odd))}" if odd else "it has no edge, so no order is wrong"
        raise OptionError(f"{str(folder / 'truth.csv')!r} cannot be used for {str(folder / 'data.csv')!r}: {why}.")
    place = {str(name): k for k, name in enumerate(table.names)}
    columns = [place[str(name)] for name in graph.order]
    return LabeledTable(folder.name, table.values[:, columns], graph.edges[np.ix_(graph.positions, graph.positions)])


def split(tables: Sequence[LabeledTable]) -> tuple[list[LabeledTable], list[LabeledTable]]:
    """Tables to train on, and tables to validate on."""
    if len(tables) < HELD_OUT_EVERY:
        return list(tables), list(tables)
    kept = tables[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]
    return [table for k, table in enumerate(tables) if (k + 1) % HELD_OUT_EVERY], list(kept)


def sizes_of(tables: Sequence[LabeledTable], settings: CurriculumSettings, folder: Path) -> CurriculumSettings:
    """A curriculum of these tables: their widths, and as many rows as all of them have."""
    rows = min(MOST_ROWS, *(len(table.values) for table in tables))
    widths = tuple(table.values.shape[1] for table in tables)
    return replace(settings, n_variables=widths, n_samples=(rows,), tables=str(folder))


class OwnTables(Curriculum):
    """Tasks that are some rows of a labeled table: its columns in any sequence, under any sign, in some units."""

    def __init__(
        self, tables: Sequence[LabeledTable], settings: CurriculumSettings, generator: torch.Generator
    ) -> None:
        super().__init__(settings, generator)
        self._tables: dict[int, list[tuple[Tensor, Tensor]]] = {}
        for table in tables:
            values = torch.tensor(table.values.T, dtype=torch.float32, device=self.draws.device)
            edges = torch.tensor(table.edges, device=self.draws.device)
            self._tables.setdefault(len(values), []).append((values, edges))

    def _tasks(self, batch: int, n_variables: int, n_samples: int) -> Made:
        known = self._tables[n_variables]
        parts = [
            (_some_rows(values, n_samples, count, self.draws), edges.expand(count, -1, -1))
            for (values, edges), count in zip(known, _shares(batch, len(known)), strict=True)
        ]
        x, adjacency = (torch.cat(column) for column in zip(*parts, strict=True))
        return Made.plain(self._in_units(x)[0], adjacency)


def _shares(total: int, parts: int) -> list[int]:
    """Whole numbers that differ by one at most and add up."""
    return [total // parts + (k < total % parts) for k in range(parts)]


def _some_rows(values: Tensor, n_rows: int, count: int, draws: Draws) -> Tensor:
    """Different rows of a table for each of some tasks, (count, n_variables, n_rows)."""
    rows = draws.uniform((count, values.shape[1])).argsort(1)[:, :n_rows]
    return values[:, rows].movedim(1, 0)
