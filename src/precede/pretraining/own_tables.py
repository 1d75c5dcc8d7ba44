"""Labeled tables of one's own to pretrain on (Section 4.2): a folder for each, as ``precede simulate`` writes it."""

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
from precede.policy.inputs import Told
from precede.pretraining.curriculum import Curriculum, CurriculumSettings, Made

MOST_ROWS = 1200
"""Rows of a task, at most: as many as the simulated ones have."""

HELD_OUT_EVERY = 5
"""Every fifth table is kept for validation; with fewer, all tables are for both."""


@dataclass(frozen=True)
class LabeledTable:
    """A table (n_samples, n_variables) and its graph.

    Parameters
    ----------
    name : str
        Of the folder that it was read from.
    scales : bool
        Whether the columns' scales mean something.
    told : Told, optional
        What a policy is told of it.
    """

    values: FloatArray
    edges: BoolArray
    name: str = ""
    scales: bool = False
    told: Told | None = None


def read_tables(folder: Path) -> list[LabeledTable]:
    """Of every folder below one that holds ``data.csv`` and ``truth.csv``."""
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
    edges = graph.edges[np.ix_(graph.positions, graph.positions)]
    return LabeledTable(table.values[:, columns], edges, folder.name, scales=True)


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
        known, x, graphs = self._tables[n_variables], [], []
        for k, (values, edges) in enumerate(known):
            count = batch // len(known) + (k < batch % len(known))  # as many tasks of each, up to one
            rows = self.draws.permutations(count, values.shape[1])[:, :n_samples]
            x.append(values[:, rows].movedim(1, 0))
            graphs.append(edges.expand(count, -1, -1))
        return Made.plain(self._in_units(torch.cat(x))[0], torch.cat(graphs))
