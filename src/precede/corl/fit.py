"""The whole pipeline on one page: data, score, search, missing cells, pruning, hidden causes, graph.

Each stage is a call into the package of its name; the options are those of CORL itself.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from precede.arrays import BoolArray, IntArray
from precede.corl.levels import choose_for_levels
from precede.corl.settings import asks_the_policy, search_settings
from precede.corl.vote import VoteScore, vote
from precede.data.kinds import refuse_categories
from precede.data.missing import redrawn, reestimated
from precede.data.table import Table, standardized_table
from precede.errors import OptionError
from precede.estimator import FitResult
from precede.graph import MixedGraph
from precede.graph.dags import topological_order
from precede.knowledge import Constraints
from precede.options import Options
from precede.policy.actor import TrainedPolicy
from precede.policy.prediction import TAKES, PolicyPrediction, Pretrained, judge_table, load_pretrained
from precede.pruning.order_to_graph import LevelRegressions, graph_of_class, order_to_graph, weigh
from precede.pruning.weights import or_eliminated
from precede.runtime import Deadline, ProgressBar, choose_device, give_back_memory, logger, numpy_rng
from precede.scores.assumptions import Assumptions
from precede.scores.build import ScoreName, build_score
from precede.scores.choose import Choice, ChosenName, choose_score
from precede.scores.covariance import moments_of, regularized
from precede.scores.policy_prior import WEIGHT, PolicyEvidence, PolicyScore
from precede.scores.protocol import OrderScore
from precede.search import local
from precede.search.checkpoint import CheckpointFile, data_fingerprint, open_checkpoint
from precede.search.pag import independence_test, learn_pag, start_constraints
from precede.search.run import OrderSearch, SearchResult, tensorboard
from precede.search.settings import SearchSettings
from precede.search.train import IterationRecord, Trainer
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from precede.corl.estimator import CORL

WARM_UP_TO = 60
"""Variables up to which numba is made ready beside the policy's look: at more, both together would be the peak of the
memory, and half a second matters less."""


def learn(
    model: CORL, table: Table, constraints: Constraints, rng: np.random.Generator, deadline: Deadline
) -> tuple[FitResult, TrainedPolicy | None]:
    """Score, search, prune; the findings, and the policy where one was trained."""
    known, hidden = constraints, model.hidden == "allowed"
    if hidden:
        refuse_rows(table)
        constraints = start_constraints(known)
    if table.is_wide:
        refuse_wide(model, table)
    fit = Fit(model, table, constraints, rng, deadline)
    settings, seen, reported = fit.settings, fit.seen, JsonObject()
    if settings.polish and settings.kind != "exact" and table.n_variables <= WARM_UP_TO:
        local.prepare()  # while the policy looks at the data
    if fit.said is not None:
        reported["policy"] = fit.said.opinions(table.names)
    elif model.pruning == "policy":
        raise OptionError(f"pruning='policy' cannot be used here: the policy takes {TAKES}.")
    score, choice = fit.score()
    refuse_pruning(model, score)
    found, score, filled = fit.refit_imputed(score, fit.search(score))
    table = filled if seen is table else table
    if choice is not None:
        reported["score_choice"] = choice
    reported |= {"score": score.name, "identifies": score.identifies}
    again = ESTIMATED_AGAIN if score.name == "sparse-linear" else DRAWN_AGAIN
    reported["remarks"] = [*score.notes, *([] if filled is seen else [again]), *unwatched(model, found)]
    order, assumes = found.order, score.assumes
    edges = fit.prune(order, table, score)
    if hidden:
        pag, edges, order, assumes = allow_hidden(edges, order, table, known, assumes, deadline)
        reported |= {"identifies": "cpdag", "hidden": "allowed", "marks": [list(edge) for edge in pag.edge_list()]}
    elif score.identifies == "cpdag":
        edges, order, directions = graph_of_class(score, edges, order, table, fit.constraints, fit.wish(found))
        reported |= directions
    elif isinstance(score, VoteScore):
        reported |= score.described(edges, table.names)
    if score.assumes.mechanism == "levels":
        reported["levels"] = LevelRegressions(table, edges).effects()
    record, weights = found.record, weigh(edges, order, table, score)
    findings = FitResult(
        edges, order, weights, record.best_score, found.history, IterationRecord, reported, assumes, record
    )
    return findings, found.policy


CUTS = (0.3, 0.5, 0.7)
"""Of the policy's probability, from which an edge is likely to ``score="auto"``."""


def choose_for(fit: Fit) -> tuple[Choice, ChosenName, float]:
    """What ``score="auto"`` chooses: why, the name, and what the policy counts beside it."""
    model, table = fit.model, fit.seen
    choice = choose_score(table, *(() if fit.said is None else map(fit.said.likely, CUTS)))
    if choice.name == "discrete-bic" and table.targets is None and model.hidden != "allowed":
        choice = choose_for_levels(table, fit.constraints, fit.deadline)
    choice = start_choice(choice) if model.hidden == "allowed" else choice
    if model.policy_weight != "auto":
        return choice, "location-scale" if choice.name == "vote" else choice.name, model.policy_weight
    return choice, choice.name, WEIGHT if choice.informed else 0.0


def settled_options(model: CORL, table: Table, constraints: Constraints) -> Options:
    """The options of a fit to resampled rows of a table, which are judged by the model that the table calls for."""
    _, name, weight = choose_for(Fit(model, table, constraints, numpy_rng(0), Deadline(None)))
    return {"score": name} | ({"policy_weight": weight} if weight else {})


ROUNDS: dict[ScoreName, int] = {"linear-any": 5, "nongaussian": 5, "sparse-linear": 1}
"""How often the gaps are told and the order is learned again, by the score (``benchmarks/missing_cells.py``)."""

FEW_MISSING = 0.001
"""Share of missing cells up to which, in every column, what they hold cannot matter: the order stays."""

RESTARTS = 4
"""Of the climbs in between: they start where the last one ended, so that few do."""

DRAWN_AGAIN = (
    "Once there was a graph, missing cells were drawn again from it and the shape of its noise, and the order was "
    "learned again."
)
ESTIMATED_AGAIN = "Once there was a graph, EM ran again along it, and the order was learned again."


@dataclass(frozen=True)
class Fit:
    """What every stage is given: the options, the data, the knowledge, and what may be drawn and spent."""

    model: CORL
    table: Table
    constraints: Constraints
    rng: np.random.Generator
    deadline: Deadline

    @cached_property
    def settings(self) -> SearchSettings:
        """How to search."""
        return search_settings(self.model, self.table)

    @cached_property
    def seen(self) -> Table:
        """What the score and the policy see."""
        return standardized_table(self.table) if self.settings.training.details.standardize_columns else self.table

    @cached_property
    def pretrained(self) -> Pretrained | None:
        """The policy to start from."""
        return None if self.settings.start is None else load_pretrained(self.settings.start)

    @cached_property
    def said(self) -> PolicyPrediction | None:
        """What the policy says of the data, where that is asked for."""
        pretrained = self.pretrained  # what is no policy is refused before a score is built
        if not asks_the_policy(self.model):
            return None
        said = judge_table(self.seen, pretrained, self.constraints)
        give_back_memory()
        return said

    def score(self) -> tuple[OrderScore, Choice | None]:
        """The score that the options name; for "auto" also why it was chosen."""
        model, table, said, constraints = self.model, self.seen, self.said, self.constraints
        name, noise = model.score, model.noise
        if isinstance(name, OrderScore):
            if name.n_variables != table.n_variables:
                raise OptionError(f"the score is over {name.n_variables} variables, the data has {table.n_variables}.")
            return name, None
        device = choose_device(model.device)
        choice = None
        weight = 0.0 if model.policy_weight == "auto" else model.policy_weight
        if name == "auto":
            choice, name, weight = choose_for(self)
            if model.verbose:
                logger.info("score: %s", choice.reason)
        if name == "policy":
            if said is None or noise != "auto":
                why = "no noise option" if noise != "auto" else TAKES
                raise OptionError(f"score='policy' cannot be used here: it takes {why}.")
            if said.states is None and model.pretrained not in (None, "auto"):  # the shipped policy stood in
                raise OptionError(
                    f"score='policy' cannot be used with pretrained={str(model.pretrained)!r}, which tells orders "
                    "only: edge probabilities need one like 'default'."
                )
            return PolicyScore(said.precedence, said.edges, said.order, constraints), choice
        if name == "vote":
            if noise != "auto":
                raise OptionError("score='vote' takes no noise option: leave it out.")
            return vote(self, device), choice
        if weight and said is None:
            raise OptionError(f"policy_weight={weight:g} cannot be used here: the policy takes {TAKES}.")
        policy = PolicyEvidence(said.edges, weight) if said is not None else None
        score = build_score(
            name, table, constraints, noise=noise, policy=policy, device=device, deadline=self.deadline,
            verbose=model.verbose, kernel=self.settings.training.details.kernel,
        )  # fmt: skip
        return score, choice

    def prune(self, order: IntArray, table: Table, score: OrderScore) -> BoolArray:
        """Edges of an order, by the pruning that was asked for."""
        model, likely = self.model, None if self.said is None else self.said.edges
        return order_to_graph(
            order, table, score, self.constraints,
            pruning=model.pruning, threshold=model.threshold, cutoff=model.cutoff, edge_probability=likely,
        )  # fmt: skip

    def search(self, score: OrderScore) -> SearchResult:
        """Learn an order with the policy (Algorithm 1) and polish it; or search exactly."""
        model, settings, table, pretrained = self.model, self.settings, self.seen, self.pretrained
        if self.said is not None and pretrained is not None:
            pretrained = replace(pretrained, states=self.said.states)
        search = OrderSearch(
            score, table.sampled().values, self.constraints, settings, self.rng, self.deadline, pretrained
        )
        if settings.kind == "exact":
            return search.run()
        if settings.polish:
            local.prepare_for(score)  # compiles while the policy looks at the data
        checkpoint = None if model.checkpoint is None else self._checkpoint(model.checkpoint, score, table)
        with (
            ProgressBar("learning an order", settings.training.n_iterations, model.verbose) as bar,
            ExitStack() as stack,
        ):
            boards = [] if model.tensorboard is None else stack.enter_context(tensorboard(model.tensorboard))

            def see(record: IterationRecord, _: Trainer) -> None:
                bar.update(record.iteration, best_score=record.best_score, mean_score=record.mean_score)

            return search.run([see, *boards], checkpoint)

    def _checkpoint(self, path: str, score: OrderScore, table: Table) -> CheckpointFile:
        """The file that was named, opened for what shapes this run; when it ends may differ."""
        model, asked = self.model, self.settings
        ends = ("n_iterations", "patience")
        settings = {name: value for name, value in asdict(asked.training).items() if name not in ends}
        settings |= {"pretrained": None if asked.start is None else str(asked.start), "polish": asked.polish}
        settings |= {"score": score.name, "noise": model.noise}
        settings |= {"precedences": np.argwhere(self.constraints.before).tolist()}
        data = data_fingerprint(table.values, table.names)
        seed = model.random_state if isinstance(model.random_state, int) else None
        return open_checkpoint(Path(path), model.resume, data, settings, seed, self.rng)

    def wish(self, found: SearchResult) -> IntArray | None:
        """The order that the graph of a class follows where nothing else decides."""
        wish = found.record.policy_order
        return self.settings.initial_order if wish is None else np.array(wish, dtype=np.int64)

    def refit_imputed(self, score: OrderScore, found: SearchResult) -> tuple[SearchResult, OrderScore, Table]:
        """The order once the graph has told what is in the gaps, the score that it maximizes, and the table.

        Where the noise tells directions, cells are drawn in its shape; else EM estimates the moments along the graph,
        which is all that a score of parent sets reads. Scores of curves see what EM draws; ``"pairwise"`` stays what it
        is.
        """
        settings, constraints, rng, deadline = self.settings, self.constraints, self.rng, self.deadline
        table = self.seen
        name = next((known for known in ROUNDS if known == score.name), None)
        if table.gaps is None or table.gaps.how != "em" or table.targets is not None:
            return found, score, table
        if table.gaps.mask.mean(axis=0).max() <= FEW_MISSING:
            return found, score, table
        if name is None or isinstance(self.model.score, OrderScore) or not settings.polish:
            return found, score, table
        restarts = RESTARTS if settings.n_restarts is None else min(RESTARTS, settings.n_restarts)
        climbs = settings if settings.kind == "exact" else replace(settings, kind="local", n_restarts=restarts)
        for _ in range(ROUNDS[name]):
            if deadline.passed():
                break
            edges = self.prune(found.order, table, score)
            table = reestimated(table, edges) if name == "sparse-linear" else redrawn(table, edges, rng, deadline)
            score = build_score(name, table, constraints, noise=self.model.noise, device=score.device)
            from_here = replace(climbs, initial_order=found.order)
            again = OrderSearch(score, table.values, constraints, from_here, rng, deadline).run()
            if settings.kind == "exact":
                found = again
                continue
            kept = {name: getattr(found.record, name) for name in ("kind", "why", "policy_order", "iterations")}
            found = replace(found, order=again.order, record=replace(again.record, **kept))
        return found, score, table


def unwatched(model: CORL, found: SearchResult) -> list[str]:
    """What was to follow the training, where there was none."""
    asked = [name for name in ("checkpoint", "tensorboard") if getattr(model, name) is not None]
    if not asked or found.record.kind == "policy":
        return []
    return [f"Nothing was trained, so there was nothing for {' and '.join(asked)}: search='policy' trains."]


def refuse_wide(model: CORL, table: Table) -> None:
    """Refuse what needs more rows than columns."""
    refuse_categories(table.names, table.kinds, "a table with no more rows than columns")
    if table.targets is not None:
        raise OptionError(
            f"interventions need more rows ({table.n_samples}) than columns ({table.n_variables}): leave them out."
        )
    for option, taken in (("pruning", ("auto", "none")), ("hidden", ("none",))):
        if (given := getattr(model, option)) not in taken:
            raise OptionError(
                f"{option}={given!r} needs more rows ({table.n_samples}) than columns ({table.n_variables}): leave it "
                "out."
            )


def refuse_pruning(model: CORL, score: OrderScore) -> None:
    """Refuse a pruning that does not go with a score, before the search, which may take hours."""
    if score.assumes.mechanism == "levels" and model.pruning not in ("auto", "none"):
        raise OptionError(
            f"pruning={model.pruning!r} cannot be used with score={score.name!r}, whose sets are the graph: use 'auto'."
        )


def refuse_rows(table: Table) -> None:
    """Refuse what the tests of independence cannot take."""
    for what, given in (("interventions", table.targets), ("lags", table.steps)):
        if given is not None:
            raise OptionError(f"hidden='allowed' does not take {what}: leave them out, or take hidden='none'.")


def start_choice(choice: Choice) -> Choice:
    """The score to start with: a hidden cause bends the shapes that tell directions, so correlations must do.

    For columns with levels too: whole tables of the levels ask for so many parameters that a start with them leaves
    out edges which the tests would find (``benchmarks/hidden.py peers --kinds discrete``).
    """
    start: dict[str, ChosenName] = dict.fromkeys(("linear-any", "location-scale", "policy", "vote"), "sparse-linear")
    start |= dict.fromkeys(("discrete-bic", "conditional-gaussian"), "degenerate-gaussian")
    if choice.name not in start:
        return choice
    reason = f"{choice.reason} With hidden causes only the independences count, here those of correlations."
    return replace(choice, name=start[choice.name], reason=reason, informed=False)


def allow_hidden(
    edges: BoolArray, order: IntArray, table: Table, constraints: Constraints, assumes: Assumptions, deadline: Deadline
) -> tuple[MixedGraph, BoolArray, IntArray, Assumptions]:
    """The PAG, one DAG that has its marks with an order of it, and what was assumed."""
    if assumes.linear:
        moments = moments_of(table)
        matrix = regularized(moments.covariance)
        edges = or_eliminated(edges, matrix, order, moments.n_samples, start_constraints(constraints))
    test = independence_test(table, curves=assumes.mechanism == "additive")
    pag = MixedGraph(learn_pag(edges, test, constraints, deadline=deadline), table.names)
    member, _ = pag.member(constraints.nearest_order(order))
    if constraints.violated_by(member):  # a path against the tiers
        member, _ = pag.member(constraints.nearest_order(order), follow=True)
    words = f"{assumes.words} Any two variables may share a cause that is not in the table."
    return pag, member, topological_order(member), replace(assumes, hidden_causes=True, words=words)
