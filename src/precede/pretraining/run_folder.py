"""What listens to pretraining: a log, checkpoints, and the saved policy, all in one folder."""

import platform
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch

from precede.errors import OptionError
from precede.files import append_line, atomic_write, write_text
from precede.policy.prediction import save_policy
from precede.pretraining.settings import PretrainingSettings
from precede.pretraining.supervised import Pretrainer, PretrainingRecord
from precede.strict_json import to_json

SECONDS_BETWEEN_CHECKPOINTS = 60.0
SECONDS_BETWEEN_LINES = 10.0


def pretrain_into(
    folder: Path, name: str, settings: PretrainingSettings, *, resume: bool = False
) -> Iterator[PretrainingRecord]:
    """Pretrain with a log (``NAME.jsonl``), checkpoints (``NAME.pt``) and the best policy (``NAME.safetensors``).

    Parameters
    ----------
    folder : Path
        Made when missing.
    name : str
        Of the three files.
    settings : PretrainingSettings
    resume : bool
        Go on from the folder's checkpoint, if there is one; without it, earlier files are overwritten.

    Yields
    ------
    PretrainingRecord
    """
    folder.mkdir(parents=True, exist_ok=True)
    log, checkpoint, weights = (folder / f"{name}{suffix}" for suffix in (".jsonl", ".pt", ".safetensors"))
    trainer = Pretrainer(settings)
    if resume and checkpoint.exists():
        _resume(trainer, checkpoint)
    else:
        write_text(log, to_json({"settings": settings, **_machine(trainer.device)}) + "\n")
        if settings.start is not None:  # what it starts from, beside which all that follows is read
            append_line(log, to_json({"step": 0, "validation": trainer.suite.evaluate(trainer.actor)}))
    last_line = last_checkpoint = time.perf_counter()
    for record in trainer.run():
        now = time.perf_counter()
        if record.validation or now - last_line > SECONDS_BETWEEN_LINES:
            last_line = now
            append_line(log, to_json(record))
        if record.validation or now - last_checkpoint > SECONDS_BETWEEN_CHECKPOINTS:
            last_checkpoint = now
            _save(trainer, checkpoint, weights)
        yield record
    _save(trainer, checkpoint, weights)


def _save(trainer: Pretrainer, checkpoint: Path, weights: Path) -> None:
    saved = {"architecture": asdict(trainer.settings.architecture), "state": trainer.state()}
    atomic_write(checkpoint, lambda beside: torch.save(saved, beside))
    notes = {
        "steps": str(trainer.step),
        "tasks": str(trainer.tasks_seen),
        "seconds": f"{trainer.seconds:.0f}",
        "validation": to_json({key: round(value, 4) for key, value in trainer.best.items()}),
        **_machine(trainer.device),
    }
    save_policy(weights, trainer.best_actor(), trainer.settings.architecture, notes)


def _resume(trainer: Pretrainer, checkpoint: Path) -> None:
    try:
        saved = torch.load(checkpoint, map_location=trainer.device, weights_only=True)
        architecture = saved["architecture"]
        if architecture == asdict(trainer.settings.architecture):
            trainer.load_state(saved["state"])
            return
    except Exception as error:  # unpickling what is damaged may raise anything
        raise OptionError(
            f"{checkpoint.name} is damaged, so --resume cannot continue from it ({type(error).__name__})."
        ) from None
    raise OptionError(
        f"resume=True found a checkpoint of another architecture ({architecture}): use the same settings or another "
        "folder."
    )


def _machine(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {"device": name, "torch": torch.__version__}
