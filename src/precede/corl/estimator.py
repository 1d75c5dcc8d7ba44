"""CORL, the estimator: its options and what they mean; and every method by name."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import InitVar
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from precede.corl.fit import learn, settled_options
from precede.corl.settings import PaperName, ProgramName, check_search, own_network, paper_options
from precede.data.copies import without_copies
from precede.data.load import Table
from precede.data.odd import without_odd
from precede.data.table import canonical
from precede.errors import KnowledgeError, OptionError, check_choice, check_positive, listed, renamed
from precede.estimator import CausalEstimator, FitResult
from precede.evidence.confidence import OrderSample
from precede.graph import CausalGraph
from precede.knowledge import Knowledge
from precede.options import Count, CountOrZero, NotNegative, Positive, Range, Share, check_names, check_options, parsed
from precede.policy.actor import TrainedPolicy
from precede.policy.inputs import InputsName
from precede.policy.networks import DecoderName, NormalizationName, PaperEncoderName, PointerName
from precede.pruning.order_to_graph import PruningName
from precede.pruning.weights import THRESHOLD
from precede.runtime import Deadline, DeviceName, RandomState, numpy_rng, one_thread, stopped_by_signals
from precede.scores.build import ScoreName
from precede.scores.protocol import NoiseName, OrderScore
from precede.search.rewards import RewardName, ShapingName
from precede.search.settings import Details, SearchName

Auto = Literal["auto"]
HiddenName = Literal["none", "allowed"]


class CORL(CausalEstimator):
    r"""Causal discovery with ordering-based reinforcement learning (Wang et al., IJCAI 2021).

    A policy learned with actor-critic builds causal orders, a score judges them, the best is polished by insertion
    moves and pruned to a graph. Where the quicker local search settles the order by itself, ``search="auto"`` trains
    no policy and says so; to give any option of training asks for it.

    Parameters
    ----------
    score : str or OrderScore
        "auto" looks at the data and says why; "policy" is the pretrained policy's own probabilities; "vote" is what
        most of several classes of models and the policy say; "linear" assumes equal noise variances; "linear-any"
        (noise of any variance and shape; "sparse-linear" is the same with Gaussian noise only, "nongaussian" with the
        shape at no price), "quadratic", "gp", "sparse-gp", "sparse-gp-additive", "location-scale" (noise may depend on
        the causes, and have any shape); for columns with levels "discrete-bic", "bdeu", "degenerate-gaussian",
        "conditional-gaussian"; or any object with the interface of :class:`precede.scores.protocol.OrderScore`.
    reward : {"dense", "episodic"}
        CORL-2, the default, or CORL-1.
    encoder : {"transformer", "null", "mlp", "lstm"}
    decoder : {"lstm", "mlp"}
    inputs : {"fixed", "resample"}
        Whether the encoder sees the same rows throughout or, as in the paper, new ones every time.
    pruning : {"auto", "threshold", "bic", "cam", "cam-f", "policy", "none"}
        "auto" takes "bic" for linear scores, the maximizing sets of sparse scores, and "cam" for the others; "policy"
        takes the edges that the pretrained policy finds likely.
    polish : bool
        Improve the policy's best order by insertion moves; False is the paper.
    knowledge : Knowledge, optional
        Obeyed by the sampling, the polish, the exact search and the pruning.
    hidden : {"none", "allowed"}
        Whether two columns may share a cause that is not in the table. "allowed" starts from the graph of the search
        and tests its edges: ``pag_`` says what is known, ``graph_`` is one graph that agrees with it.
    pretrained : {"auto", "default", "paper"}, path or None
        Policy to start from; it brings a network of its own. "auto" takes the shipped one unless ``inputs``,
        ``encoder``, ``decoder``, ``pointer``, ``normalization`` or ``n_encoder_rows`` ask for another network, which is
        then trained from scratch, as with None. In local search its most likely order is one of the starts; None
        leaves it out. With ``n_iterations=0`` and ``polish=False`` that order is the result.
    n_iterations, batch_size, n_encoder_rows : int
        Iterations of Algorithm 1, 500 when "auto", orders in each, 64, and rows that the encoder sees, 64.
        ``n_iterations=0`` asks for no training.
    patience : int, "auto" or None
        Stop when the best score has not moved for this many iterations. "auto" never stops iterations that were asked
        for; else it is 100 from scratch and 10 from a pretrained start, whose proposals are polished as they come.
    max_time : float or None
        Seconds for everything up to the graph. Of these the table of a sparse GP score may take half, else it ends at
        smaller parent sets, which a remark says. Ctrl-C has the same effect at any moment: the best order known is
        kept.
    checkpoint : str or None
        File that training is saved to every few seconds. Neither this nor ``tensorboard`` changes what is learned.
    resume : bool
        Continue from the checkpoint, if there is one; on a CPU the result is that of an uninterrupted run, bit for bit.
        ``n_iterations``, ``patience`` and ``max_time`` may differ from before.
    tensorboard : str or None
        Folder for TensorBoard, which must be installed: scores, entropy, losses and gradient norms.
    n_restarts : int or None
        How often each polished order is shaken and polished again. None takes 10 to 100 for a score that identifies
        only the CPDAG, where climbs end early, and for "nongaussian", up to 100 for "linear", and 0 for the others.
    initial_order : list or tuple of names, optional
        An order to start the climb from, causes first, beside the greedy and the policy's: ``causal_order_`` of an
        earlier fit. It is bent to the knowledge where it breaks it. With ``n_iterations=0`` no policy is asked.
    search : {"auto", "policy", "local", "exact"}
        "policy" is Algorithm 1 and always trains; "local" is insertion moves with restarts and never does; "exact" is
        dynamic programming, for up to 20 variables. "auto" takes "policy" where an option of training is given
        (``reward``, ``encoder``, ``decoder``, ``inputs``, ``n_iterations``, ``batch_size``, ``n_encoder_rows``,
        ``patience``, ``shaping``, ``pointer``, ``normalization``, ``gamma``, ``entropy_bonus``, a learning rate,
        ``details``), with ``polish=False`` and with ``pretrained=None``; else it takes "local", and trains where
        searches from different starts disagree and are slow, but not with ``hidden="allowed"``.
        ``diagnostics_["search"]`` says which, and ``why``.
        With "local" and "exact" an option of training is refused.
    noise : {"auto", "equal", "unequal"}
        Noise variances of the score: equal for "linear", unequal for "gp", "quadratic" and the sparse GP scores when
        "auto". "equal" depends on the columns' units and means nothing for standardized data.
    policy_weight : float or "auto"
        What the pretrained policy's log-odds of the edges count beside "location-scale", "sparse-gp" or
        "sparse-gp-additive", in nats of the data: 40 where ``score="auto"`` has one pair of columns, else 0
        when "auto".
    odd : {"missing", "keep"}
        Cells too far out for the tail of their column, or for what the rest of their row says: by default they count as
        missing, and a remark names them; "keep" where they are real.
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
        Discount of dense rewards; 1 when "auto".
    entropy_bonus : float
        Paid for each nat of a choice's entropy, in units of the scaled advantage: it keeps the policy from settling
        on a good order before it has found the best; .03 when "auto", 0 is the paper.
    actor_learning_rate, critic_learning_rate : float
        1e-4 and 1e-3 when "auto".
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
        Under "search": which search was taken and why, what the policy alone reached, what polish added, whether its
        climbs agree, what training added after that, and what the greedy order gets. Under
        "levels", for scores of columns with levels: the effects of and on each level of a category.

    Notes
    -----
    Deviations from the paper, all of which :meth:`paper` takes back: fixed inputs, bound-shaped rewards without
    discount, an entropy bonus, a dot-product pointer, layer normalization, polish, pruning by extended BIC.

    Examples
    --------
    >>> from precede import CORL, simulate
    >>> data = simulate(n_variables=5, degree=1, n_samples=500, random_state=0)
    >>> model = CORL(score="linear", n_iterations=20, random_state=0, verbose=False).fit(data.data)
    >>> bool((model.graph_.edges == data.graph.edges).all())
    True
    """

    _takes_categories = _takes_interventions = _takes_lags = True  # its score has the last word
    _keeps_its_best = True

    score: ScoreName | Literal["auto", "policy", "vote"] | OrderScore = "auto"
    reward: RewardName | Auto = "auto"
    encoder: PaperEncoderName | Auto = "auto"
    decoder: DecoderName | Auto = "auto"
    inputs: InputsName | Auto = "auto"
    pruning: PruningName = "auto"
    polish: bool = True
    knowledge: Knowledge | None = None
    hidden: HiddenName = "none"
    pretrained: str | Path | None = "auto"
    n_iterations: CountOrZero | Auto = "auto"
    batch_size: Annotated[int, Range(least=2)] | Auto = "auto"
    n_encoder_rows: Count | Auto = "auto"
    patience: Count | Auto | None = "auto"
    max_time: Positive | None = None
    checkpoint: str | None = None
    resume: bool = False
    tensorboard: str | None = None
    n_restarts: CountOrZero | None = None
    initial_order: list[Hashable] | tuple[Hashable, ...] | None = None
    search: SearchName = "auto"
    noise: NoiseName = "auto"
    policy_weight: NotNegative | Literal["auto"] = "auto"
    odd: Literal["missing", "keep"] = "missing"
    threshold: Positive = THRESHOLD
    cutoff: Share = 0.001
    shaping: ShapingName | Auto = "auto"
    pointer: PointerName | Auto = "auto"
    normalization: NormalizationName | Auto = "auto"
    gamma: Share | Auto = "auto"
    entropy_bonus: NotNegative | Auto = "auto"
    actor_learning_rate: Positive | Auto = "auto"
    critic_learning_rate: Positive | Auto = "auto"
    details: Details | Auto = "auto"
    diagnose: bool | Literal["quick"] = True
    device: DeviceName = "auto"
    random_state: RandomState = None
    verbose: bool = True
    n_samples: InitVar[Count | None] = None

    def __post_init__(self, n_samples: int | None) -> None:
        if n_samples is not None:
            renamed("n_samples of CORL", "n_encoder_rows", depth=4)
            self.n_encoder_rows = n_samples

    @classmethod
    def paper(
        cls,
        name: PaperName,
        nonlinear: bool = False,
        pretrained: str | Path | None = None,
        program: ProgramName = "text",
        **options: Any,
    ) -> Self:
        """The paper's method: what Section 4.2 and Appendix A.2 say, and a stated choice wherever they are silent.

        ``docs/explanation/corl.md`` lists every choice beside the paper's words, with its measured effect.

        Parameters
        ----------
        name : "corl-1" or "corl-2"
            Episodic or dense rewards.
        nonlinear : bool
            For the paper's nonlinear and real data (Sections 5.2 and 5.3): GP regression with equal noise variances on
            standardized columns, 128 rows, CAM pruning. Those are the settings of RL-BIC2, which the paper follows.
        pretrained : str or Path, optional
            Start from a pretrained policy (Figures 3 and 7), which brings its network and what it looks at.
        program : {"text", "authors"}
            What the paper says, or what its authors' public program does by default: columns and returns as they are,
            sinks first, a glimpse, a narrower network, for nonlinear data a kernel of fixed bandwidth.
        **options
            Any other option of CORL, in place of the paper's.

        Examples
        --------
        >>> CORL.paper("corl-1", n_iterations=500).reward
        'episodic'
        """
        check_names("CORL", list(options), cls.option_names())
        return cls(**paper_options(name, nonlinear, pretrained, program) | options)

    @property
    def _columns_by_name(self) -> bool:
        return not isinstance(self.score, OrderScore)  # which counts the columns as they are

    @property
    def _rows_by_value(self) -> bool:
        return self.inputs != "resample"  # those are drawn at random in any case

    def _prepared(self, table: Table) -> Table:
        if isinstance(self.score, OrderScore):  # which has all rows and cells in it
            return table
        table = without_copies(table)
        return without_odd(table) if self.odd == "missing" else table

    def _settled(self, table: Table) -> Self:
        if self.score != "auto":
            return self
        inner, _ = canonical(table, columns=self._columns_by_name, rows=self._rows_by_value)
        return self.unfitted().set_params(**settled_options(self, inner, self._constraints(inner)))

    def _learn(self, table: Table) -> FitResult:
        deadline = Deadline(self.max_time)
        self._policy_: TrainedPolicy | None = None
        with stopped_by_signals(deadline), one_thread():
            findings, self._policy_ = learn(
                self, table, self._constraints(table), numpy_rng(self.random_state), deadline
            )
        return findings

    def _check_together(self) -> None:
        if isinstance(self.details, Details):
            check_options(Details, vars(self.details))
        check_search(self)
        if self.pretrained not in (None, "auto") and (own := own_network(self)):
            raise OptionError(
                f"{own[0]}={getattr(self, own[0])!r} does not go with pretrained={str(self.pretrained)!r}, which "
                "brings a network of its own: leave it out, or train from scratch with pretrained=None."
            )
        if self.resume and self.checkpoint is None:
            raise OptionError("resume=True needs the file to continue from: give it as checkpoint=...")
        if self.initial_order is not None and (self.search == "exact" or not self.polish):
            raise OptionError("initial_order is where polish starts: it needs polish=True, and no search='exact'.")

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
        names = self.graph_.names  # refused where nothing was fitted
        if self._policy_ is None:
            why = self.diagnostics_["search"]["why"]
            raise OptionError(f"there is no policy to draw from ({why}): search='policy' trains one.")
        orders, log_probabilities, scores = self._policy_.draw(n_orders, numpy_rng(random_state))
        return OrderSample(names, self._places_[orders], log_probabilities, scores)


def _with_papers_defaults(name: PaperName) -> Callable[..., None]:
    """The constructor of CORL with the paper's settings for defaults, as a signature that can be read."""
    settings = paper_options(name, nonlinear=False, pretrained=None)

    @wraps(CORL.__init__)
    def init(self: CORL, *values: Any, **options: Any) -> None:
        CORL.__init__(self, **settings | dict(zip(self.option_names(), values, strict=False)) | options)

    known = signature(CORL.__init__)
    given = [option.replace(default=settings.get(key, option.default)) for key, option in known.parameters.items()]
    init.__signature__ = known.replace(parameters=given)  # type: ignore[attr-defined]
    return init


class CORL1(CORL):
    """CORL-1 of the paper, episodic rewards: :class:`CORL` with the settings of ``CORL.paper("corl-1")``."""

    __init__ = _with_papers_defaults("corl-1")


class CORL2(CORL):
    """CORL-2 of the paper, dense rewards: :class:`CORL` with the settings of ``CORL.paper("corl-2")``.

    Examples
    --------
    >>> CORL2(n_iterations=500)
    CORL2(n_iterations=500)
    >>> CORL2().reward, CORL2().gamma
    ('dense', 0.98)
    """

    __init__ = _with_papers_defaults("corl-2")


def methods() -> dict[str, type[CausalEstimator]]:
    """Every method by name: what :func:`discover` and the command line take.

    "corl-1" and "corl-2" are CORL with the paper's settings; "pc", "ges" and "fci" need ``precede[constraint]``.
    """
    from precede.baselines import METHODS  # here, so that CORL does without what only the others import

    return {"corl": CORL, "corl-1": CORL1, "corl-2": CORL2, **METHODS}


def make_method(method: str, options: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> CausalEstimator:
    """The estimator of a name, with options that it has; one that it does not have is refused.

    Parameters
    ----------
    method : str
    options : mapping
    texts : mapping of str, optional
        Further options as texts, which are read by their declarations: see :func:`precede.options.parsed`.

    Examples
    --------
    >>> make_method("eqvar", {"pruning": "bic"}, {"max_time": "5"})
    EqVar(max_time=5, pruning='bic')
    """
    if texts:
        options = {**options, **parsed(type(make_method(method, {**options, **dict.fromkeys(texts)})), texts)}
    own: dict[str, type[CausalEstimator]] = {"corl": CORL, "corl-1": CORL1, "corl-2": CORL2}
    if method in own and not set(options) - set(own[method].option_names()):
        return own[method](**options)  # without importing what only the other methods need
    known = methods()
    check_choice("method", method, known)
    accepted = known[method].option_names()
    for name in options:
        able = [other for other, cls in known.items() if name in cls.option_names()]
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
