"""The gate for options: each is obeyed and recorded, or refused with a sentence, by library and command line.

The tests run over every option of every method, with values made from the option's own declaration.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import precede as pc
from precede.cli import app
from precede.errors import OptionError, PrecedeError, check_not_negative, check_positive
from precede.options import (
    Count,
    CountOrZero,
    NotNegative,
    Positive,
    Range,
    Share,
    alternatives,
    check_value,
    declared,
    from_text,
)
from precede.search.settings import Details

METHODS = {name: cls for name, cls in pc.methods().items() if name not in ("corl-1", "corl-2", "pc", "ges", "fci")}
"""But for CORL by its paper's names, which has the options of CORL, and causal-learn's methods (tests/constraint)."""
OPTIONS = [
    (method, option) for method, cls in METHODS.items() for option in declared(cls) if option in cls.option_names()
]
every_option = pytest.mark.parametrize(("method", "option"), OPTIONS, ids=lambda value: str(value))

QUICK: dict[str, dict[str, Any]] = {
    "corl": {
        "score": "linear",
        "n_iterations": 2,
        "batch_size": 4,
        "n_encoder_rows": 4,
        "encoder": "mlp",
        "decoder": "mlp",
        "diagnose": False,
    },
    "notears": {"max_iterations": 2},
    "notears-mlp": {"hidden_size": 2, "max_iterations": 1},
    "golem": {"n_iterations": 5},
    "dagma": {"warm_iterations": 5, "max_iterations": 5},
    "dag-gnn": {"hidden_size": 4, "n_epochs": 2, "max_steps": 1},
    "gran-dag": {"hidden_size": 2, "n_iterations": 20, "window": 10, "cutoff": None},
    "rl-bic2": {"n_iterations": 2, "batch_size": 4, "n_samples": 4, "width": 4, "n_heads": 2, "n_blocks": 1},
    "l1obs": {"n_evaluations": 20},
}
"""Settings that make slow methods quick."""


def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a, b, c = rng.uniform(size=(3, 60))
    return pd.DataFrame({"a": a, "b": b + a, "c": c - a + b})


def estimator(method: str, **options: Any) -> Any:
    cls = pc.methods()[method]
    seed = {"random_state": 0} if "random_state" in cls.option_names() else {}
    return cls(**{"verbose": False, **seed, **QUICK.get(method, {}), **options})


def allowed(method: str, option: str, folder: Path) -> list[Any]:
    """Values that the declaration of an option allows, the ends of its range among them."""
    special = {
        "device": ["cpu"], "checkpoint": [str(folder / "run.safetensors")], "tensorboard": [],
        "pretrained": ["default", "auto", None], "knowledge": [pc.Knowledge(forbidden=[("a", "b")])],
        "initial_order": [["c", "a", "b"], None],
        "random_state": [0, np.int64(3), np.random.default_rng(0)], "details": [Details(critic="initial-state")],
    }  # fmt: skip
    hint = declared(pc.methods()[method])[option]
    default = estimator(method).get_params()[option]
    values = list(special.get(option, []))
    for kind in alternatives(hint) if option not in special else []:
        plain, range_ = get_args(kind)[:2] if get_origin(kind) is Annotated else (kind, Range())
        if get_origin(plain) is Literal:
            values += get_args(plain)
        elif plain is bool:
            values += [True, False, np.bool_(True)]
        elif plain is int:
            least = int(max(range_.least, range_.above + 1, default if isinstance(default, int) else 0))
            values += [least, np.int64(least)]
        elif plain is float:
            middle = default if isinstance(default, float) and default > 0 else 0.5
            values += [middle, np.float32(middle), *([0] if range_.holds(0) else [])]
        elif plain is NoneType:
            values.append(None)
    return values


def not_allowed(hint: Any) -> Iterator[Any]:
    """Values that no declaration like this one allows."""
    kinds = [get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in alternatives(hint)]
    yield {"a": 1}
    yield [1]
    if str not in kinds:
        yield "nothing of the kind"
        yield from ({1} if bool not in kinds and int not in kinds and float not in kinds else ())
    if int in kinds or float in kinds:
        yield from (True, float("nan"), float("inf"), -float("inf"), np.nan, 10**400 if float in kinds else 2.0)
        yield from (-1, -1e300) if _lower_bound(hint) >= 0 else ()
    if int in kinds and float not in kinds:
        yield from (64.0, np.float64(64.0), 2.5)
    if NoneType not in kinds:
        yield None


def _lower_bound(hint: Any) -> float:
    ranges = [get_args(kind)[1] for kind in alternatives(hint) if get_origin(kind) is Annotated]
    return min((max(range_.above, range_.least) for range_ in ranges), default=-np.inf)


def test_how_many_are_covered() -> None:
    methods = {method for method, _ in OPTIONS}
    print(f"{len(OPTIONS)} options of {len(methods)} methods")
    assert len(methods) == len(METHODS) >= 15
    assert len(OPTIONS) >= 150
    for cls in pc.methods().values():
        assert list(declared(cls)) == cls.option_names()
    for method, cls in METHODS.items():
        assert [option for name, option in OPTIONS if name == method] != []
        assert set(declared(cls)) == set(cls.option_names())


@every_option
def test_a_wrong_value_is_refused_with_a_sentence(method: str, option: str) -> None:
    values = list(not_allowed(declared(pc.methods()[method])[option]))
    assert len(values) >= 2
    for value in values:
        with pytest.raises(OptionError) as refused:
            estimator(method, **{option: value}).fit(data())
        assert str(refused.value).startswith(f"{option}={value!r} ")


class Reads:
    """Counts which options of an estimator are read."""

    def __init__(self, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: set[str] = set()
        options = set(model.option_names())

        def spy(instance: Any, name: str) -> Any:
            if name in options:
                self.names.add(name)
            return object.__getattribute__(instance, name)

        monkeypatch.setattr("precede.estimator.check_options", lambda *_: self.names.clear())  # reads of the gate
        monkeypatch.setattr(type(model), "__getattribute__", spy, raising=False)


SHIPPED = {"encoder": "transformer", "decoder": "lstm", "n_encoder_rows": 64}
"""The network that the shipped policy is not told to differ from."""

NEEDS: dict[tuple[str, str], dict[str, Any]] = {
    ("corl", "threshold"): {"pruning": "threshold"},
    ("corl", "cutoff"): {"pruning": "cam"},
    ("corl", "n_iterations"): SHIPPED,
    ("corl", "pretrained"): SHIPPED,
    ("dag-gnn", "eta"): {"gamma": 1e-9, "max_steps": 2},
    ("gran-dag", "learning_rate"): {"n_iterations": 200, "window": 2},
    ("gran-dag", "omega"): {"n_iterations": 200, "window": 2},
    ("cam", "max_neighbors"): {"preliminary_selection": True},
    ("rl-bic2", "cutoff"): {"regression": "gp"},
    ("corl", "resume"): {"checkpoint": "{folder}/run.safetensors"},
}
"""What must be given beside an option for it to have a say."""


@every_option
def test_an_allowed_value_is_obeyed_and_recorded(
    method: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = allowed(method, option, tmp_path)
    read = option == "tensorboard"  # needs a package of its own: tests/search
    for k, value in enumerate(values):
        folder = tmp_path / str(k)
        folder.mkdir()
        beside = {name: str(text).format(folder=folder) if isinstance(text, str) else text
                  for name, text in NEEDS.get((method, option), {}).items()}  # fmt: skip
        model = estimator(method, **beside, **{option: value})
        with monkeypatch.context() as patched:
            reads = Reads(model, patched)
            try:
                model.fit(data())
            except PrecedeError as error:  # not together with the other options
                refused = str(error)
            else:
                refused = ""
                read |= option in reads.names
                assert model.get_params()[option] is value  # recorded as it was given
        assert not refused or option in refused
    assert read, f"no fit of {method} read {option}"


@every_option
def test_the_command_line_reads_what_the_library_takes(method: str, option: str, tmp_path: Path) -> None:
    hint = declared(pc.methods()[method])[option]
    for value in allowed(method, option, tmp_path):
        if isinstance(value, (pc.Knowledge, Details, np.random.Generator)):
            continue
        text = "none" if value is None else str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)
        got = from_text(option, text, hint)
        assert got == value or (isinstance(value, np.float32) and np.isclose(got, value))
    if str not in alternatives(hint):
        with pytest.raises(OptionError, match=option):
            from_text(option, "no such thing", hint)


@pytest.fixture
def csv(tmp_path: Path) -> str:
    data().to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def settings(csv: str, out: Path, *flags: str) -> Any:
    quick = [f"--set={name}={value}" for name, value in QUICK["corl"].items() if name not in ("score", "encoder")]
    done = CliRunner().invoke(app, ["discover", csv, f"--out={out}", "--score=linear", "--quiet", *quick, *flags])
    assert done.exit_code == 0, done.output
    return json.loads((out / "result.json").read_text())["settings"]


def test_a_choice_named_null_and_none_are_told_apart(csv: str, tmp_path: Path) -> None:
    found = settings(csv, tmp_path / "out", "--set=encoder=null", "--set=patience=none", "--set=pruning=none")
    assert found["encoder"] == "null"
    assert found["patience"] is None
    assert found["pruning"] == "none"
    with pytest.raises(OptionError, match="patience='null' cannot be used: it must be a positive whole number or None"):
        from_text("patience", "null", Count | None)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--set=encodr=mlp"], "did you mean 'encoder'"),
        (["--set=encodr=none"], "did you mean 'encoder'"),
        (["--set=encoder=moments"], "encoder='moments' is unknown"),
        (["--set=encoder=alternating"], "encoder='alternating' is unknown"),
        (["--set=n_iterations=64.0"], "n_iterations=64.0 cannot be used"),
        (["--set=max_time=inf"], "--max-time inf cannot be used"),
        (["--set=noise=equal", "--score=nongaussian"], "score='nongaussian' does not take noise='equal'"),
        (["--set=noise=equal", "--score=sparse-linear"], "score='sparse-linear' does not take noise='equal'"),
        (["--set=score=gp", "--score=linear"], "'score' was given twice"),
        (["--set=knowledge=x.toml"], "give it as --knowledge FILE"),
        (["--seed=-1"], "random_state=-1 cannot be used"),
        (["--device=mps"], "device='mps' cannot be used"),
        (["--device=cpu", "--method=eqvar"], "'eqvar' has no option 'device'"),
        (["--seed=1", "--method=eqvar"], "'eqvar' has no option 'random_state'"),
        (["--seed=1", "--method=eqvar", "--set=treshold=1"], "'eqvar' has no option"),
    ],
)
def test_the_command_line_refuses(csv: str, flags: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["discover", csv, *flags])
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.split())


def test_the_seed_of_a_bootstrap_needs_no_method_that_draws(csv: str) -> None:
    flags = ["--method=eqvar", "--seed=1", "--bootstrap=2", "--json", "--quiet"]
    assert CliRunner().invoke(app, ["discover", csv, *flags]).exit_code == 0


@pytest.mark.parametrize("value", [np.int64(3), np.uint8(3), 3])
def test_numpy_numbers_are_numbers(value: Any) -> None:
    check_positive("n", value, integer=True)
    check_positive("x", np.float32(0.5))
    check_not_negative("x", np.float64(0.0))


@pytest.mark.parametrize("value", [64.0, float("inf"), float("nan"), True, "3", None, np.float64(3), 0, -1])
def test_what_is_no_positive_whole_number_is_refused(value: Any) -> None:
    with pytest.raises(OptionError, match="positive whole number"):
        check_positive("n", value, integer=True)


def test_knowledge_must_be_knowledge() -> None:
    with pytest.raises(OptionError, match=r"it must be a precede\.Knowledge or None"):
        pc.CORL(knowledge={"required": [("a", "b")]}).fit(data())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "allowed", "refused"),
    [
        (Count, (1, 7), (0, 1.5)),
        (CountOrZero, (0, 7), (-1,)),
        (Positive, (1e-9, 7), (0.0, -1.0)),
        (NotNegative, (0.0, 7), (-1e-9,)),
        (Share, (1e-9, 1.0), (0.0, 1.0 + 1e-9)),
    ],
)
def test_ranges_end_where_they_say(kind, allowed, refused):
    """The tests of options make their values from the declarations, so these are written out."""
    for value in allowed:
        check_value("x", value, kind)
    for value in refused:
        with pytest.raises(OptionError, match="cannot be used: it must be"):
            check_value("x", value, kind)
