"""CORL: the whole pipeline on one page. Data, score, policy, polish, pruning, graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from precede.arrays import BoolArray
from precede.confidence import OrderSample
from precede.data.lags import in_time
from precede.data.load import Table, standardized
from precede.deadline import Deadline, stopped_by_signals
from precede.device import DeviceName, choose_device
from precede.errors import KnowledgeError, OptionError, check_choice, check_positive, listed
from precede.estimator import CausalEstimator, Findings
from precede.graph import CausalGraph
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.options import Count, CountOrZero, NotNegative, Positive, Range, Share, check_names, check_options
from precede.policy.decoders import DecoderName, PointerName
from precede.policy.draws import TrainedPolicy
from precede.policy.encoders import NormalizationName, PaperEncoderName
from precede.policy.inputs import InputsName
from precede.policy.judgement import Judgement, judge_table
from precede.policy.pretrained import load_pretrained
from precede.progress import ProgressBar, logger
from precede.pruning.order_to_graph import PruningName, effects_by_level, order_to_graph, weigh
from precede.pruning.weights import THRESHOLD
from precede.randomness import RandomState, numpy_rng
from precede.scores.build import ScoreName, build_score
from precede.scores.choose import choose_score
from precede.scores.policy_prior import PolicyScore
from precede.scores.protocol import NoiseName, OrderScore
from precede.search import local
from precede.search.checkpoint import CheckpointFile, data_fingerprint, open_checkpoint
from precede.search.members import Member, choose_member
from precede.search.observers import ProgressObserver
from precede.search.rewards import RewardName, ShapingName
from precede.search.run import OrderSearch, Searched, SearchSettings, search_exactly
from precede.search.settings import Details, TrainingSettings
from precede.search.tensorboard import TensorBoard

DETAILS = Details()
SearchName = Literal["policy", "exact"]
ARCHITECTURE = ("inputs", "encoder", "decoder", "pointer", "normalization", "n_samples")
"""Options that describe a network to train from scratch."""

PATIENCE, PATIENCE_FROM_SCRATCH = 10, 100
"""Iterations without a better order after which training ends: from a pretrained start, whose proposals are polished
as they come, and from random weights."""


class CORL(CausalEstimator):
    r"""Causal discovery with ordering-based reinforcement learning (Wang et al., IJCAI 2021).

    A policy learned with actor-critic builds causal orders, a score judges them, the best is polished by insertion
    moves and pruned to a graph.

    Parameters
    ----------
    score : str or OrderScore
        "auto" looks at the data and says why; "policy" is the pretrained policy's own probabilities; "linear" assumes
        equal noise variances; "nongaussian", "quadratic",
        "gp", "sparse-linear", "sparse-gp", "sparse-gp-additive"; for columns with levels "discrete-bic", "bdeu",
        "degenerate-gaussian", "conditional-gaussian"; or any object with the interface of
        :class:`precede.scores.protocol.OrderScore`.
    reward : {"dense", "episodic"}
        CORL-2 or CORL-1.
    encoder : {"null", "mlp", "lstm", "transformer"}
    decoder : {"mlp", "lstm"}
    inputs : {"fixed", "resample"}
        Whether the encoder sees the same rows throughout or, as in the paper, new ones every time.
    pruning : {"auto", "threshold", "bic", "cam", "cam-f", "policy", "none"}
        "auto" takes "bic" for linear scores, the maximising sets of sparse scores, and "cam" for the others; "policy"
        takes the edges that the pretrained policy finds likely.
    polish : bool
        Improve the policy's best order by insertion moves; False is the paper.
    knowledge : Knowledge, optional
        Obeyed by the sampling, the polish, the exact search and the pruning.
    pretrained : {"auto", "default", "paper"}, path or None
        Policy to start from; it brings a network of its own. "auto" takes the shipped one unless ``inputs``,
        ``encoder``, ``decoder``, ``pointer``, ``normalization`` or ``n_samples`` ask for another network, which is
        then trained from scratch, as with None. With ``n_iterations=0`` and ``polish=False`` the policy's most likely
        order is the result.
    n_iterations, batch_size, n_samples : int
        Iterations of Algorithm 1, orders in each, rows that the encoder sees.
    patience : int, "auto" or None
        Stop when the best score has not moved for this many iterations. "auto" is 10 from a pretrained start, whose
        proposals are polished as they come, and 100 from scratch.
    max_time : float or None
        Seconds for everything up to the graph. Of these the table of a sparse GP score may take half, else it ends at
        smaller parent sets, which a remark says. Ctrl-C has the same effect at any moment: the best order known is
        kept.
    checkpoint : str or None
        File that training is saved to every few seconds.
    resume : bool
        Go on from the checkpoint where it is there; on a CPU the result is that of an uninterrupted run, bit for bit.
        ``n_iterations``, ``patience`` and ``max_time`` may be others than before.
    tensorboard : str or None
        Folder for TensorBoard, which must be installed.
    n_restarts : int or None
        How often the polished order is shaken and polished again. None takes 20 to 100 for a score that identifies
        only the CPDAG, where climbs end early, and 0 for the others.
    search : {"policy", "exact"}
        "exact" is dynamic programming instead of the policy, for up to 20 variables.
    noise : {"auto", "equal", "unequal"}
        Noise variances of the score: equal for "linear", unequal for "gp", "quadratic" and the sparse GP scores when
        "auto". "equal" hangs on the columns' units and means nothing for standardised data.
    threshold : float
        Smallest absolute weight for ``pruning="threshold"``.
    cutoff : float
        Largest p-value for ``pruning="cam"``.
    shaping : {"bound", "plain"}
        Dense rewards by the drop in the best score still possible, or the terms as they are (the paper).
    pointer : {"dot", "additive"}
        How the decoder points; "additive" is the paper's and needs batch * d² * 256 numbers.
    normalization : {"layer", "batch"}
        Of the transformer encoder; "batch" is for resampled inputs and in :meth:`paper`.
    gamma : float
        Discount of dense rewards.
    entropy_bonus : float
        Paid for each nat of a choice's entropy, in units of the scaled advantage: it keeps the policy from settling
        on a good order before it has found the best; 0 is the paper.
    actor_learning_rate, critic_learning_rate : float
    details : Details
        Choices of the implementation that the paper leaves open: scale of resampled rows, standardized returns, clipped
        gradients, what the critic values, what patience waits for (:class:`precede.search.settings.Details`).
    diagnose : bool or "quick"
        Check the result against the data and against what the score assumes (``diagnostics_["checks"]``); "quick"
        leaves out resampling.
    device : str
        "auto", "cpu" or "cuda".
    random_state : int, Generator or None
    verbose : bool
        Show progress.

    Attributes
    ----------
    diagnostics_ : Diagnostics
        Under "search": what the policy alone reached, what polish added, and what the greedy order gets. Under
        "levels", for scores of columns with levels: the effects of and on each level of a category.

    Notes
    -----
    Deviations from the paper, all of which :meth:`paper` takes back: fixed inputs, bound-shaped rewards without
    discount, an entropy bonus, a dot-product pointer, layer normalisation, polish, pruning by extended BIC.

    Examples
    --------
    >>> from precede import CORL, simulate
    >>> data = simulate(n_variables=5, degree=1, n_samples=500, random_state=0)
    >>> model = CORL(score="linear", n_iterations=20, random_state=0, verbose=False).fit(data.data)
    >>> bool((model.graph_.edges == data.graph.edges).all())
    True
    """

    _policy_: TrainedPolicy | None
    _takes_categories = _takes_interventions = _takes_lags = True  # its score has the last word

    def __init__(
        self,
        score: ScoreName | Literal["auto", "policy"] | OrderScore = "auto",
        reward: RewardName = "dense",
        encoder: PaperEncoderName = "transformer",
        decoder: DecoderName = "lstm",
        inputs: InputsName = "fixed",
        pruning: PruningName = "auto",
        polish: bool = True,
        knowledge: Knowledge | None = None,
        pretrained: str | Path | None = "auto",
        n_iterations: CountOrZero = 500,
        batch_size: Annotated[int, Range(least=2)] = 64,
        n_samples: Count = 64,
        patience: Count | Literal["auto"] | None = "auto",
        max_time: Positive | None = None,
        checkpoint: str | None = None,
        resume: bool = False,
        tensorboard: str | None = None,
        n_restarts: CountOrZero | None = None,
        search: SearchName = "policy",
        noise: NoiseName = "auto",
        threshold: Positive = THRESHOLD,
        cutoff: Share = 0.001,
        shaping: ShapingName = "bound",
        pointer: PointerName = "dot",
        normalization: NormalizationName = "layer",
        gamma: Share = 1.0,
        entropy_bonus: NotNegative = 0.03,
        actor_learning_rate: Positive = 1e-4,
        critic_learning_rate: Positive = 1e-3,
        details: Details = DETAILS,
        diagnose: bool | Literal["quick"] = True,
        device: DeviceName = "auto",
        random_state: RandomState = None,
        verbose: bool = True,
    ) -> None:
        self.score = score
        self.reward = reward
        self.encoder = encoder
        self.decoder = decoder
        self.inputs = inputs
        self.pruning = pruning
        self.polish = polish
        self.knowledge = knowledge
        self.pretrained = pretrained
        self.n_iterations = n_iterations
        self.batch_size = batch_size
        self.n_samples = n_samples
        self.patience = patience
        self.max_time = max_time
        self.checkpoint = checkpoint
        self.resume = resume
        self.tensorboard = tensorboard
        self.n_restarts = n_restarts
        self.search = search
        self.noise = noise
        self.threshold = threshold
        self.cutoff = cutoff
        self.shaping = shaping
        self.pointer = pointer
        self.normalization = normalization
        self.gamma = gamma
        self.entropy_bonus = entropy_bonus
        self.actor_learning_rate = actor_learning_rate
        self.critic_learning_rate = critic_learning_rate
        self.details = details
        self.diagnose = diagnose
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(
        cls, name: Literal["corl-1", "corl-2"], nonlinear: bool = False, pretrained: str | Path | None = None
    ) -> Self:
        """The paper's method: what Section 4.2 and Appendix A.2 say, and a stated choice wherever they are silent.

        ``docs/explanation/corl.md`` lists every choice beside the paper's words, with its measured effect. Change
        anything with ``set_params``.

        Parameters
        ----------
        name : "corl-1" or "corl-2"
            Episodic or dense rewards.
        nonlinear : bool
            For the paper's nonlinear and real data (Sections 5.2 and 5.3): GP regression with equal noise variances on
            standardized columns, 128 rows, CAM pruning. Those are the settings of RL-BIC2, which the paper follows.
        pretrained : str or Path, optional
            Start from a pretrained policy (Figures 3 and 7), which brings its network and what it looks at.
        """
        check_choice("name", name, ("corl-1", "corl-2"))
        network: dict[str, Any] = {}
        if pretrained is None:
            network |= {"inputs": "resample", "n_samples": 128 if nonlinear else 256}
            network |= {"pointer": "additive", "normalization": "batch"}
        return cls(
            score="gp" if nonlinear else "linear",
            noise="equal",
            reward="episodic" if name == "corl-1" else "dense",
            pruning="cam" if nonlinear else "threshold",
            polish=False,
            n_iterations=3000,
            pretrained=pretrained,
            patience=1000,
            shaping="plain",
            gamma=0.98,
            entropy_bonus=0.0,
            details=Details(
                standardize_columns=nonlinear,
                row_scale="common",
                critic="every-state" if name == "corl-1" else "initial-state",
                patience_on="mean",
            ),
            **network,
        )

    @property
    def _columns_by_name(self) -> bool:
        return not isinstance(self.score, OrderScore)  # which counts the columns as they are

    @property
    def _rows_by_value(self) -> bool:
        return self.inputs == "fixed"  # resampled rows are drawn at random in any case

    def _learn(self, table: Table) -> Findings:
        """Score, search, prune."""
        deadline = Deadline(self.max_time)
        with stopped_by_signals(deadline):
            return self._discover(table, deadline)

    def _discover(self, table: Table, deadline: Deadline) -> Findings:
        rng = numpy_rng(self.random_state)
        constraints = in_time(constraints_over(self.knowledge, table.names), table.steps)
        diagnostics: dict[str, Any] = {"remarks": []}
        searched = standardized(table) if self.details.standardize_columns else table
        said = judge_table(searched, self._start) if self._asks_the_policy else None
        score = self._make_score(searched, constraints, diagnostics, deadline, said)
        found = self._search(score, searched, constraints, rng, deadline)
        order = found.order
        edges, weights = order_to_graph(
            order, table, score, constraints,
            pruning=self.pruning, threshold=self.threshold, cutoff=self.cutoff,
            edge_probability=None if said is None else said.edges,
        )  # fmt: skip
        if said is not None:
            diagnostics["policy"] = said.records(table.names)
        if score.identifies == "cpdag":
            member = self._member(edges, found, table, score, constraints)
            edges, order = member.edges, member.order
            weights = weigh(edges, order, table, score)
            names = table.names
            diagnostics["told_directions"] = [[names[i], names[j]] for i, j in np.argwhere(score.told(edges))]
            diagnostics["chosen_directions"] = [[names[i], names[j], why] for (i, j), why in member.chosen.items()]
        search = found.record.to_dict()
        diagnostics |= {"score": score.name, "identifies": score.identifies, "search": search}
        diagnostics["remarks"] += list(score.notes)
        if score.assumes.mechanism == "levels":
            diagnostics["levels"] = effects_by_level(table, edges)
        history = [asdict(record) for record in found.history]
        return Findings(edges, order, weights, found.record.best_score, history, diagnostics, score.assumes)

    @staticmethod
    def _member(edges: BoolArray, found: Searched, table: Table, score: OrderScore, constraints: Constraints) -> Member:
        """The member of the class that the evidence beside the score prefers."""
        wish = found.record.policy_order
        return choose_member(
            edges,
            found.order,
            constraints.with_precedences(score.told(edges)),
            table.values if score.assumes.linear else None,
            None if wish is None else np.array(wish, dtype=np.int64),
        )

    def _check_together(self) -> None:
        check_options(Details, vars(self.details))
        if self.n_iterations == 0 and self._start is None:
            raise OptionError("n_iterations=0 cannot be used without a pretrained policy: it must be positive.")
        if self.pretrained not in (None, "auto"):
            self._refuse_another_architecture()
        if self.resume and self.checkpoint is None:
            raise OptionError("resume=True needs the file to go on from: give it as checkpoint=...")
        if self.search == "exact":
            for name in ("checkpoint", "tensorboard"):
                if getattr(self, name) is not None:
                    raise OptionError(f"{name} follows the training of a policy, and search='exact' trains none.")

    def _refuse_another_architecture(self) -> None:
        defaults = signature(type(self).__init__).parameters
        for name in ARCHITECTURE:
            value = getattr(self, name)
            if value != defaults[name].default:
                raise OptionError(
                    f"{name}={value!r} does not go with pretrained={str(self.pretrained)!r}, which brings a network of "
                    "its own: leave it out, or train from scratch with pretrained=None."
                )

    @property
    def _asks_the_policy(self) -> bool:
        """Whether the pretrained policy's probabilities are looked at."""
        return self.pruning == "policy" or (isinstance(self.score, str) and self.score in ("auto", "policy"))

    def _make_score(
        self,
        table: Table,
        constraints: Constraints,
        diagnostics: dict[str, Any],
        deadline: Deadline,
        said: Judgement | None,
    ) -> OrderScore:
        if isinstance(self.score, OrderScore):
            if self.score.n_variables != table.n_variables:
                raise OptionError(
                    f"the score is over {self.score.n_variables} variables, the data has {table.n_variables}."
                )
            return self.score
        name = self.score
        device = choose_device(self.device)
        if name == "auto":
            choice = choose_score(table, None if said is None else said.likely())
            diagnostics["score_choice"] = asdict(choice)
            name = choice.name
            if self.verbose:
                logger.info("score: %s", choice.reason)
        if name == "policy":
            if said is None or self.noise != "auto":
                why = "no noise option" if self.noise != "auto" else "only numbers, and at most 150 columns"
                raise OptionError(f"score='policy' cannot be used here: it takes {why}.")
            return PolicyScore(said.precedence, said.edges, said.order, constraints)
        return build_score(
            name, table, constraints, noise=self.noise, device=device, deadline=deadline, verbose=self.verbose
        )

    @property
    def _start(self) -> str | Path | None:
        """The pretrained policy to start from, if any."""
        if self.pretrained != "auto":
            return self.pretrained
        defaults = signature(type(self).__init__).parameters
        own = any(getattr(self, name) != defaults[name].default for name in ARCHITECTURE)
        return None if own or self.search == "exact" else "default"

    def _settings(self) -> TrainingSettings:
        settings = {name: getattr(self, name) for name in TrainingSettings.__dataclass_fields__}
        if self.patience == "auto":
            settings["patience"] = PATIENCE_FROM_SCRATCH if self._start is None else PATIENCE
        settings["max_time"] = None  # the deadline of the whole fit holds
        return TrainingSettings(**settings)

    def _search(
        self,
        score: OrderScore,
        table: Table,
        constraints: Constraints,
        rng: np.random.Generator,
        deadline: Deadline,
    ) -> Searched:
        """Learn an order with the policy (Algorithm 1) and polish; or search exactly."""
        self._policy_ = None
        if self.search == "exact":
            return search_exactly(score, constraints)
        if self.polish and local.moves_of(score) is not None:
            local.prepare()  # compiles while the policy learns
        checkpoint = None if self.checkpoint is None else self._open_checkpoint(score, table, constraints, rng)
        pretrained = None if self._start is None else load_pretrained(self._start)
        settings = SearchSettings(self.polish, self.n_restarts, self._settings())
        search = OrderSearch(score, table.values, constraints, settings, rng, deadline, pretrained)
        with (
            ProgressBar("learning an order", self.n_iterations, self.verbose) as bar,
            TensorBoard.opened(self.tensorboard) as board,
        ):
            found = search.run([ProgressObserver(bar), board], checkpoint)
        trainer = search.trainer
        self._policy_ = TrainedPolicy(trainer.actor, trainer.inputs, trainer.before, trainer.score)
        return found

    def _open_checkpoint(
        self, score: OrderScore, table: Table, constraints: Constraints, rng: np.random.Generator
    ) -> CheckpointFile:
        ends = ("n_iterations", "patience", "max_time")
        settings = {name: value for name, value in asdict(self._settings()).items() if name not in ends}
        settings |= {"pretrained": None if self._start is None else str(self._start), "polish": self.polish}
        settings |= {"score": score.name, "noise": self.noise, "precedences": np.argwhere(constraints.before).tolist()}
        seed = self.random_state if isinstance(self.random_state, int) else None
        data = data_fingerprint(table.values, table.names)
        return open_checkpoint(Path(str(self.checkpoint)), self.resume, data, settings, seed, rng)

    def sample_orders(self, n_orders: int = 1000, random_state: RandomState = None) -> OrderSample:
        """Draw orders from the trained policy, with their scores: what it believes beyond its best order.

        Parameters
        ----------
        n_orders : int
        random_state : int, Generator or None

        Returns
        -------
        OrderSample
            Its ``order_probability`` is the share of draws in which i precedes j, each draw counted alike or weighted
            towards the posterior of the score.

        Notes
        -----
        A policy that was trained for long is nearly certain: its draws tell which orders it has not ruled out, and
        say less than :meth:`bootstrap` about what other data would have given. Drawn before polish.

        Examples
        --------
        >>> from precede import CORL, simulate
        >>> data = simulate(n_variables=4, degree=1, n_samples=300, random_state=0).data
        >>> model = CORL(score="linear", n_iterations=10, random_state=0, verbose=False).fit(data)
        >>> model.sample_orders(50, random_state=0).orders.shape
        (50, 4)
        """
        check_positive("n_orders", n_orders, integer=True)
        check_is_fitted(self)
        if self._policy_ is None:
            raise OptionError("search='exact' trains no policy, so there is none to draw from: use search='policy'.")
        orders, log_probabilities, scores = self._policy_.draw(n_orders, numpy_rng(random_state))
        return OrderSample(self.graph_.names, self._places_[orders], log_probabilities, scores)


def methods() -> dict[str, type[CausalEstimator]]:
    """Every method by name, for the command line and the experiments."""
    from precede.baselines import METHODS  # here, so that CORL does without what only the others import

    return {"corl": CORL, **METHODS}


def every_method() -> dict[str, type[CausalEstimator]]:
    """The same, and those that another package brings: ``pc``, ``ges`` and ``fci`` of ``precede[constraint]``."""
    from precede.constraint import CONSTRAINT_METHODS  # as in methods

    return {**methods(), **CONSTRAINT_METHODS}


def make_method(method: str, options: Mapping[str, Any]) -> CausalEstimator:
    """The estimator of a name, with options that it has; one that it does not have is refused.

    Examples
    --------
    >>> make_method("eqvar", {"pruning": "bic"})
    EqVar(pruning='bic')
    """
    known = every_method()
    check_choice("method", method, known)
    accepted = known[method]._get_param_names()
    for name in options:
        able = [other for other, cls in known.items() if name in cls._get_param_names()]
        if name == "knowledge" and method not in able:
            raise KnowledgeError(
                f"the method {method!r} cannot obey background knowledge; these can: {listed(able, 20)}."
            )
        if name not in accepted and able:
            raise OptionError(f"the method {method!r} has no option {name!r}; these have: {listed(able, 20)}.")
    check_names(f"the method {method!r}", list(options), accepted)
    return known[method](**options)


def discover(data: Any, method: str = "corl", **options: Any) -> CausalGraph:
    """Learn a causal graph in one call.

    Parameters
    ----------
    data : DataFrame, array, polars frame, or path
    method : str
        One of :func:`methods`.
    **options
        Parameters of the method's class.

    Examples
    --------
    >>> from precede import discover, simulate
    >>> discover(simulate(n_variables=4, degree=1, random_state=1).data, method="eqvar").n_edges
    4
    """
    return make_method(method, options).fit(data).graph_
