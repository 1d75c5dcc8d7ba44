"""Commands that read what ``precede discover --out`` wrote: effect, explain, next, compare and report."""

from __future__ import annotations

import io
from collections.abc import Hashable
from pathlib import Path

import typer
from rich.markup import escape

import precede
from precede.cli.flags import SafeConsole, command, load_named, say_json
from precede.data.numbers import spells_number
from precede.errors import OptionError, refusing
from precede.files import check_outputs, write_together
from precede.graph import CausalGraph
from precede.graph.formats import to_latex
from precede.options import Options
from precede.strict_json import JsonObject

ROWS = "as 0:100 (the first hundred) or 100: (all from there)"
RESTS_ON_ASSUMPTIONS = (
    "The method gives every edge a direction, by what it assumes about noise and curves. Without these assumptions "
    "some would be open; the steps below would test them."
)
MOST_ROWS = 40
"""Lines of a comparison on a terminal; --out writes them all."""


@command
def effect(
    folder: Path,
    cause: str,
    outcome: str,
    *,
    data: str | None = None,
    compare: tuple[str, str] | None = None,
    outcome_level: str | None = None,
    with_: list[str] | None = None,
    set_: str | None = None,
    row: int | None = None,
    level: float = 0.95,
    reading: Options,
    json_: bool = False,
) -> None:
    """Say how large the effect of one variable on another is, and how sure.

    A table for --data is read as 'discover' did, but for what is said here.

    Parameters
    ----------
    cause
        The variable that is changed.
    outcome
        The variable that is looked at.
    data
        A table to compute from, in place of what the folder keeps.
    compare
        Two levels or values of the cause: the second instead of the first.
    outcome_level
        The level of a categorical outcome whose probability is asked for.
    with_
        A variable that is set at the same time; may be repeated.
    set_
        Also: what if the cause were set to this (needs --data).
    row
        With --set: for this row alone, counted from 0.
    level
        Level of the interval.
    """
    results = precede.load_results(folder)
    table = None if data is None else load_named(data, results.loading | reading)
    graph = results.graph
    start, end = (graph.names[graph.position(name)] for name in (cause, outcome))
    states = None if compare is None else (_number_or_word(compare[0]), _number_or_word(compare[1]))
    if with_:
        found = graph.effect(
            start, end, table, level=level, compared=states, outcome_level=outcome_level, together=with_
        )
        answers = {"total": found.to_dict()}
    else:
        each = results.effects(start, end, table, level, states, outcome_level)
        answers = {name: one.to_dict() for name, one in each.items()}
    if set_ is not None:
        answers["what_if"] = _what_if(graph, (start, end), set_, table, row)
    if json_:
        say_json(answers)
        return
    for answer in answers.values():
        SafeConsole().say(f"• {answer['sentence']}", *(f"  {remark}" for remark in answer.get("remarks", [])))


def _number_or_word(text: str) -> float | str:
    return float(text) if spells_number(text) else text


def _what_if(
    graph: CausalGraph, pair: tuple[Hashable, Hashable], set_to: str, table: precede.Table | None, row: int | None
) -> JsonObject:
    """The outcome as it would be, with a sentence."""
    if table is None:
        raise OptionError("--set asks for rows, and the folder keeps none: name the table with --data.")
    found = graph.do({pair[0]: _number_or_word(set_to)}, table, row=row)
    told = found.summary.to_dict("index")
    said: JsonObject = {"sentence": found.sentence, "remarks": list(found.remarks)}
    if row is not None or pair[1] not in told:
        return said
    means = told[pair[1]]
    said["sentence"] = (
        f"With {pair[0]} set to {set_to}, the mean of {pair[1]} would be {means['mean if set']:.4g} instead of "
        f"{means['mean']:.4g}; nine rows in ten would lie from {means['5 %']:.4g} to {means['95 %']:.4g}."
    )
    return {**{str(name): value for name, value in means.items()}, **said}


@command
def explain(
    folder: Path,
    data: str,
    *,
    outcome: str,
    row: int | None = None,
    before: str | None = None,
    after: str | None = None,
    reading: Options,
    json_: bool = False,
) -> None:
    """Say which variables account for an unusual row, or for a change from one period to another.

    The table is read as 'discover' did, but for what is said here.

    Parameters
    ----------
    outcome
        The variable to explain.
    row
        Place of the row, from 0.
    before
        Rows to compare with, as 0:100 (the first hundred) or 100: (all from there).
    after
        Rows whose mean is explained, written as those before.
    """
    results = precede.load_results(folder)
    graph = results.graph
    table = load_named(data, results.loading | reading)
    periods = (None if text is None else _rows(text, table.n_samples) for text in (before, after))
    found = graph.explain(graph.names[graph.position(outcome)], table, row, *periods)
    if json_:
        say_json(found.to_dict())
    else:
        SafeConsole().say(*(f"• {sentence}" for sentence in found.sentences))


def _rows(text: str, n_rows: int) -> range:
    """Rows from a first to one before a last, as Python slices them."""
    first, colon, last = text.partition(":")
    with refusing(ValueError, OptionError, f"{text!r} names no rows: write them {ROWS}."):
        return range(*slice(int(first or 0), int(last) if last else n_rows * bool(colon)).indices(n_rows))


@command
def next_step(folder: Path, *, json_: bool = False) -> None:
    """Say which experiment, further column or fact would settle the most open directions."""
    results = precede.load_results(folder)
    steps = results.graph.next_steps()
    if json_:
        say_json(steps.to_dict())
        return
    first = [RESTS_ON_ASSUMPTIONS] if results.identifies == "dag" and steps.n_open else []
    SafeConsole().say(*(f"• {sentence}" for sentence in (*first, *steps.sentences)))


@command
def report(folder: Path, *, title: str | None = None, note: str | None = None, latex: bool = False) -> None:
    """Make report.html again from the machine-readable files.

    Parameters
    ----------
    title
        A new title.
    note
        A paragraph of your own at the top.
    latex
        Print the table of edges for a paper; write nothing.
    """
    from precede.report import rebuild_report

    if not latex:
        SafeConsole().written(rebuild_report(folder, title, note))
        return
    results = precede.load_results(folder)
    shares = {} if results.confidence is None else {edge[:2]: edge[2] for edge in results.confidence.edge_list()}
    records: list[dict[str, object]] = []
    for cause, effect, weight in results.graph.edge_list():
        sure = {} if results.confidence is None else {"confidence": shares.get((cause, effect), 0.0)}
        records.append({"cause": cause, "effect": effect, "weight": weight, **sure})
    typer.echo(to_latex(records))


@command
def compare(folders: list[Path], *, out: Path | None = None, json_: bool = False) -> None:
    """Show where results agree, where they differ, and what they add up to.

    Parameters
    ----------
    folders
        Two or more folders that 'discover --out' wrote.
    out
        Folder for the table, the figure and the consensus.
    """
    names = [folder.resolve().name for folder in folders]
    labels = [name if names.count(name) == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]
    results = {label: precede.load_results(folder) for label, folder in zip(labels, folders, strict=True)}
    found = precede.Comparison.of(
        {label: one.graph for label, one in results.items()}, knowledge=[one.knowledge for one in results.values()]
    )
    files = [] if out is None else _write(found, out)
    if json_:
        pairs = [[cause, effect, share] for cause, effect, share in found.consensus.edge_list()]
        say_json({
            "graphs": list(found.graphs), "weights": found.weights, "pairs": found.table.to_dict("records"),
            "order_agreement": found.order_agreement.to_numpy(), "differences": found.differences,
            "consensus": pairs, "files": [str(path) for path in files],
        })  # fmt: skip
    else:
        _show(found, files)


def _write(found: precede.Comparison, out: Path) -> list[Path]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    names = ("comparison.csv", "consensus.json", "consensus.csv", "comparison.png")
    check_outputs(out, names, {"consensus.json": "precede-graph"}, {})
    picture = io.BytesIO()
    found.plot()
    plt.savefig(picture, dpi=150)
    plt.close()
    agreed = found.consensus
    contents = (found.table.to_csv(index=False), agreed.to_json(), agreed.to_csv(), picture.getvalue())
    return write_together(out, dict(zip(names, contents, strict=True)))


def _show(found: precede.Comparison, files: list[Path]) -> None:
    console = SafeConsole()
    rows = [
        (escape(f"{row['first']}, {row['second']}"), *(str(row[label]) for label in found.graphs),
         f"{row['agreement']:.2f}", str(row["consensus"]))
        for row in found.table.head(MOST_ROWS).to_dict("records")
    ]  # fmt: skip
    headings = ("pair", *found.graphs, "agreement", "consensus")
    console.table(headings, rows, title="Pairs, the most disputed first")
    hidden = len(found.table) - MOST_ROWS
    more = [f"{hidden} more pairs: --out writes them all."] if hidden > 0 else []
    console.say(*(f"• {line}" for line in (*more, found.sentence, *found.remarks) if line))
    if files:
        console.written(files[0].parent, f": {', '.join(path.name for path in files)}")
