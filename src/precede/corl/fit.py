"""The whole pipeline on one page: data, score, search, pruning, graph.

Each stage is a call into the package of its name; ``Plan`` says what was asked for.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.corl.gaps import DRAWN_AGAIN, ESTIMATED_AGAIN, refit_imputed
from precede.corl.hidden import allow_hidden, refuse_rows, start_choice, start_constraints
from precede.corl.settings import Plan
from precede.data.table import Table, standardized_table
from precede.errors import OptionError
from precede.estimator import Findings
from precede.knowledge import Constraints
from precede.policy.draws import TrainedPolicy
from precede.policy.prediction import TAKES, PolicyPrediction, judge_table
from precede.policy.pretrained import Pretrained, load_pretrained
from precede.pruning.order_to_graph import check_pruning, effects_by_level, order_to_graph, weigh
from precede.runtime.deadline import Deadline
from precede.runtime.device import choose_device
from precede.runtime.memory import give_back_memory
from precede.runtime.progress import ProgressBar, logger
from precede.scores.build import build_score
from precede.scores.choose import Choice, choose_score
from precede.scores.informed import WEIGHT, PolicyEvidence
from precede.scores.policy_prior import PolicyScore
from precede.scores.protocol import OrderScore
from precede.search import local
from precede.search.checkpoint import CheckpointFile, data_fingerprint, open_checkpoint
from precede.search.members import Member, choose_member, direction_sources
from precede.search.observers import ProgressObserver
from precede.search.run import OrderSearch, Searched, search_exactly
from precede.search.tensorboard import TensorBoard
from precede.search.train import IterationRecord
from precede.strict_json import JsonObject

WARM_UP_TO = 60
"""Variables up to which numba is made ready beside the policy's look: at more, both together would be the peak of the
memory, and half a second matters less."""


def learn(
    plan: Plan, table: Table, constraints: Constraints, rng: np.random.Generator, deadline: Deadline
) -> tuple[Findings, TrainedPolicy | None]:
    """Score, search, prune; the findings, and the policy where one was trained."""
    known = constraints
    if plan.hidden:
        refuse_rows(table)
        constraints = start_constraints(known)
    seen = standardized_table(table) if plan.score.standardize_columns else table
    reported: JsonObject = {}
    if plan.search.polish and plan.search.kind != "exact" and table.n_variables <= WARM_UP_TO:
        local.warm_up()  # while the policy looks at the data
    pretrained = None if plan.search.start is None else load_pretrained(plan.search.start)
    said = judge_table(seen, pretrained) if plan.asks_the_policy else None
    if said is not None:
        give_back_memory()
        reported["policy"] = said.opinions(table.names)
        pretrained = None if pretrained is None else replace(pretrained, states=said.states)
    elif plan.pruning.name == "policy":
        raise OptionError(f"pruning='policy' cannot be used here: the policy takes {TAKES}.")
    score, choice = make_score(plan, seen, constraints, said, deadline)
    check_pruning(plan.pruning.name, score)  # before the search, which may take hours
    found, policy = search_order(plan, score, seen, constraints, pretrained, rng, deadline)
    likely = None if said is None else said.edges
    found, score, filled = refit_imputed(plan, score, found, seen, constraints, rng, deadline, likely)
    table = filled if seen is table else table
    if choice is not None:
        reported["score_choice"] = choice
    reported |= {"score": score.name, "identifies": score.identifies}
    again = ESTIMATED_AGAIN if score.name == "sparse-linear" else DRAWN_AGAIN
    reported["remarks"] = [*score.notes, *([] if filled is seen else [again]), *unwatched(plan, found)]
    order = found.order
    edges, weights = order_to_graph(
        order, table, score, constraints,
        pruning=plan.pruning.name, threshold=plan.pruning.threshold, cutoff=plan.pruning.cutoff,
        edge_probability=likely,
    )  # fmt: skip
    assumes = score.assumes
    if plan.hidden:
        pag, edges, order, assumes = allow_hidden(edges, order, table, known, assumes, deadline)
        weights = weigh(edges, order, table, score)
        reported |= {"identifies": "cpdag", "hidden": "allowed", "marks": [list(edge) for edge in pag.edge_list()]}
        reported["remarks"] = [f"{count} x A {mark} B: {words}." for mark, words, count in pag.legend()]
    elif score.identifies == "cpdag":
        member = choose(edges, found, table, score, constraints, plan.search.initial_order)
        edges, order = member.edges, member.order
        weights = weigh(edges, order, table, score)
        names = table.names
        told = score.told(edges)
        reported["told_directions"] = [[names[i], names[j]] for i, j in np.argwhere(told)]
        if table.targets is None:
            sources = direction_sources(edges, told)
            reported["direction_sources"] = [[names[i], names[j], source] for (i, j), source in sources.items()]
        reported["chosen_directions"] = [[names[i], names[j], why] for (i, j), why in member.chosen.items()]
    if score.assumes.mechanism == "levels":
        reported["levels"] = effects_by_level(table, edges)
    findings = Findings(
        edges,
        order,
        weights,
        found.record.best_score,
        found.history,
        IterationRecord,
        reported,
        assumes,
        found.record,
    )
    return findings, policy


def make_score(
    plan: Plan, table: Table, constraints: Constraints, said: PolicyPrediction | None, deadline: Deadline
) -> tuple[OrderScore, Choice | None]:
    """The score that the plan names; for "auto" also why it was chosen."""
    name, noise = plan.score.score, plan.score.noise
    if isinstance(name, OrderScore):
        if name.n_variables != table.n_variables:
            raise OptionError(f"the score is over {name.n_variables} variables, the data has {table.n_variables}.")
        return name, None
    device = choose_device(plan.score.device)
    choice = None
    weight = 0.0 if plan.score.policy_weight == "auto" else plan.score.policy_weight
    if name == "auto":
        choice = choose_score(table, None if said is None else said.likely())
        choice = start_choice(choice) if plan.hidden else choice
        name = choice.name
        if choice.informed and plan.score.policy_weight == "auto":
            weight = WEIGHT
        if plan.verbose:
            logger.info("score: %s", choice.reason)
    if name == "policy":
        if said is None or noise != "auto":
            why = "no noise option" if noise != "auto" else TAKES
            raise OptionError(f"score='policy' cannot be used here: it takes {why}.")
        return PolicyScore(said.precedence, said.edges, said.order, constraints), choice
    if weight and said is None:
        raise OptionError(f"policy_weight={weight:g} cannot be used here: the policy takes {TAKES}.")
    policy = PolicyEvidence(said.edges, weight) if said is not None else None
    score = build_score(
        name, table, constraints, noise=noise, policy=policy, device=device, deadline=deadline, verbose=plan.verbose,
        kernel=plan.score.kernel,
    )  # fmt: skip
    return score, choice


def search_order(
    plan: Plan,
    score: OrderScore,
    table: Table,
    constraints: Constraints,
    pretrained: Pretrained | None,
    rng: np.random.Generator,
    deadline: Deadline,
) -> tuple[Searched, TrainedPolicy | None]:
    """Learn an order with the policy (Algorithm 1) and polish it; or search exactly."""
    settings = plan.search
    if settings.kind == "exact":
        return search_exactly(score, constraints, deadline, settings.why), None
    if settings.polish:
        local.prepare(score)  # compiles while the policy looks at the data
    checkpoint = None if settings.checkpoint is None else checkpoint_of(plan, score, table, constraints, rng)
    search = OrderSearch(score, table.values, constraints, settings, rng, deadline, pretrained)
    with (
        ProgressBar("learning an order", settings.training.n_iterations, plan.verbose) as bar,
        TensorBoard.opened(settings.tensorboard) as board,
    ):
        found = search.run([ProgressObserver(bar), board], checkpoint)
    trainer = found.trainer
    if trainer is None:  # a climb from a given order
        return found, None
    (learner,) = trainer.learners
    return found, TrainedPolicy(learner.actor, learner.inputs, learner.before, learner.score)


def unwatched(plan: Plan, found: Searched) -> list[str]:
    """What was to follow the training, where there was none."""
    asked = [name for name in ("checkpoint", "tensorboard") if getattr(plan.search, name) is not None]
    if not asked or found.record.kind == "policy":
        return []
    return [f"Nothing was trained, so there was nothing for {' and '.join(asked)}: search='policy' trains."]


def checkpoint_of(
    plan: Plan, score: OrderScore, table: Table, constraints: Constraints, rng: np.random.Generator
) -> CheckpointFile:
    """The file of the plan, opened for what shapes this run; when it ends may differ."""
    asked = plan.search
    ends = ("n_iterations", "patience", "max_time")
    settings = {name: value for name, value in asdict(asked.training).items() if name not in ends}
    settings |= {"pretrained": None if asked.start is None else str(asked.start), "polish": asked.polish}
    settings |= {"score": score.name, "noise": plan.score.noise}
    settings |= {"precedences": np.argwhere(constraints.before).tolist()}
    data = data_fingerprint(table.values, table.names)
    return open_checkpoint(Path(str(asked.checkpoint)), asked.resume, data, settings, plan.seed, rng)


def choose(
    edges: BoolArray,
    found: Searched,
    table: Table,
    score: OrderScore,
    constraints: Constraints,
    given: IntArray | None,
) -> Member:
    """The member of the equivalence class that the evidence beside the score prefers, such as a given order."""
    wish = found.record.policy_order if found.record.policy_order is not None else given
    return choose_member(
        edges,
        found.order,
        constraints.with_precedences(score.told(edges)),
        table.values if score.assumes.linear else None,
        None if wish is None else np.array(wish, dtype=np.int64),
    )
