"""Every method by name, and one call that learns a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from precede.corl.estimator import CORL, CORL1, CORL2
from precede.errors import KnowledgeError, OptionError, check_choice, listed
from precede.estimator import CausalEstimator
from precede.graph import CausalGraph
from precede.options import check_names


def methods() -> dict[str, type[CausalEstimator]]:
    """Every method by name: what :func:`discover` and the command line take.

    "corl-1" and "corl-2" are CORL with the paper's settings; "pc", "ges" and "fci" need ``precede[constraint]``.
    """
    from precede.baselines import METHODS  # here, so that CORL does without what only the others import

    return {"corl": CORL, "corl-1": CORL1, "corl-2": CORL2, **METHODS}


def make_method(method: str, options: Mapping[str, Any]) -> CausalEstimator:
    """The estimator of a name, with options that it has; one that it does not have is refused.

    Examples
    --------
    >>> make_method("eqvar", {"pruning": "bic"})
    EqVar(pruning='bic')
    """
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
