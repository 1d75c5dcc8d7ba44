"""What every method shares: an estimator as scikit-learn has them; ``fit`` checks the data and labels the result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from inspect import get_annotations, signature
from reprlib import Repr
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, dataclass_transform

import numpy as np

from precede.arrays import BoolArray, FloatArray, IntArray
from precede.data.kinds import refuse_categories
from precede.data.load import Table, load_table
from precede.data.table import canonical
from precede.effects import Outcome, causes_of
from precede.errors import DataError, OptionError, is_number
from precede.evidence.checks import CheckContext, Diagnostics
from precede.evidence.checks import diagnose as diagnosed
from precede.evidence.checks.record import signed_strengths
from precede.evidence.confidence import Confidence, bootstrap
from precede.evidence.sample import sample_of
from precede.graph import CausalGraph, MixedGraph
from precede.knowledge import Constraints, constraints_over
from precede.lazy import pandas as pd
from precede.options import check_names, check_options
from precede.runtime import Deadline, Signals, emit, one_thread, stopped_by_signals
from precede.scores.assumptions import Assumptions
from precede.search.record import SearchRecord
from precede.strict_json import JsonObject

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


@dataclass(frozen=True)
class Step:
    """A row of ``history_`` for methods that keep none: it stays empty."""

    iteration: int
    score: float


@dataclass(frozen=True)
class FitResult:
    """What a method found, by column position.

    Parameters
    ----------
    adjacency : (n_variables, n_variables) bool array
        Acyclic; ``[i, j]`` means i -> j.
    order : (n_variables,) int array, optional
        A causal order that agrees with the adjacency; computed when left out.
    weights : (n_variables, n_variables) float array, optional
        Linear weights or strengths of the edges.
    score : float
        What the method maximized; NaN for a method without a score.
    history : sequence of dataclass instances
        One record per iteration or step.
    step : dataclass
        What a record is: ``history_`` has its columns even where there is none.
    diagnostics : dict
        What the method says of itself: ``remarks``, and anything else worth knowing.
    assumes : Assumptions, optional
        What was taken for granted, where it depends on more than the method.
    search : SearchRecord, optional
        How the search went.
    """

    adjacency: BoolArray
    order: IntArray | None = None
    weights: FloatArray | None = None
    score: float = float("nan")
    history: Sequence[DataclassInstance] = ()
    step: type[DataclassInstance] = Step
    diagnostics: JsonObject = field(default_factory=dict)
    assumes: Assumptions | None = None
    search: SearchRecord | None = None

    def pag_of(self, names: Sequence[Hashable]) -> MixedGraph | None:
        """The PAG that was found, where causes may be hidden."""
        allowed = self.assumes is not None and self.assumes.hidden_causes
        return MixedGraph.from_edges(map(tuple, self.diagnostics["marks"]), names) if allowed else None

    def at(self, places: IntArray) -> FitResult:
        """The same for columns in another sequence: the k-th variable here is at ``places[k]`` there."""
        inverse = np.argsort(places)
        grid = np.ix_(inverse, inverse)
        search = self.search
        if search is not None and search.policy_order is not None:
            search = replace(search, policy_order=places[search.policy_order].tolist())
        return replace(
            self,
            adjacency=self.adjacency[grid],
            order=None if self.order is None else places[self.order],
            weights=None if self.weights is None else self.weights[grid],
            search=search,
        )


@dataclass_transform(eq_default=False)
class CausalEstimator:
    """Base of every method: options are stored untouched and checked at ``fit`` (``precede.options``).

    A method declares each option once, as an annotated field (``penalty: Positive = 0.1``), from which the constructor
    follows as a dataclass's does, and implements ``_learn(table) -> FitResult``; the fitted attributes are the same for
    all. What scikit-learn's ``clone``, grid searches and pipelines ask of an estimator is here: to derive from its
    ``BaseEstimator`` would make a fit .6 s slower, all of it import (``docs/decisions/017-what-stays-ours.md``).

    Attributes
    ----------
    graph_ : CausalGraph
    adjacency_matrix_, weights_ : DataFrame
        ``[i, j]`` means i -> j, in the column order of the data.
    causal_order_ : list
        Names (integers for an array), causes first.
    pag_ : MixedGraph
        Where causes may be hidden, what is known; ``graph_`` is then one graph that agrees with it.
    cpdag_ : DataFrame
        The graph's equivalence class: which edges could point either way.
    score_ : float
    history_ : DataFrame
        One row per iteration.
    diagnostics_ : Diagnostics
        What is known about the result, typed; it also reads like a dictionary.
    diagnose : bool or "quick"
        Whether ``fit`` checks the result; "quick" leaves out resampling. An option of CORL, a plain attribute of the
        others.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the data has string names, as in scikit-learn.
    """

    graph_: CausalGraph
    score_: float
    history_: pd.DataFrame
    diagnostics_: Diagnostics
    diagnose: bool | Literal["quick"] = True
    n_features_in_: int
    feature_names_in_: Any
    _places_: IntArray
    assumes: ClassVar[Assumptions] = Assumptions()
    """What the method takes for granted, where its options do not matter."""
    _takes_categories: ClassVar[bool] = False
    _takes_interventions: ClassVar[bool] = False
    _takes_lags: ClassVar[bool] = False
    _keeps_its_best: ClassVar[bool] = False
    """Whether ``_learn`` itself ends with the best so far when it is interrupted."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if get_annotations(cls):
            dataclass(eq=False, repr=False)(cls)

    @classmethod
    def option_names(cls) -> list[str]:
        """Names of the options, in the sequence of the constructor."""
        return [option.name for option in fields(cls)] if is_dataclass(cls) else []

    def get_params(self, deep: bool = True) -> JsonObject:
        """Options by name.

        Parameters
        ----------
        deep : bool
            For scikit-learn; no option is an estimator, so that nothing depends on it.
        """
        return {name: getattr(self, name) for name in self.option_names()}

    def set_params(self, **options: Any) -> Self:
        """Change options; they are checked when they are used."""
        check_names(type(self).__name__, options, self.option_names())
        for name, value in options.items():
            setattr(self, name, value)
        return self

    def unfitted(self) -> Self:
        """A new one with copies of the same options, as scikit-learn's ``clone`` makes it."""
        return type(self)(**deepcopy(self.get_params()))

    def changed_options(self) -> JsonObject:
        """The options that differ from their defaults."""
        defaults = {name: option.default for name, option in signature(type(self)).parameters.items()}
        return {name: value for name, value in self.get_params().items() if not _same(value, defaults[name])}

    def __repr__(self) -> str:
        """The options that differ from their defaults."""
        changed = self.changed_options().items()
        return f"{type(self).__name__}({', '.join(f'{name}={_SHORT.repr(value)}' for name, value in changed)})"

    def _repr_html_(self) -> str:
        """As scikit-learn shows its estimators in a notebook."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn (from 1.6) asks of an estimator: this one takes no target, and tables with gaps."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(None, TargetTags(required=False), input_tags=InputTags(allow_nan=True))

    def _check_together(self) -> None:
        """Refuse options that are fine one by one but not together; each by itself is checked by its declaration."""

    @property
    def _columns_by_name(self) -> bool:
        """Whether columns are sorted by name before the method sees them: then their sequence cannot matter."""
        return True

    @property
    def _rows_by_value(self) -> bool:
        """Whether rows are sorted before the method sees them: then their sequence cannot matter."""
        return False

    def _prepared(self, table: Table) -> Table:
        """The table that is learned from, and resampled: a method may leave out what would mislead it, or refuse."""
        if table.is_wide:
            raise DataError(
                f"the data has {table.n_samples} rows for {table.n_variables} variables, and this method "
                f"({type(self).__name__}) needs more rows than columns: 'corl' does not."
            )
        return table

    def _settled(self, table: Table) -> Self:
        """What is fitted to resamples of the table: a method may fix what it would choose by the data."""
        return self

    @abstractmethod
    def _learn(self, table: Table) -> FitResult:
        """Learn from a checked matrix; must not modify it."""

    def fit(
        self,
        X: Any,
        y: None = None,
        interventions: Any = None,
        lags: int | Literal["auto"] = 0,
        group: str | Sequence[Hashable] | None = None,
    ) -> Self:
        """Learn the causal graph of the columns of ``X``.

        Parameters
        ----------
        X : DataFrame, (n_samples, n_variables) array, polars frame, or path of a CSV or Parquet file
            Never modified.
        y : None
            Ignored, for scikit-learn.
        interventions : column name, sequence or matrix, optional
            Which variables were set in which rows, whatever their causes (see :func:`precede.load_table`).
        lags : int or "auto"
            For time series: how many earlier steps may be causes, "auto" for as many as help to predict. ``graph_`` is
            then the window graph, with columns such as "x[t-1]", and ``summary_graph_`` what causes what at any lag.
        group : column name or sequence, optional
            For panels, whose row each is.
        """
        check_options(type(self), self.get_params(deep=False))
        self._check_together()
        table = load_table(X, interventions=interventions, lags=lags, group=group)
        if table.steps is not None and not self._takes_lags:
            raise OptionError(f"this method ({type(self).__name__}) does not take lags: 'corl' does.")
        if table.targets is not None and not self._takes_interventions:
            raise OptionError(f"this method ({type(self).__name__}) does not take interventions: 'corl' does.")
        if not self._takes_categories:
            refuse_categories(table.names, table.kinds, f"this method ({type(self).__name__})")
        table = self._prepared(table)
        sorted_table, places = canonical(table, columns=self._columns_by_name, rows=self._rows_by_value)
        self._places_ = places
        with stopped_by_signals(Deadline(None)) as signals:
            with nullcontext() if self._keeps_its_best else signals.breaking_off():
                findings = self._learn(sorted_table)
            self._store(table, findings.at(places), signals)
        return self

    bootstrap = bootstrap

    def causes_of(self, outcome: Hashable, confidence: Confidence | None = None) -> Outcome:
        """What causes one variable in the learned graph, the strongest total effect first, and what merely correlates.

        Where the method leaves directions open, possible causes are named with the range of their effects.

        Parameters
        ----------
        outcome : name
        confidence : Confidence, optional
            Of :meth:`bootstrap`.

        Examples
        --------
        >>> from precede import baselines, simulate
        >>> data = simulate(n_variables=4, degree=1, n_samples=500, random_state=0)
        >>> model = baselines.EqVar(verbose=False).fit(data.data)
        >>> last = data.graph.order[-1]
        >>> {cause.variable for cause in model.causes_of(last).causes} == set(data.graph.ancestors(last))
        True
        """
        graph, known = self.graph_, self.diagnostics_
        shares = np.zeros(graph.edges.shape)
        for edge in known.edges:
            shares[edge.cause, edge.effect] = edge.confidence or 0.0
        return causes_of(
            graph, outcome, None, confidence, known["identifies"] == "cpdag",
            shares=shares if known.has_confidence else None,
        )  # fmt: skip

    if not TYPE_CHECKING:  # to a type checker only the declared attributes exist

        def __getattr__(self, name: str) -> Any:
            """A fitted attribute that is asked for too early is refused as scikit-learn does."""
            learned = name.endswith("_") and not name.startswith("_")
            if learned and "graph_" not in vars(self):
                from sklearn.exceptions import NotFittedError  # here: it brings all of scikit-learn

                raise NotFittedError(
                    f"this {type(self).__name__} is not fitted yet: call fit before asking for {name}."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _store(self, table: Table, findings: FitResult, signals: Signals) -> None:
        graph = CausalGraph.from_matrix(findings.adjacency, findings.weights, findings.order, table.names)
        learned = self._learned(table, findings, graph)
        fixed = learned.told if learned.told.any() else None
        sample = sample_of(table.values, table.kinds, table.targets, table.gaps)
        self.graph_ = replace(
            graph,
            sample=sample,
            lags=table.steps,
            fixed_directions=fixed,
            open_directions=learned.open_directions,
            pag=findings.pag_of(table.names),
        )
        self.score_ = float(findings.score)
        columns = [field.name for field in fields(findings.step)]
        self.history_ = pd.DataFrame(list(findings.history), columns=columns)
        self.n_features_in_ = len(table.names)
        if table.labeled:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        emit(self.graph_)
        # last: the rest is safe by then; many small regressions, for which a second thread would wait more than help
        with one_thread():
            self.diagnostics_ = diagnosed(learned, self.diagnose, signals)
        read = [(edge.cause, edge.effect, edge.strength, edge.trend) for edge in self.diagnostics_.edges]
        if read:
            strengths, resampled = signed_strengths(read, len(table.names)), self.diagnostics_.resampled
            self.graph_ = replace(self.graph_, standardized=strengths, resampled=resampled)

    def _learned(self, table: Table, findings: FitResult, graph: CausalGraph) -> CheckContext:
        """The record that the checks read."""
        options = self.get_params(deep=False)
        assumes = findings.assumes or self.assumes
        reported = {"identifies": assumes.identifies, **findings.diagnostics}
        search = findings.search
        if search is not None:
            reported["search"] = search.to_dict()
        elif np.isfinite(findings.score):
            search = SearchRecord(float(findings.score))
        rule = {name: options[name] for name in ("threshold", "cutoff") if is_number(options.get(name))}
        return CheckContext(
            table,
            graph.edges,
            graph.positions,
            findings.weights,
            score=reported.get("score"),
            noise=str(options.get("noise", "auto")),
            assumptions=assumes,
            identifies=str(reported["identifies"]),
            search=search,
            pruning=str(options.get("pruning", "auto")),
            constraints=self._constraints(table),
            seed=int(seed) if is_number(seed := options.get("random_state"), whole=True) else 0,
            max_time=options.get("max_time"),
            reported=reported,
            **rule,
        )

    def _constraints(self, table: Table) -> Constraints:
        """What knowledge and time say."""
        known = self.get_params(deep=False).get("knowledge")
        return constraints_over(known, table.names).in_time(table.steps, table.names)

    @property
    def pag_(self) -> MixedGraph:
        """What is known where causes may be hidden: ``CORL(hidden="allowed")`` and FCI."""
        if self.graph_.pag is None:
            raise OptionError(f"this {type(self).__name__} took no hidden causes into account: hidden='allowed' does.")
        return self.graph_.pag

    @property
    def adjacency_matrix_(self) -> pd.DataFrame:
        """Labeled adjacency, ``[i, j] = 1`` means i -> j."""
        return self.graph_.adjacency

    @property
    def weights_(self) -> pd.DataFrame:
        """Labeled weights, in the orientation of the adjacency."""
        return self.graph_.weights

    @property
    def causal_order_(self) -> list[Hashable]:
        """Variables in causal order, causes first."""
        return list(self.graph_.order)

    @property
    def summary_graph_(self) -> pd.DataFrame:
        """What causes what at any lag, ``[i, j] = 1`` for i -> j; with lags it may have cycles, and i may cause itself.

        Without lags, the adjacency.
        """
        lags = self.graph_.lags
        if lags is None:
            return self.graph_.adjacency
        d = lags.count(0)
        edges = self.graph_.edges[:, np.flatnonzero(np.array(lags) == 0)]
        at_any_lag = np.any([edges[k : k + d] for k in range(0, len(edges), d)], axis=0)
        names = list(self.graph_.names[:d])
        return pd.DataFrame(at_any_lag.astype(np.int64), index=names, columns=names)

    @property
    def cpdag_(self) -> pd.DataFrame:
        """Equivalence class of the graph: 1 at both ``[i, j]`` and ``[j, i]`` where the edge could point either way.

        Of equivalent graphs those count that interventions, time and background knowledge permit. It is all that a
        score with ``diagnostics_["identifies"] == "cpdag"`` can tell.
        """
        return pd.DataFrame(self.graph_.pattern, index=self.graph_.names, columns=self.graph_.names)


def _same(value: object, default: object) -> bool:
    """Whether an option is left as it was; what cannot be compared was not."""
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except (TypeError, ValueError):
        return False
