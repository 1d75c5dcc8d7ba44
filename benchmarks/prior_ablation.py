"""What each ingredient of the prior and each group of features buys: short trainings from scratch, one part left out.

    python benchmarks/prior_ablation.py --device cuda [--seconds 300] [--without NAME ...] >> ablation.jsonl
    python benchmarks/prior_ablation.py --table ablation.jsonl
    python benchmarks/prior_ablation.py --families ablation.jsonl
    python benchmarks/prior_ablation.py --shipped --device cpu

Tables of 2 to 12 variables and 100 to 500 rows, otherwise as ``precede pretrain``. Order TPR on 24 sets of each cell of
the validation suite with 12 variables, on the families held out with 8, and pairs. A training takes ``--seconds``
whatever is left out, so a part also has to be worth its cost; one that is cheaper makes more steps, unless --steps ends
it. --families has order TPR on data of the very kind that a training was not shown, beside the training that was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from precede.options import Options
from precede.policy import moments
from precede.policy.actor import Actor, Architecture
from precede.policy.features import ColumnReadings, classical_features, read_columns
from precede.policy.inputs import Told
from precede.policy.prediction import load_pretrained
from precede.pretraining import curriculum, world
from precede.pretraining.curriculum import CurriculumSettings
from precede.pretraining.supervised import Pretrainer, PretrainingSettings, variant_settings
from precede.pretraining.validation import ValidationSettings, as_seen, greedy_orders, order_shares, simulated
from precede.simulation import mechanisms, observation

SIZES, ROWS = (2, 2, 3, 5, 8, 10, 12), (100, 200, 300, 500)
BINNED, RANKED = range(18, 38), (12, 13, 15, 16, *range(28, 38))
MOMENTS, ALL_PAIRS, ALL_VARIABLES = (6, 7, 8, 9, 10, 14, 15, 16, 17), (*range(38), *range(56, 68)), (*range(12), 14)
THIRD, LEFT = (56, *range(58, 62)), range(62, 68)

CELLS: dict[str, Options] = {
    "linear-gaussian": {"sem": "linear-gaussian"},
    "lingam": {"sem": "lingam"},
    "gp": {"sem": "gp"},
    "gp-additive": {"sem": "gp-additive"},
    "mlp": {"sem": "mlp"},
    "heteroscedastic": {"sem": "heteroscedastic"},
    "post-nonlinear": {"sem": "post-nonlinear"},
    "levels": {"sem": "linear-gaussian", "discretize": 5},
}
"""Kinds of data, ER2 with 12 variables and standardized, on which trainings without them are compared."""

FIRST_SEED = 700_000


@dataclass(frozen=True)
class Part:
    """How to train without one part: constants of modules, the share of the wide prior, what readings lack."""

    constants: tuple[tuple[Any, str, Any], ...] = ()
    world: float | None = None
    pair_features: Sequence[int] = ()
    variable_features: Sequence[int] = ()
    readings: tuple[str, ...] = ()
    samples: bool = True
    seed: int = 0


def no_levels(adjacency: Tensor, draws: object) -> Tensor:
    return torch.zeros(adjacency.shape[:2], dtype=torch.bool, device=adjacency.device)


def without_families(*names: str) -> tuple[Any, str, Any]:
    """The shares of the six families without some of them."""
    left = {name: 0.0 if name in names else share for name, share in curriculum.SHARES.items()}
    return curriculum, "SHARES", {name: share / sum(left.values()) for name, share in left.items()}


def without_signals(name: str) -> tuple[Any, str, Any]:
    """The functions of the wide prior without one."""
    return mechanisms, "ACTIVATIONS", {**mechanisms.ACTIVATIONS, name: 0.0}


GAUSSIAN = (
    (world, "GAUSSIAN_SHARE", 1.0),
    (world, "ROOT_SHAPES", {"mixture": 0.0, "uniform": 0.0, "design": 0.0, "noise": 1.0}),
)
PARTS: dict[str, Part] = {
    "nothing": Part(),
    "nothing (another seed)": Part(seed=1),
    "wide prior": Part(world=0.0),
    "six families": Part(world=1.0),
    "hidden variables": Part(((curriculum, "WORLD_HIDDEN_SHARE", 0.0),)),
    "uneven noise": Part(((world, "HETEROSCEDASTIC_SHARE", 0.0),)),
    "noise inside": Part(((world, "INSIDE_SHARE", 0.0),)),
    "distortions": Part(((world, "DISTORTED_SHARE", 0.0),)),
    "levels and digits": Part(((world, "discrete_variables", no_levels), (observation, "DIGITS_SHARE", 0.0))),
    "shapes of noise and roots": Part(GAUSSIAN),
    "linear mechanisms": Part((without_families("linear-gaussian", "lingam"), without_signals("identity"))),
    "Gaussian processes": Part((without_families("gp", "gp-additive"), without_signals("cosine"))),
    "networks": Part((without_families("mlp"), without_signals("tanh"))),
    "non-Gaussian noise": Part((without_families("lingam"), *GAUSSIAN)),
    "error, selection, gaps": Part(
        (
            (observation, "MEASUREMENT_SHARE", 0.0),
            (observation, "MISSING_SHARE", 0.0),
            (curriculum, "SELECTED_SHARE", 0.0),
        )
    ),
    "features: ranks": Part(pair_features=RANKED, readings=("scores",)),
    "features: ties, distinct values": Part(variable_features=range(6, 11), readings=("ties",)),
    "features: third and fourth moments": Part(pair_features=MOMENTS, variable_features=(3, 4)),
    "features: moments within bins": Part(pair_features=BINNED),
    "features: third columns": Part(pair_features=THIRD),
    "features: what all others leave": Part(pair_features=LEFT),
    "features: length of codes": Part(pair_features=(57,), variable_features=(14,)),
    "features: all formulas": Part(pair_features=ALL_PAIRS, variable_features=ALL_VARIABLES),
    "learned features of samples": Part(samples=False),
}


LEFT_OUT: dict[str, tuple[str, ...]] = {
    "linear mechanisms": ("linear-gaussian", "lingam"),
    "Gaussian processes": ("gp", "gp-additive"),
    "networks": ("mlp",),
    "non-Gaussian noise": ("lingam",),
    "uneven noise": ("heteroscedastic",),
    "distortions": ("post-nonlinear",),
    "levels and digits": ("levels",),
}
"""What to leave out so that a training has seen nothing of some kinds of data."""


def together(names: Sequence[str]) -> Part:
    """Several parts at once."""
    parts = [PARTS[name] for name in names]
    worlds = [part.world for part in parts if part.world is not None]
    return Part(
        constants=tuple(constant for part in parts for constant in part.constants),
        world=worlds[0] if worlds else None,
        pair_features=sorted({feature for part in parts for feature in part.pair_features}),
        variable_features=sorted({feature for part in parts for feature in part.variable_features}),
        readings=tuple(reading for part in parts for reading in part.readings),
        samples=all(part.samples for part in parts),
        seed=max(part.seed for part in parts),
    )


def silence(part: Part) -> None:
    """Set the constants, and show the encoder zeros for what it is to do without."""
    for module, name, value in part.constants:
        assert hasattr(module, name), name
        setattr(module, name, value)

    def read(inputs: Tensor, told: Told) -> ColumnReadings:
        columns = read_columns(inputs, told)
        return replace(columns, **{name: torch.zeros_like(getattr(columns, name)) for name in part.readings})

    def features(columns: ColumnReadings, told: Told) -> tuple[Tensor, Tensor]:
        pairs, variables = classical_features(columns, told)
        pairs[..., list(part.pair_features)] = 0.0
        variables[..., list(part.variable_features)] = 0.0
        return pairs, variables

    moments.read_columns, moments.classical_features = read, features  # type: ignore[attr-defined]


def nothing_from_samples(network: nn.Module) -> None:
    network.encoder.embed_values.register_forward_hook(lambda module, given, made: made * 0.0)


def settings_of(part: Part, options: argparse.Namespace) -> PretrainingSettings:
    tasks = CurriculumSettings(SIZES, ROWS)
    tasks = replace(tasks, hidden=tasks.hidden if curriculum.WORLD_HIDDEN_SHARE else 0.0)
    return variant_settings(
        "default",
        curriculum=tasks if part.world is None else replace(tasks, world=part.world),
        validation=ValidationSettings(n_variables=12, n_samples=300, n_sets=options.sets),
        tasks_per_step=options.tasks,
        max_time=options.seconds,
        n_steps=options.steps,
        validate_every=1e9,
        warmup_steps=100,
        device=options.device,
        random_state=part.seed,
    )


def train(options: argparse.Namespace) -> dict[str, Any]:
    part = together(options.without)
    silence(part)
    trainer = Pretrainer(settings_of(part, options))
    if not part.samples:
        for network in (trainer.actor, trainer.averaged):
            nothing_from_samples(network)
    losses = [(record.loss, record.edge_loss) for record in trainer.run()]
    loss, edge_loss = np.mean(losses[-10:], axis=0).tolist()
    figures = trainer.best | by_kind(trainer.settings.architecture, trainer.averaged, options)
    figures = {key: round(value, 4) for key, value in figures.items()}
    record = {"without": "; ".join(options.without), "steps": trainer.step, "tasks": trainer.tasks_seen}
    return {**record, "loss": round(loss, 4), "edge_loss": round(edge_loss, 4), **figures}


def by_kind(architecture: Architecture, actor: Actor, options: argparse.Namespace) -> dict[str, float]:
    """Order TPR on each kind of data."""
    size = {"graph": "er", "degree": 2, "n_variables": 12, "n_samples": 300, "standardize": True}
    result = {}
    for name, kind in CELLS.items():
        sets = [simulated(FIRST_SEED + k, **size, **kind) for k in range(options.sets)]
        inputs, _, adjacency = as_seen(sets, architecture, torch.device(options.device))
        result["kind " + name] = float(order_shares(greedy_orders(actor, inputs)[0], adjacency).nanmean())
    return result


def families_table(path: Path) -> None:
    """Order TPR on a kind of data after a training without it, and after one with everything."""
    rows = {row["without"]: row for row in map(json.loads, path.read_text().splitlines())}
    whole = rows["nothing"]
    print("| never seen | data | steps | without | steps | with everything |\n|---|---|---|---|---|---|")
    for left_out, kinds in LEFT_OUT.items():
        if (row := rows.get(left_out)) is not None:
            for kind in kinds:
                shares = row["kind " + kind], whole["kind " + kind]
                print(
                    f"| {left_out} | {kind} | {row['steps']} | {shares[0]:.3f} | {whole['steps']} | {shares[1]:.3f} |"
                )


def table(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    levels = ("counts", "coins", "ratings")
    columns: dict[str, Callable[[dict[str, Any]], float]] = {
        "families of training": lambda row: row["mean"],
        "held out": lambda row: row["held-out"],
        "of these with levels": lambda row: float(np.mean([row[name] for name in levels])),
        "pairs": lambda row: row["pairs"],
    }
    print("| without | steps | " + " | ".join(columns) + " |\n|---|---|" + "---|" * len(columns))
    for row in sorted(rows, key=lambda row: list(PARTS).index(row["without"].split("; ")[0])):
        cells = " | ".join(f"{figure(row):.3f}" for figure in columns.values())
        print(f"| {row['without']} | {row['steps']} | {cells} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", nargs="*", choices=list(PARTS), default=["nothing"], help="what to leave out")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--families", type=Path)
    parser.add_argument("--shipped", action="store_true", help="the shipped policy on the kinds of --families")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--tasks", type=int, default=256, help="tasks of 30 variables and 400 rows in a step")
    parser.add_argument("--sets", type=int, default=24)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.table is not None:
        table(options.table)
    elif options.families is not None:
        families_table(options.families)
    elif options.shipped:
        policy = load_pretrained("default")
        actor = policy.actor.to(options.device)
        for name, share in by_kind(policy.architecture, actor, options).items():
            print(f"{name}: {share:.3f}")
    else:
        print(json.dumps(train(options)), flush=True)


if __name__ == "__main__":
    main()
