"""Saved policies: one safetensors file holds the weights and how to build the network around them."""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from precede.errors import OptionError, check_choice
from precede.files import atomic_write
from precede.options import check_options
from precede.policy.actor import Actor, Architecture, Inputs
from precede.policy.encoders import LearnedStates
from precede.policy.inputs import Views
from precede.policy.moments import MomentsEncoder
from precede.runtime.deadline import Deadline
from precede.strict_json import to_json

FORMAT_VERSION = 1
SHIPPED = ("default", "paper")
DEFAULT_WEIGHTS = Path(__file__).with_name("weights") / "default.safetensors"
PAPER_WEIGHTS = Path(__file__).parents[3] / "docs" / "results" / "weights" / "paper.safetensors"
"""Two figures of the results need these 12.9 MB: the repository has them, an installed package does not."""


@dataclass(frozen=True)
class Pretrained:
    """A policy with trained weights, on the CPU, and what it was saved with.

    Parameters
    ----------
    actor : Actor
    architecture : Architecture
    notes : dict
        Free text about the training: steps, seconds, device, validation figures.
    states : (1, n_variables, width) tensor, optional
        What the encoder makes of the data at hand, where it has looked at them.
    """

    actor: Actor
    architecture: Architecture
    notes: dict[str, str]
    states: Tensor | None = None

    @torch.no_grad()
    def started_on(self, data: Inputs, within: Deadline | None = None) -> Actor:
        """A copy to train further on one data set.

        An encoder that takes any number of rows has done its work once it has looked: its states, the mean over the
        views, become the parameters that training moves, so that an iteration costs the decoder alone.

        Raises
        ------
        OutOfTime
            It has not finished its views within that time.
        """
        inputs = data.draw(1)
        if not isinstance(self.actor.encoder, MomentsEncoder) or not isinstance(data, Views):
            return copy.deepcopy(self.actor).to(inputs.device)
        states = self.states
        if states is None:
            encoder = copy.deepcopy(self.actor.encoder).to(inputs.device).eval()
            states = torch.cat([states for states, _ in encoder.at_each(inputs, data.told, within)]).mean(
                0, keepdim=True
            )
        actor = copy.copy(self.actor)  # building it anew takes longer
        actor._modules = dict(self.actor._modules)
        actor.encoder = LearnedStates(states.to(inputs.device))
        actor.decoder = copy.deepcopy(self.actor.decoder).to(inputs.device)
        return actor


def save_policy(path: Path | str, actor: Actor, architecture: Architecture, notes: Mapping[str, str]) -> None:
    """Write the policy to one safetensors file; a half-written file never takes the place of a good one."""
    metadata = {
        "format": "precede-policy",
        "format_version": str(FORMAT_VERSION),
        "architecture": to_json(architecture),
        "notes": to_json(notes),
    }
    tensors = {name: tensor.detach().cpu().float().contiguous() for name, tensor in actor.state_dict().items()}
    atomic_write(path, lambda beside: save_file(tensors, beside, metadata=metadata))


def load_pretrained(name_or_path: str | Path) -> Pretrained:
    """Load a policy: "default" from the package, "paper" from the repository, or a file of :func:`save_policy`.

    Raises
    ------
    OptionError
        The name is unknown, the file is missing or not a policy, of another version, or its shapes do not fit.
    """
    if str(name_or_path) in SHIPPED:
        return _load_shipped(str(name_or_path))
    path = Path(name_or_path)
    if not path.suffix and not path.exists():
        check_choice("pretrained", str(name_or_path), (*SHIPPED, "a path"))
    return _load(path, str(name_or_path))


@cache
def _load_shipped(name: str) -> Pretrained:
    """Read once: whoever trains a policy further trains a copy (:meth:`Pretrained.started_on`)."""
    if name == "paper" and not PAPER_WEIGHTS.is_file():
        raise OptionError(
            "pretrained='paper' is not part of the installed package: give the path of "
            "docs/results/weights/paper.safetensors, from a copy of Precede's repository."
        )
    return _load(PAPER_WEIGHTS if name == "paper" else DEFAULT_WEIGHTS, name)


def _load(path: Path, shown: str) -> Pretrained:
    if not path.is_file():
        raise OptionError(
            f"pretrained={shown!r} was not found: give 'default', 'paper' or the path of a saved policy "
            "(precede pretrain makes one)."
        )
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except SafetensorError as error:
        raise OptionError(f"pretrained={shown!r} is not a safetensors file ({error}).") from error
    if metadata.get("format") != "precede-policy":
        raise OptionError(f"pretrained={shown!r} holds no policy of Precede: its format is {metadata.get('format')!r}.")
    if metadata.get("format_version") != str(FORMAT_VERSION):
        raise OptionError(
            f"pretrained={shown!r} has format version {metadata.get('format_version')}, this Precede reads version "
            f"{FORMAT_VERSION}: use the release that saved it or train it again with precede pretrain."
        )
    try:
        described, notes = json.loads(metadata["architecture"]), json.loads(metadata["notes"])
        architecture = Architecture(**described)
        check_options(Architecture, described)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise OptionError(f"pretrained={shown!r} does not say how its network is built ({error}).") from error
    try:
        with torch.device("meta"):  # shapes without memory: a file may claim any size
            actor = architecture.build()
    except (RuntimeError, TypeError, ValueError, OverflowError, AssertionError) as error:
        reason = str(error).strip().splitlines()[0]
        raise OptionError(f"pretrained={shown!r} describes a network that cannot be built ({reason}).") from None
    _check_shapes(actor, tensors, shown)
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise OptionError(f"pretrained={shown!r} is damaged: some of its weights are not finite.")
    kinds = {name: tensor.dtype for name, tensor in actor.state_dict().items()}
    actor.load_state_dict({name: tensor.to(kinds[name], copy=True) for name, tensor in tensors.items()}, assign=True)
    return Pretrained(actor, architecture, notes)


def _check_shapes(actor: Actor, tensors: Mapping[str, torch.Tensor], shown: str) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in actor.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise OptionError(
                f"pretrained={shown!r} does not fit its own architecture: weight {name} has shape {found.get(name)} "
                f"where {expected.get(name)} is needed."
            )
