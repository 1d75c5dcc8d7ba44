"""Checkpoints of training: what a later run needs to end as if it had never been stopped.

One safetensors file (no pickle) with the tensors of :func:`state_of`, the records so far, and as JSON what the
run was about: the data, the settings and the seed.
"""

import hashlib
import json
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from precede.arrays import FloatArray
from precede.data.checks import row_blocks
from precede.errors import MISSHAPEN, OptionError, listed, refusing
from precede.files import atomic_write, remove_leftovers
from precede.runtime import logger
from precede.search.train import BestOrdering, IterationRecord, Trainer
from precede.strict_json import JsonObject, to_json

FORMAT, VERSION = "precede-checkpoint", "7"
SECONDS_BETWEEN_SAVES = 10.0


def data_fingerprint(values: FloatArray, names: Sequence[Hashable]) -> str:
    """Short hash of a table; the memory layout does not matter.

    Examples
    --------
    >>> x = np.arange(6.0).reshape(3, 2)
    >>> data_fingerprint(x, "ab") == data_fingerprint(np.asfortranarray(x), "ab")
    True
    >>> data_fingerprint(x, "ab") == data_fingerprint(x, "ba")
    False
    """
    digest = hashlib.sha256(repr((list(map(str, names)), values.shape)).encode())
    for block in row_blocks(values):
        digest.update(np.ascontiguousarray(block, dtype=np.float64).tobytes())
    return digest.hexdigest()[:32]


class CheckpointFile:
    """Where a run is saved to, and resumed from.

    Parameters
    ----------
    path : Path
    about : dict
        What the run is about; a checkpoint fits only the same: ``data``, the fingerprint of the table, ``settings``,
        plain values of all that shapes the run but not when it ends, and ``random``, the state of the numpy generator
        at its start.
    """

    def __init__(self, path: Path, about: JsonObject) -> None:
        self.path, self.about = path, about
        remove_leftovers(self.path)
        self.records: list[IterationRecord] = []
        self._last_save = time.perf_counter()

    def see(self, record: IterationRecord, trainer: Trainer) -> None:
        """Save when the trainer is between two groups and the last save is a while ago."""
        self.records.append(record)
        settled = record.iteration == trainer.iteration
        if settled and time.perf_counter() - self._last_save >= SECONDS_BETWEEN_SAVES:
            self.save(trainer)

    def save(self, trainer: Trainer) -> None:
        """Write beside the target, then take its place: the file is whole or the one before."""
        history = torch.tensor([astuple(record) for record in self.records], dtype=torch.float64)
        tensors = {**state_of(trainer), "history": history}
        metadata = {"format": FORMAT, "version": VERSION, "about": to_json(self.about)}
        try:
            atomic_write(self.path, lambda beside: save_file(tensors, beside, metadata=metadata))
        except (OSError, SafetensorError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OptionError(f"checkpoint={str(self.path)!r} cannot be written: {reason}.") from None
        self._last_save = time.perf_counter()

    def load_into(self, trainer: Trainer) -> list[IterationRecord]:
        """Bring a new trainer to where the saved one was, and give the records so far; none without a file."""
        if not self.path.exists():
            return []
        _, tensors = read_checkpoint(self.path)
        try:
            history = tensors["history"].reshape(-1, len(IterationRecord.__dataclass_fields__))
            restore(trainer, tensors)
            self.records = [IterationRecord(int(row[0]), *row[1:]) for row in history.tolist()]
        except (KeyError, RuntimeError, ValueError, TypeError, IndexError, OverflowError) as error:
            reason = str(error).strip().splitlines()[0]
            raise OptionError(f"checkpoint={str(self.path)!r} does not fit this network: {reason}.") from None
        return list(self.records)


def state_of(trainer: Trainer) -> dict[str, Tensor]:
    """Everything that a later run needs to continue as if nothing had happened, as named tensors.

    What follows from the data, the settings and the seed is left out: the later trainer is built from the same.
    """
    (learner,) = trainer.learners
    tensors = {
        "iteration": torch.tensor(trainer.iteration),
        "seconds": torch.tensor(trainer.seconds, dtype=torch.float64),
        "average": trainer.average,
        "patience": torch.tensor(learner.patience.state(), dtype=torch.float64),
    }
    for name, best in _orderings(trainer).items():
        tensors |= {f"{name}_order": best.orders[0], f"{name}_score": best.scores[0]}
    tensors |= {f"generator.{name}": generator.get_state() for name, generator in learner.generators.items()}
    for name, networks in (("actor", trainer.actor), ("critic", trainer.critic)):
        tensors |= {f"{name}.{key}": value for key, value in networks.state().items()}
    return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}


def restore(trainer: Trainer, state: Mapping[str, Tensor]) -> None:
    """Go back to what :func:`state_of` gave; KeyError or RuntimeError where it is of another network."""
    (learner,) = trainer.learners
    for name, generator in learner.generators.items():
        generator.set_state(state[f"generator.{name}"])
    for part, networks in (("actor.", trainer.actor), ("critic.", trainer.critic)):
        own = {name.removeprefix(part): tensor for name, tensor in state.items() if name.startswith(part)}
        networks.restore(own)
    trainer.iteration, trainer.seconds = int(state["iteration"]), float(state["seconds"])
    learner.iteration = trainer.iteration
    trainer.average.copy_(state["average"])
    learner.patience.restore(state["patience"].tolist())
    if any(tensor.is_floating_point() and tensor.isnan().any() for tensor in state.values()):
        raise ValueError("it holds values that are not numbers")
    for name, best in _orderings(trainer).items():
        if sorted(state[f"{name}_order"].tolist()) != list(range(learner.score.n_variables)):
            raise ValueError(f"its {name} order does not list the variables")
        best.orders = state[f"{name}_order"].to(trainer.device)[None]
        best.scores = state[f"{name}_score"].to(trainer.device)[None]
        if best.scores.isfinite():
            now = learner.score.totals(best.orders)
            if not torch.isclose(now, best.scores, rtol=1e-6):  # max_time has cut the score's table elsewhere
                best.scores = now
    trainer.prepare()


def _orderings(trainer: Trainer) -> dict[str, BestOrdering]:
    return {"best": trainer.best, "proposal": trainer.proposal, "improved": trainer.improved}


def open_checkpoint(
    path: Path,
    resume: bool,
    data: str,
    settings: Mapping[str, Any],
    seed: int | None,
    rng: np.random.Generator,
) -> CheckpointFile:
    """The file to save to; when resuming, it must fit, and ``rng`` goes back to where the saved run started."""
    if path.exists():
        if not resume:
            raise OptionError(
                f"checkpoint={str(path)!r} already exists: resume=True continues from it; to start anew, remove it."
            )
        seed = _start_again(path, data, settings, seed, rng)
    elif resume:
        logger.info("there is no checkpoint %s yet: starting from the beginning", path)
    random = dict(rng.bit_generator.state)
    return CheckpointFile(path, {"data": data, "settings": {**settings, "random_state": seed}, "random": random})


def _start_again(
    path: Path, data: str, settings: Mapping[str, Any], seed: int | None, rng: np.random.Generator
) -> int | None:
    """Refuse a checkpoint of other data or settings, and put a generator where its run started; gives its seed."""
    shown = f"checkpoint={str(path)!r}"
    metadata, _ = read_checkpoint(path)
    if metadata.get("format") != FORMAT:
        raise OptionError(f"{shown} is not a checkpoint of Precede: its format is {metadata.get('format')!r}.")
    if metadata.get("version") != VERSION:
        raise OptionError(f"{shown} has version {metadata.get('version')!r}; this release reads {VERSION}.")
    with refusing(MISSHAPEN, OptionError, f"{shown} is damaged: it does not say what it was made from."):
        about = json.loads(metadata["about"])
        made_from, saved, random = str(about["data"]), dict(about["settings"]), dict(about["random"])
    if made_from != data:
        raise OptionError(f"{shown} was made from other data: resume on the same table, or name another file.")
    was: int | None = saved.get("random_state")  # without a seed of its own, a run takes that of the checkpoint
    now = json.loads(to_json({**settings, "random_state": was if seed is None else seed}))
    differing = [name for name in {**saved, **now} if saved.get(name) != now.get(name)]
    if differing:
        there = ", ".join(f"{name}={saved.get(name)!r}" for name in differing[:3])
        here = ", ".join(f"{name}={now.get(name)!r}" for name in differing[:3])
        raise OptionError(f"{shown} was made with other settings ({listed(differing)}): {there} there, {here} here.")
    kind = f"another kind of random generator ({random.get('bit_generator')})"
    remedy = "resume with random_state=None or the seed it was made with."
    with refusing(MISSHAPEN, OptionError, f"{shown} was made with {kind}: {remedy}"):
        rng.bit_generator.state = random
    return was


def read_checkpoint(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    shown = f"checkpoint={str(path)!r}"
    unreadable = refusing(OSError, OptionError, f"{shown} cannot be read:")
    damaged = refusing(
        (SafetensorError, RuntimeError, *MISSHAPEN), OptionError, f"{shown} is damaged or not a checkpoint:"
    )
    with unreadable, damaged, safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        return dict(file.metadata() or {}), tensors
