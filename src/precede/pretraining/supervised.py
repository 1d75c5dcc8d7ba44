"""Supervised pretraining of a policy on simulated tasks (Section 4.2): its settings, the loop, and the folder it fills.

The loop prints nothing and writes no file: it yields records, and a log, checkpoints and the saved policy listen.
"""

import copy
import math
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from precede.errors import OptionError, check_choice, refusing
from precede.files import append_line, atomic_write, write_text
from precede.options import Count, Positive, check_options
from precede.policy.actor import Actor, Architecture
from precede.policy.moments import edge_loss
from precede.policy.prediction import SHIPPED, save_policy
from precede.pretraining.curriculum import PAPER_CURRICULUM, Curriculum, CurriculumSettings, Tasks, through_asinh
from precede.pretraining.own_tables import LabeledTable, OwnTables, read_tables, sizes_of, split
from precede.pretraining.validation import ValidationSettings, ValidationSuite
from precede.runtime import initial_weights, numpy_rng, torch_generator
from precede.strict_json import to_json


@dataclass(frozen=True)
class PretrainingSettings:
    """How a policy is pretrained.

    Parameters
    ----------
    architecture : Architecture
    curriculum : CurriculumSettings
    tasks_per_step : int
        Tasks of 30 variables and 400 samples in a step.
    learning_rate, weight_decay, warmup_steps : float, float, int
        AdamW, linear warm-up, then a cosine over ``n_steps`` or ``max_time``, whichever is further.
    edge_weight : float
        Weight of the loss of the edge head.
    start : str or None
        File of weights to start from, where their names and shapes fit.
    average : float
        Decay of the running mean of the weights, which is what is validated and saved.
    n_steps, max_time : int or None, float or None
        Where training ends, counted over all resumed runs.
    validate_every : float
        Seconds between validations.
    """

    architecture: Architecture
    curriculum: CurriculumSettings = field(default_factory=CurriculumSettings)
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    tasks_per_step: Count = 256
    learning_rate: Positive = 1e-3
    weight_decay: float = 0.01
    warmup_steps: int = 100
    edge_weight: float = 0.5
    start: str | None = None
    average: float = 0.999
    n_steps: Count | None = None
    max_time: Positive | None = None
    validate_every: float = 60.0
    device: str = "cpu"
    random_state: int = 0


def variant_settings(
    variant: str, *, tiny: bool = False, data: Path | None = None, **changes: Any
) -> PretrainingSettings:
    """Settings behind the shipped weights, with the changes that were asked for; None changes nothing.

    Parameters
    ----------
    variant : {"default", "paper"}
        "paper" is the network of :meth:`precede.CORL.paper`.
    tiny : bool
        Small tasks and validation, to try the command on a CPU.
    data : Path, optional
        Folder of labeled tables to train on, in place of simulated ones.
    **changes
        Fields of :class:`PretrainingSettings`.

    Examples
    --------
    >>> variant_settings("default", n_steps=5, learning_rate=None).n_steps
    5
    """
    check_choice("variant", variant, SHIPPED)
    given = {key: value for key, value in changes.items() if value is not None}
    check_options(PretrainingSettings, given)
    settings = PretrainingSettings(Architecture("moments", "lstm", "dot", 1000))
    if variant == "paper":
        network = Architecture("transformer", "lstm", "additive", 256, "batch", "resample")
        settings = PretrainingSettings(network, PAPER_CURRICULUM, tasks_per_step=512, learning_rate=3e-4)
    settings = replace(settings, **given)
    tasks = settings.curriculum
    if tiny:
        rows = max(64, tasks.rows or 0)
        tasks = replace(tasks, n_variables=(6, 8), n_samples=(rows,), degrees=(1.0, 2.0))
        settings = replace(settings, validation=ValidationSettings(n_variables=8, n_samples=64, n_sets=2))
    if data is not None:
        train, _ = split(read_tables(data))
        tasks = sizes_of(train, tasks, data)
    return replace(settings, curriculum=tasks)


def copy_what_fits(path: str, actor: Actor) -> None:
    """Take over weights by name; a network that sees further features starts as the function that it was without.

    Features are added at the end and start with zeros. What is not in the file starts as it would anew.

    Raises
    ------
    OptionError
        No weight fits.
    """
    saved = load_file(path)
    fitting = {}
    for name, weight in actor.state_dict().items():
        old = saved.get(name)
        if "encoder.embed_" in name and old is not None and old.ndim == 2 and len(old) == len(weight):
            old = nn.functional.pad(old, (0, max(0, weight.shape[1] - old.shape[1])))
        if old is not None and old.shape == weight.shape:
            fitting[name] = old
    if not fitting:
        raise OptionError(f"start={path!r} has no weight that fits this network.")
    actor.load_state_dict(fitting, strict=False)


BATCHES_AT_ONCE, SIZES_AT_ONCE = 8, 3
"""Batches of one size that are drawn together, since the loops over variables cost launches, whatever the number of
tasks; and sizes that are mixed, so that steps in a row differ."""

READ_EVERY = BATCHES_AT_ONCE * SIZES_AT_ONCE
"""Steps between records; the losses stay on the device until then, and all that was drawn is used up."""

REFERENCE_SIZE = (30, 400)
"""Variables and samples for which ``tasks_per_step`` is meant; other sizes get as many tasks as cost the same."""

MOST_TASKS = 4
"""Small tasks come in batches of at most this many times ``tasks_per_step``."""

LARGEST_GRADIENT = 1.0
LOWEST_RATE = 0.02
"""Share of the learning rate at the end of the cosine."""


LEARNED = ("actor", "averaged", "optimizer")
COUNTED = ("step", "seconds", "tasks_seen", "best", "best_weights")
"""What a checkpoint holds of the training."""


@dataclass(frozen=True)
class PretrainingRecord:
    """Some steps: what was seen and how long it took so far, mean losses, and validation figures when there are any."""

    step: int
    tasks: int
    seconds: float
    loss: float
    edge_loss: float
    learning_rate: float
    validation: dict[str, float] = field(default_factory=dict)


def set_valued_loss(logits: Tensor, orders: Tensor, adjacency: Tensor) -> Tensor:
    r"""Mean over steps of :math:`-\log \sum_{j \in R_t} \pi(j \mid \hat s_t)`.

    :math:`R_t` are the variables not yet placed whose parents all are: many orders are valid, so any of them is right.

    Parameters
    ----------
    logits : (batch, steps, n_variables) tensor
    orders : (batch, n_variables) int64 tensor
        The prefixes behind the logits.
    adjacency : (batch, n_variables, n_variables) bool tensor
    """
    d = orders.shape[1]
    waiting = orders.argsort(1)[:, None, :] >= torch.arange(d, device=orders.device)[:, None]
    held_back = waiting.float() @ adjacency.float() > 0
    everyone = logits.masked_fill(~waiting, -torch.inf).logsumexp(2)
    ready = logits.masked_fill(~waiting | held_back, -torch.inf).logsumexp(2)
    return (everyone - ready).mean()


class Pretrainer:
    """State of the training: networks, optimizer, curriculum, running mean of the weights, best validated weights."""

    def __init__(self, settings: PretrainingSettings) -> None:
        self.settings = settings
        self.device = torch.device(settings.device)
        rng = numpy_rng(settings.random_state)
        with initial_weights(rng):
            self.actor = settings.architecture.build()
        if settings.start is not None:
            copy_what_fits(settings.start, self.actor)
        self.actor.to(self.device)
        self.averaged = copy.deepcopy(self.actor)
        self.generator = torch_generator(rng, self.device)
        self.curriculum = Curriculum(settings.curriculum, self.generator)
        kept: list[LabeledTable] = []
        if settings.curriculum.tables is not None:
            train, kept = split(read_tables(Path(settings.curriculum.tables)))
            self.curriculum = OwnTables(train, settings.curriculum, self.generator)
        self._drawn: list[Tasks] = []
        self.sizes = rng  # sizes of the batches come from here, on the CPU
        self.parameters = list(self.actor.parameters())
        self.optimizer = torch.optim.AdamW(
            self.parameters, settings.learning_rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay, fused=True
        )
        self.suite = ValidationSuite(settings.validation, settings.architecture, self.device, kept)
        self.step, self.seconds, self.tasks_seen = 0, 0.0, 0
        self.best: dict[str, float] = {}
        self.best_weights = copy.deepcopy(self.averaged.state_dict())

    def run(self) -> Iterator[PretrainingRecord]:
        """Train until the settings' end; yield a record every few steps."""
        before, start = self.seconds, time.perf_counter()
        validated = before
        while self._progress() < 1:
            losses = []
            for _ in range(READ_EVERY):
                losses.append(self._train_step())
                self.step += 1
                if self.settings.n_steps is not None and self.step >= self.settings.n_steps:
                    break
            loss, of_edges = torch.stack(losses).mean(0).tolist()
            self.seconds = before + time.perf_counter() - start
            validation: dict[str, float] = {}
            if self.seconds - validated > self.settings.validate_every or self._progress() >= 1:
                validation = self.validate()
                validated = self.seconds = before + time.perf_counter() - start
            rate = self.optimizer.param_groups[0]["lr"]
            yield PretrainingRecord(self.step, self.tasks_seen, self.seconds, loss, of_edges, rate, validation)

    def validate(self) -> dict[str, float]:
        """Order TPR of the averaged policy on the suite; the best weights by the mean of its groups are kept."""
        figures = self.suite.evaluate(self.averaged)
        if not self.best or figures["overall"] > self.best["overall"]:
            self.best = {**figures, "step": float(self.step)}
            self.best_weights = copy.deepcopy(self.averaged.state_dict())
        return figures

    def best_actor(self) -> Actor:
        """The averaged policy as it was at its best validation."""
        actor = copy.deepcopy(self.averaged)
        actor.load_state_dict(self.best_weights)
        return actor

    def _progress(self) -> float:
        settings = self.settings
        by_steps = self.step / settings.n_steps if settings.n_steps else 0.0
        by_time = self.seconds / settings.max_time if settings.max_time else 0.0
        return max(by_steps, by_time)

    def _train_step(self) -> Tensor:
        """One update; gives the losses."""
        tasks = self._next_tasks()
        rate = self.settings.learning_rate * min(1.0, (self.step + 1) / self.settings.warmup_steps)
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, self._progress())))
        for group in self.optimizer.param_groups:
            group["lr"] = rate * (LOWEST_RATE + (1 - LOWEST_RATE) * cosine)
        loss, of_edges = self._losses(tasks)
        self.optimizer.zero_grad(set_to_none=True)
        (loss + self.settings.edge_weight * of_edges).backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, LARGEST_GRADIENT)
        # a step with an infinite gradient is left out, decided on the device (as torch's GradScaler does)
        self.optimizer.found_inf = (~norm.isfinite()).float()  # type: ignore[attr-defined]
        self.optimizer.step()
        decay = min(self.settings.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.averaged.parameters()), list(self.actor.parameters()), 1 - decay)
        return torch.stack([loss.detach(), of_edges.detach()])

    def _next_tasks(self) -> Tasks:
        """Next batch; none is left over when a record is yielded, so checkpoints need not hold any."""
        if not self._drawn:
            drawn = [self._draw().split(BATCHES_AT_ONCE) for _ in range(SIZES_AT_ONCE)]
            self._drawn = [batch for batches in zip(*drawn, strict=True) for batch in batches]
        tasks = self._drawn.pop()
        self.tasks_seen += len(tasks.inputs)
        return tasks

    def _draw(self) -> Tasks:
        """Draw some batches at once, all of one size of tasks."""
        curriculum, (d_reference, n_reference) = self.settings.curriculum, REFERENCE_SIZE
        d = int(self.sizes.choice(curriculum.n_variables))
        n = int(self.sizes.choice(curriculum.n_samples))
        share = task_cost(d, curriculum.rows or n) / task_cost(d_reference, curriculum.rows or n_reference)
        batch = max(3, round(self.settings.tasks_per_step * min(1 / share, MOST_TASKS)))
        return self.curriculum.draw(batch * BATCHES_AT_ONCE, d, n)

    def _losses(self, tasks: Tasks) -> tuple[Tensor, Tensor]:
        inputs = through_asinh(tasks.inputs) if self.settings.architecture.rows == "resample" else tasks.inputs
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            states, edges = self.actor.look(inputs, tasks.told)
        of_edges = inputs.new_zeros(()) if edges is None else edge_loss(edges, tasks.edges, tasks.common)
        logits = self.actor.logits(states.float(), tasks.orders)
        return set_valued_loss(logits, tasks.orders, tasks.adjacency), of_edges

    def state(self) -> dict[str, Any]:
        """Everything that a later run needs to continue as if nothing had happened."""
        return {
            **{name: getattr(self, name).state_dict() for name in LEARNED},
            **{name: getattr(self, name) for name in COUNTED},
            "generator": self.generator.get_state(),
            "sizes": self.sizes.bit_generator.state,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        for name in LEARNED:
            getattr(self, name).load_state_dict(state[name])
        for name in COUNTED:
            setattr(self, name, state[name])
        self.generator.set_state(state["generator"].cpu())
        self.sizes.bit_generator.state = state["sizes"]


def task_cost(n_variables: int, n_samples: int) -> float:
    """Relative work of a task: values, and pairs, each of which costs about as much as nine values."""
    return n_variables * (n_samples + 9 * n_variables)


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
    damaged = f"{checkpoint.name} is damaged, so --resume cannot continue from it."
    with refusing(Exception, OptionError, damaged):  # unpickling what is damaged may raise anything
        saved = torch.load(checkpoint, map_location=trainer.device, weights_only=True)
        architecture = saved["architecture"]
        if architecture == asdict(trainer.settings.architecture):
            trainer.load_state(saved["state"])
            return
    raise OptionError(
        f"resume=True found a checkpoint of another architecture ({architecture}): use the same settings or another "
        "folder."
    )


def _machine(device: torch.device) -> dict[str, str]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {"device": name, "torch": torch.__version__}
