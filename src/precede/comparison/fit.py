"""Fit several methods to the same data and compare what they find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import joblib

from precede.comparison.compare import Comparison
from precede.corl import make_method
from precede.data.load import load_table
from precede.errors import OptionError, PrecedeError
from precede.estimator import CausalEstimator
from precede.graph import CausalGraph
from precede.options import Options
from precede.runtime.device import one_thread
from precede.runtime.progress import ProgressBar
from precede.runtime.randomness import RandomState, numpy_rng

Members = Sequence[str | CausalEstimator] | Mapping[str, Options | CausalEstimator]


def compare(
    data: Any,
    methods: Members = ("corl", "direct-lingam", "notears", "cam", "r2-sort-regress"),
    weights: Mapping[str, float] | None = None,
    n_jobs: int = 1,
    random_state: RandomState = None,
    verbose: bool = True,
) -> Comparison:
    """Fit several methods side by side: where do they agree, and what do they add up to?

    Parameters
    ----------
    data : as for ``fit``
    methods : sequence of names and estimators, or dict of label to options or estimator
        Names are those of :func:`precede.methods`; with a dict a label that is such a name has its options as value.
    weights : dict of label to number, optional
        How much each method counts. When left out, by how well it agrees with the consensus.
    n_jobs : int
        Processes; -1 for one per core. Each method computes on one thread, so that the result is the same.
    random_state : int, Generator or None
        Seeds every method that takes one.
    verbose : bool
        Show progress.

    Returns
    -------
    Comparison
        A method that cannot take the data is left out, with a remark.

    Examples
    --------
    >>> import precede as pc
    >>> data = pc.simulate(n_variables=5, degree=1, n_samples=500, random_state=0)
    >>> found = pc.compare(data.data, ["eqvar", "sort-regress", "notears"], verbose=False)
    >>> pc.evaluate(found.consensus, data.graph).shd
    0
    """
    members = _members(methods)
    table = load_table(data)
    seeds = numpy_rng(random_state).integers(2**31, size=len(members))
    for (_, model), seed in zip(members.items(), seeds, strict=True):
        own = {"verbose": False, **({} if random_state is None else {"random_state": int(seed)})}
        model.set_params(**{name: value for name, value in own.items() if name in model.get_params(deep=False)})
    fit = joblib.delayed(_fitted)
    found: dict[str, CausalGraph | PrecedeError] = {}
    with ProgressBar("comparing methods", len(members), verbose) as progress:
        jobs = (fit(label, model, table) for label, model in members.items())
        for label, graph in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            found[label] = graph
            progress.update(len(found), last=label)
    graphs = {label: found[label] for label in members if not isinstance(found[label], PrecedeError)}
    failed = [f"{label} was left out: {found[label]}" for label in members if isinstance(found[label], PrecedeError)]
    if len(graphs) < 2:
        raise OptionError(f"fewer than two methods could take the data. {' '.join(failed)}")
    if weights is not None:
        weights = {label: weight for label, weight in weights.items() if label not in found or label in graphs}
    rules = [getattr(model, "knowledge", None) for label, model in members.items() if label in graphs]
    return Comparison.of(graphs, weights, failed, rules)


def _members(methods: Members) -> dict[str, CausalEstimator]:
    """Estimators by label."""
    members: dict[str, CausalEstimator] = {}
    pairs = methods.items() if isinstance(methods, Mapping) else [(_label(one), one) for one in methods]
    for label, value in pairs:
        if label in members:
            raise OptionError(f"two methods are called {label!r}: give a dict with a label for each.")
        if isinstance(value, CausalEstimator):
            members[label] = value
            continue
        members[label] = make_method(label, value if isinstance(value, dict) else {})
    return {label: model.__class__(**model.get_params(deep=False)) for label, model in members.items()}


def _label(member: str | CausalEstimator) -> str:
    return member if isinstance(member, str) else type(member).__name__


def _fitted(label: str, model: CausalEstimator, table: Any) -> tuple[str, CausalGraph | PrecedeError]:
    """A method's graph, or why it has none."""
    with one_thread():
        try:
            return label, model.fit(table).graph_
        except PrecedeError as error:
            return label, error
