"""Pretrained policies: the files that hold them, and what one says about a table at once.

One safetensors file holds the weights and how to build the network around them. What is said is an order, what precedes
what, and what causes what.
"""

import copy
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.table import Table
from precede.errors import MISSHAPEN, OptionError, check_choice, refusing
from precede.files import atomic_write
from precede.knowledge import Constraints
from precede.options import check_options
from precede.policy.actor import Actor, Architecture, Inputs
from precede.policy.inputs import Told, Views, numeric_reading
from precede.policy.moments import MomentsEncoder, answer_log_probabilities, ruled
from precede.policy.networks import LearnedStates
from precede.runtime import Deadline, gumbel_noise, one_thread
from precede.scores.policy_prior import PolicyScore, likely_edges
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
    not_ours = refusing(SafetensorError, OptionError, f"pretrained={shown!r} is not a safetensors file:")
    with not_ours, safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if metadata.get("format") != "precede-policy":
        raise OptionError(f"pretrained={shown!r} holds no policy of Precede: its format is {metadata.get('format')!r}.")
    if metadata.get("format_version") != str(FORMAT_VERSION):
        raise OptionError(
            f"pretrained={shown!r} has format version {metadata.get('format_version')}, this Precede reads version "
            f"{FORMAT_VERSION}: use the release that saved it or train it again with precede pretrain."
        )
    with refusing(MISSHAPEN, OptionError, f"pretrained={shown!r} does not say how its network is built:"):
        described, notes = json.loads(metadata["architecture"]), json.loads(metadata["notes"])
        architecture = Architecture(**described)
        check_options(Architecture, described)
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


N_ORDERS = 200
"""Orders that are drawn for the precedence probabilities."""

SEED = 0
"""Of the rows in each view and of those orders: the same table gives the same answer."""


MOST_VARIABLES = 150
"""Tables with more columns are far beyond what the policy was trained on, which is 50."""

TAKES = f"at most {MOST_VARIABLES} columns, and more rows than columns"
"""What :func:`judge_table` reads."""

SHOWN = 0.01
"""Edges from this probability on are reported."""


@dataclass(frozen=True)
class EdgeOpinion:
    """How likely a policy finds an edge, that its cause comes first, and a hidden common cause in its place."""

    cause: Hashable
    effect: Hashable
    probability: float
    before: float
    common: float = 0.0


@dataclass(frozen=True)
class PolicyPrediction:
    """A policy's answer, without a score or a search.

    Parameters
    ----------
    order : (n_variables,) int array
        Causes first: the order that precedence and edges favor, from the most likely variable at every step on.
    precedence : (n_variables, n_variables) array
        ``[i, j]``: share of the policy's orders in which i comes before j.
    edges : (n_variables, n_variables) array
        ``[i, j]``: probability of i -> j.
    common : (n_variables, n_variables) array
        ``[i, j]``: probability of a hidden common cause and no edge; symmetric. With the edges either way it sums to at
        most one, and the rest is the probability that there is nothing.
    states : (1, n_variables, width) tensor, optional
        What the policy's encoder makes of the table, for whoever trains the policy further.
    """

    order: IntArray
    precedence: FloatArray
    edges: FloatArray
    common: FloatArray
    states: Tensor | None = None

    def likely(self, cut: float) -> BoolArray:
        """Edges along the policy's order whose probability is so high."""
        return likely_edges(self.edges, self.order, Constraints.none(len(self.order)), cut)

    def opinions(self, names: Sequence[Hashable]) -> list[EdgeOpinion]:
        """Edges that are not ruled out, likeliest first."""
        cause, effect = np.nonzero(self.edges >= SHOWN)
        likeliest = np.argsort(-self.edges[cause, effect], kind="stable")
        said = self.edges, self.precedence, self.common
        return [
            EdgeOpinion(names[i], names[j], *(round(float(part[i, j]), 4) for part in said))
            for i, j in zip(cause[likeliest], effect[likeliest], strict=True)
        ]


def judge_table(table: Table, policy: Pretrained | None, constraints: Constraints) -> PolicyPrediction | None:
    """What a pretrained policy says of a table under what is known; None where it has too many columns or too few rows.

    It reads numbers, counts, levels and categories, with missing cells, and hears which cells were set. Where no policy
    is given, or one that tells orders only, the shipped one is asked.
    """
    if table.n_variables > MOST_VARIABLES or table.is_wide:
        return None
    table = table.sampled()
    values = table.values if table.gaps is None else np.where(table.gaps.mask, np.nan, table.values)
    unordered = np.array([kind.name == "categorical" for kind in table.kinds])
    if unordered.any():
        columns = torch.tensor(values.T[None], dtype=torch.float64)
        values = numeric_reading(columns, torch.from_numpy(unordered)[None])[0].T.numpy()
    told = Told.about(values, was_set=table.targets, unordered=unordered, constraints=constraints)
    if policy is None or not isinstance(policy.actor.encoder, MomentsEncoder):
        said = judge(values, told=told, constraints=constraints)
        return replace(said, states=None)  # which are of no use to another policy
    return judge(values, policy, told=told, constraints=constraints)


def judge(
    values: FloatArray,
    policy: Pretrained | None = None,
    *,
    scales: bool = False,
    told: Told | None = None,
    constraints: Constraints | None = None,
) -> PolicyPrediction:
    """Let a pretrained policy look at a table; the default policy where none is given.

    Parameters
    ----------
    values : (n_samples, n_variables) array
        A missing cell is NaN.
    policy : Pretrained, optional
    scales : bool
        Whether the columns' scales count, as they do under equal noise variances.
    told : Told, optional
        What is known of the cells, of the levels and of the edges; of the edges the constraints by default.
    constraints : Constraints, optional
        What every order has to agree with.

    Raises
    ------
    OptionError
        The policy has no edge head.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.uniform(-1, 1, 500)
    >>> said = judge(np.column_stack([cause**3 + 0.1 * rng.normal(size=500), cause]))
    >>> said.order.tolist()
    [1, 0]
    """
    policy = policy or load_pretrained("default")
    encoder = policy.actor.encoder
    if not isinstance(encoder, MomentsEncoder):
        raise OptionError("this policy tells orders only: edge probabilities need one like 'default'.")
    d = values.shape[1]
    known = constraints or Constraints.none(d)
    told = told or Told.about(values, constraints=known)
    rng = np.random.default_rng(SEED)
    seen = Views(values, policy.architecture.n_samples, rng, torch.device("cpu"), scales=scales, told=told)
    encoder.eval()
    with torch.no_grad(), one_thread():
        # what is known of edges is heard in every second view, so that it moves no answer too far
        hears = torch.arange(len(seen.told.required))[:, None, None] % 2 == 1
        heard = seen.told._replace(required=seen.told.required & hears, forbidden=seen.told.forbidden & hears)
        states, logits = (torch.cat(parts) for parts in zip(*encoder.at_each(seen.draw(1), heard), strict=True))
        said = answer_log_probabilities(ruled(logits, seen.told))
        edges, common, _ = (part.exp().double().mean(0) for part in said)
        states = states.mean(0, keepdim=True)
        generator = torch.Generator().manual_seed(SEED)
        # a variable's noise goes by its state, not by its column: columns may come in any sequence
        noise = gumbel_noise((N_ORDERS + 1, d, d), generator)[:, :, states[0, :, 0].argsort().argsort()]
        noise[0] = 0.0  # the first is the most likely one
        before = torch.tensor(known.before, dtype=torch.float32) if known.before.any() else None
        orders = policy.actor.sample(states, noise, before)
        position = orders.argsort(1)
        precedence = (position[:, :, None] < position[:, None, :]).double().mean(0)
    apart = 1 - torch.eye(d, dtype=torch.float64)
    probabilities = (edges * apart).numpy(), (common * apart).numpy()
    score = PolicyScore(precedence.numpy(), probabilities[0], orders[0].numpy(), known)
    return PolicyPrediction(score.quick_order(known), precedence.numpy(), *probabilities, states)
