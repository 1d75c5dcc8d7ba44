"""Files that lie about their size, hold what is no number, or are damaged: a sentence, before memory is asked for."""

import gzip
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

import precede as pc
from precede.errors import DataError, GraphError, KnowledgeError, OptionError, PrecedeError
from precede.experiments.ledger import read_lines
from precede.files import append_line
from precede.policy.prediction import load_pretrained
from precede.pretraining.supervised import pretrain_into, variant_settings

DATA = pc.simulate(n_variables=4, degree=1, n_samples=60, random_state=0).data
TINY: dict[str, Any] = {"score": "linear", "encoder": "null", "decoder": "mlp", "batch_size": 4, "n_encoder_rows": 4}


def graph_json(**changes: Any) -> str:
    document = {
        "format": "precede-graph",
        "version": 1,
        "names": ["a", "b"],
        "order": None,
        "edges": [{"cause": "a", "effect": "b", "weight": 1.0}],
    }
    return json.dumps(document | changes)


@pytest.mark.parametrize("weight", [float("inf"), -float("inf"), 10**400, "heavy", [1]])
def test_weights_of_a_graph_are_finite_numbers(weight: Any) -> None:
    text = graph_json(edges=[{"cause": "a", "effect": "b", "weight": weight}])
    with pytest.raises(GraphError):
        pc.CausalGraph.from_json(text)


@pytest.mark.parametrize("order", [["a", None], [["a"], "b"], ["a", {}], [0, "b"]])
def test_the_order_of_a_graph_lists_its_variables(order: list[Any]) -> None:
    with pytest.raises(GraphError, match="must list each of the 2 variables once"):
        pc.CausalGraph.from_json(graph_json(order=order))


@pytest.mark.parametrize(
    "told",
    [
        *(f'"key": "a/b/0", "metrics": {{"shd": {value}}}' for value in ("Infinity", "NaN", "1" + "0" * 400, '"17"')),
        '"key": "a/b/0", "metrics": null',
        '"key": "a/b/0", "metrics": {}, "error": 3',
        '"key": "a/0", "metrics": {}',
    ],
)
def test_what_is_no_record_of_a_ledger_is_refused(told: str, tmp_path: Path) -> None:
    settings = '{"data": {}, "estimator": "eqvar", "options": {}, "seed": 0}'
    (tmp_path / "cells.jsonl").write_text(f'{{{told}, "settings": {settings}}}\n')
    with pytest.raises(PrecedeError, match="is not a record of a ledger"):
        read_lines(tmp_path / "cells.jsonl")


def test_half_a_character_can_be_written(tmp_path: Path) -> None:
    """JSON may hold one, UTF-8 cannot."""
    pc.CausalGraph.from_json(graph_json(names=["a", "\ud800"], edges=[])).to_json(tmp_path / "graph.json")
    assert pc.CausalGraph.from_json(tmp_path / "graph.json").names == ("a", "\ud800")
    append_line(tmp_path / "lines", json.dumps("\udfff", ensure_ascii=False))
    assert json.loads((tmp_path / "lines").read_text()) == "\udfff"


def test_a_small_file_cannot_ask_for_gigabytes() -> None:
    """1.6 MB of names asked for 37 GiB."""
    text = graph_json(names=[str(k) for k in range(200_000)], edges=[])
    with pytest.raises(GraphError, match="at most 10000 can be read"):
        pc.CausalGraph.from_json(text)


def test_gml_with_text_weights() -> None:
    gml = 'graph [directed 1 node [id 0 label "a"] node [id 1 label "b"] edge [source 0 target 1 weight "heavy"]]'
    with pytest.raises(GraphError, match="is not a number"):
        pc.CausalGraph.from_gml(gml)


def test_an_archive_that_unpacks_to_far_more(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n")
        for _ in range(20):
            file.write(b"1.0,2.0\n" * 2**17)
    with pytest.raises(DataError, match="unpacks to more than 200 times its size"):
        pc.load_table(path)


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_numbers_of_thousands_of_digits_in_knowledge(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"known.{suffix}"
    value = f"[{'9' * 5000}]"
    path.write_text(f'{{"roots": {value}}}' if suffix == "json" else f"roots = {value}")
    with pytest.raises(KnowledgeError):
        pc.Knowledge.from_file(path)


def test_parquet_with_lists(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [[1.0, 2.0]] * 5, "b": np.arange(5.0)}).to_parquet(tmp_path / "lists.parquet")
    with pytest.raises(DataError, match="'a'"):
        pc.load_table(tmp_path / "lists.parquet")


def test_parquet_with_damaged_notes_of_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the notes on a column lack its name, pyarrow raises a KeyError (found by benchmarks/fuzz.py)."""
    pytest.importorskip("pyarrow")

    def damaged(*_: object, **__: object) -> pd.DataFrame:
        raise KeyError("name")

    DATA.to_parquet(tmp_path / "data.parquet")
    monkeypatch.setattr(pd, "read_parquet", damaged)
    with pytest.raises(DataError, match=r"data\.parquet is not a readable Parquet file"):
        pc.load_table(tmp_path / "data.parquet")


def test_a_workbook_of_an_impossible_version(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "data.xlsx"
    DATA.to_excel(path, index=False)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 107  # the version that the archive says it needs
    path.write_bytes(content)
    with pytest.raises(DataError, match="is not a readable Excel file"):
        pc.load_table(path)


# --- checkpoints and policies ---


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run.safetensors"
    pc.CORL(**TINY, n_iterations=3, checkpoint=str(path), random_state=0, verbose=False, diagnose=False).fit(DATA)
    return path


def with_tensors(path: Path, target: Path, change: Any) -> str:
    """A copy of a safetensors file with tensors changed."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, target, metadata=metadata)
    return str(target)


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 1, 1, 3], [0, 1, 2, 9], [-1, 0, 1, 2], []])
def test_a_checkpoint_with_an_order_that_is_none(checkpoint: Path, order: list[int], tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        tensors["best_order"] = torch.tensor(order, dtype=torch.int64)

    path = with_tensors(checkpoint, tmp_path / "run.safetensors", change)
    model = pc.CORL(**TINY, n_iterations=5, checkpoint=path, resume=True, random_state=0, verbose=False)
    with pytest.raises(OptionError, match="best order does not list the variables"):
        model.fit(DATA)


def test_a_checkpoint_with_nan(checkpoint: Path, tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        name = next(name for name in tensors if name.startswith("actor."))
        tensors[name] = torch.full_like(tensors[name], torch.nan)

    path = with_tensors(checkpoint, tmp_path / "run.safetensors", change)
    with pytest.raises(OptionError, match="not numbers"):
        pc.CORL(**TINY, n_iterations=5, checkpoint=path, resume=True, random_state=0, verbose=False).fit(DATA)


@pytest.mark.parametrize("numbers", [[], [0.0, 1.0], [0.0, torch.inf, 0.0, 0.0], [0.0, torch.nan, 0.0, 0.0]])
def test_a_checkpoint_with_odd_patience(checkpoint: Path, numbers: list[float], tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        tensors["patience"] = torch.tensor(numbers, dtype=torch.float64)

    path = with_tensors(checkpoint, tmp_path / "run.safetensors", change)
    with pytest.raises(OptionError, match="does not fit this network"):
        pc.CORL(**TINY, n_iterations=5, checkpoint=path, resume=True, random_state=0, verbose=False).fit(DATA)


@pytest.fixture(scope="module")
def policy() -> Path:
    return Path(pc.__file__).parent / "policy" / "weights" / "default.safetensors"


def test_a_policy_with_nan_weights(policy: Path, tmp_path: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        name = next(iter(tensors))
        tensors[name] = torch.full_like(tensors[name], torch.nan)

    with pytest.raises(OptionError, match="not finite"):
        load_pretrained(with_tensors(policy, tmp_path / "policy.safetensors", change))


@pytest.mark.parametrize("size", [10**12, -1, 2**70, "many", None])
def test_a_policy_of_an_impossible_size(policy: Path, size: Any, tmp_path: Path) -> None:
    from safetensors import safe_open

    with safe_open(policy, framework="pt") as file:
        metadata = file.metadata()
    architecture = json.loads(metadata["architecture"]) | {"encoder": "mlp", "n_samples": size}
    path = tmp_path / "policy.safetensors"
    save_file(load_file(policy), path, metadata=metadata | {"architecture": json.dumps(architecture)})
    with pytest.raises(OptionError):
        load_pretrained(path)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 no archive", "cut"])
def test_a_damaged_checkpoint_of_pretraining(damage: Any, tmp_path: Path) -> None:
    settings = variant_settings("default", tiny=True, n_steps=1, max_time=60.0, random_state=0, device="cpu")
    path = tmp_path / "default.pt"
    if damage == "cut":
        torch.save({"architecture": {"encoder": "moments"}, "state": {"step": torch.zeros(1000)}}, path)
        damage = path.read_bytes()[:700]
    path.write_bytes(damage)
    with pytest.raises(OptionError, match=r"default\.pt is damaged"):
        next(iter(pretrain_into(tmp_path, "default", settings, resume=True)))


# small files that ask for gigabytes (benchmarks/bombs.py measures more of them)


def test_a_cell_in_the_last_corner_of_a_sheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2]):
        book.active.append(row)
    book.active["XFD1048576"] = 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(DataError, match=r"reaches over 1,048,576 rows and 16,384 columns .* save a part of its rows"):
        pc.load_table(tmp_path / "far.xlsx")


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed there")
def test_a_damaged_workbook_is_closed(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    DATA.to_excel(tmp_path / "whole.xlsx", index=False)
    path = tmp_path / "damaged.xlsx"
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(path, "w") as damaged:
        for name in whole.namelist():
            damaged.writestr(name, b"<" if name.endswith("workbook.xml") else whole.read(name))
    with pytest.raises(DataError, match="not a readable Excel file") as error:
        pc.load_table(path)
    kept = [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.exists()]
    assert str(path) not in kept, error


def test_a_workbook_that_unpacks_to_far_more(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    DATA.to_excel(tmp_path / "data.xlsx", index=False)
    with zipfile.ZipFile(tmp_path / "data.xlsx", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.xml", b"<v>1</v>" * 2**21)
    with pytest.raises(DataError, match=r"unpacks to 16,\d+,\d+ bytes, over 100 times its size"):
        pc.load_table(tmp_path / "data.xlsx")


def test_millions_of_constant_rows_in_parquet(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": np.ones(20_000_000, np.int8)}), tmp_path / "rows.parquet")
    with pytest.raises(
        DataError, match=r"holds 20,000,000 rows of 1 columns in [\d,]+ bytes, which would take over 0\.2 GB"
    ):
        pc.load_table(tmp_path / "rows.parquet")


def test_many_texts_in_a_small_parquet_file_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred million of them, in 15 MB, took 3 GB: benchmarks/bombs.py."""
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": ["yes", "no"] * 600, "b": np.arange(1200)}).to_parquet(tmp_path / "texts.parquet")
    assert pc.load_table(tmp_path / "texts.parquet").n_samples == 1200
    monkeypatch.setattr("precede.data.read.MOST_TEXTS", 1000)
    with pytest.raises(
        DataError, match=r"1,200 rows of 2 columns, 1,200 cells of them texts, in .* or texts as numbers"
    ):
        pc.load_table(tmp_path / "texts.parquet")


def test_a_hundred_million_lags() -> None:
    with pytest.raises(DataError, match="no row has 100000000 rows before it: take fewer lags"):
        pc.load_table(DATA, lags=10**8)


def test_an_infinite_column_is_not_called_constant() -> None:
    frame = DATA.assign(k=[1.0] * 59 + [np.inf])
    with pytest.raises(DataError, match="values are infinite, in column 'k'") as error:
        pc.load_table(frame)
    assert "constant" not in str(error.value)
