"""PC, GES and FCI through the package causal-learn, under the interface of every other method."""

from __future__ import annotations

import io
from abc import abstractmethod
from contextlib import redirect_stdout
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from precede.arrays import FloatArray, IntArray
from precede.data.load import Table
from precede.errors import OptionError
from precede.estimator import CausalEstimator, FitResult
from precede.graph import MixedGraph
from precede.graph.dags import is_acyclic, topological_order
from precede.knowledge import Constraints, Knowledge, constraints_over
from precede.lazy import pandas as pd
from precede.options import Positive, Range
from precede.pruning.weights import regression_weights
from precede.scores.assumptions import Assumptions
from precede.scores.covariance import covariance, regularized
from precede.strict_json import JsonObject

TestName = Literal["fisherz", "kci"]
Level = Annotated[float, Range(above=0, most=0.5)]

LINEAR = Assumptions("linear", False, "assumed", False, "Independences are judged by partial correlations: every "
    "variable is a weighted sum of its causes plus Gaussian noise. No two independences cancel out.")  # fmt: skip
CURVED = Assumptions("any", False, "free", False, "Independences are judged by kernels, whatever the curves and the "
    "noise. No two independences cancel out.")  # fmt: skip


class CausalLearnMethod(CausalEstimator):
    """What the three share: marks kept as they are, a member of the class for ``graph_``.

    Attributes
    ----------
    marks_ : DataFrame
        One row for each edge: ``first``, ``second``, ``mark`` and ``meaning``. The marks read from first to second:
        ``-->``, ``---``, ``<->``, ``o->``, ``o-o``.
    """

    @abstractmethod
    def _search(self, values: FloatArray, known: Any) -> tuple[IntArray, float]:
        """causal-learn's marks at the ends of the edges, and the score where there is one; higher is better.

        ``known`` is the knowledge in causal-learn's form.
        """

    hidden_causes: ClassVar[bool] = False
    """Whether the method allows for them."""

    def _learn(self, table: Table) -> FitResult:
        if find_spec("causallearn") is None:
            raise OptionError(
                f"{type(self).__name__} comes from the package causal-learn, which is not installed: "
                "pip install 'precede[constraint]'."
            )
        knowledge = getattr(self, "knowledge", None)
        constraints = None if knowledge is None else constraints_over(knowledge, table.names)
        with redirect_stdout(io.StringIO()):  # it prints while it works
            ends, score = self._search(np.array(table.values), _passed_on(constraints))
        d = table.n_variables
        marked = MixedGraph.from_causallearn(ends, table.names)
        edges, whole = marked.member(np.arange(d) if constraints is None else constraints.nearest_order(np.arange(d)))
        remarks = []
        if not whole:
            remarks.append("The marks contradict each other, so no graph has them all: graph_ turns some of them.")
        if constraints is not None and constraints.violated_by(edges):
            mended = constraints.apply(edges)
            edges = mended if is_acyclic(mended) else edges
            remarks.append(
                "causal-learn did not keep to all that is known: graph_ is mended, marks_ is as it was found."
            )
        order = topological_order(edges)
        weights = regression_weights(regularized(covariance(table.values)), order, edges)
        reported: JsonObject = {"hidden": "allowed"} if self.hidden_causes else {}
        reported |= {"identifies": "cpdag", "marks": [list(edge) for edge in marked.edge_list()]}
        reported["remarks"] = remarks + [f"{count} x A {mark} B: {words}." for mark, words, count in marked.legend()]
        assumes = CURVED if getattr(self, "test", None) == "kci" else LINEAR
        assumes = replace(assumes, hidden_causes=self.hidden_causes)
        return FitResult(edges, order, weights, score, diagnostics=reported, assumes=assumes)

    @property
    def marks_(self) -> pd.DataFrame:
        return MixedGraph.from_edges(
            map(tuple, self.diagnostics_["marks"]), sorted(self.graph_.names, key=str)
        ).to_frame()


class TestingMethod(CausalLearnMethod):
    """A method that asks tests of independence.

    Parameters
    ----------
    alpha : float
        Level of each test of independence.
    test : {"fisherz", "kci"}
        Partial correlations, or kernels for curves (slow).
    knowledge : Knowledge, optional
        Passed on as forbidden and required edges.
    """

    alpha: Level = 0.05
    test: TestName = "fisherz"
    knowledge: Knowledge | None = None


class PC(TestingMethod):
    """The PC algorithm (Spirtes, Glymour 1991): edges fall to independences, colliders give directions.

    Assumes that nothing is hidden. Tells the equivalence class (a CPDAG); ``graph_`` is a member of it.

    Parameters
    ----------
    alpha : float
        Level of each test of independence.
    test : {"fisherz", "kci"}
        Partial correlations, or kernels for curves (slow).
    knowledge : Knowledge, optional
        Passed on as forbidden and required edges.
    """

    def _search(self, values: FloatArray, known: Any) -> tuple[IntArray, float]:
        search = import_module("causallearn.search.ConstraintBased.PC").pc
        found = search(values, self.alpha, self.test, background_knowledge=known, show_progress=False)
        return np.asarray(found.G.graph, dtype=np.int64), float("nan")


class FCI(TestingMethod):
    """Fast causal inference (Spirtes, Meek, Richardson 1995): as PC, but causes may be hidden.

    Tells a PAG, whose marks ``marks_`` keeps: ``<->`` is a hidden common cause, a circle is an end that the data leave
    open. ``graph_`` reads a circle as a tail and leaves ``<->`` out.

    Parameters
    ----------
    alpha : float
        Level of each test of independence.
    test : {"fisherz", "kci"}
    knowledge : Knowledge, optional
        Passed on as forbidden and required edges.
    """

    hidden_causes = True

    def _search(self, values: FloatArray, known: Any) -> tuple[IntArray, float]:
        search = import_module("causallearn.search.ConstraintBased.FCI").fci
        graph, _ = search(values, self.test, self.alpha, background_knowledge=known, show_progress=False)
        return np.asarray(graph.graph, dtype=np.int64), float("nan")


class GES(CausalLearnMethod):
    """Greedy equivalence search (Chickering 2002): add the edge that raises BIC most, then take edges away.

    Assumes a linear Gaussian model with nothing hidden. Tells a CPDAG; ``graph_`` is a member of it.

    Parameters
    ----------
    penalty : float
        Of each parameter, in log-rows; a half is BIC.
    """

    assumes = LINEAR
    penalty: Positive = 0.5

    def _search(self, values: FloatArray, known: Any) -> tuple[IntArray, float]:
        search = import_module("causallearn.search.ScoreBased.GES").ges
        found = search(values, "local_score_BIC", lambda_value=self.penalty)
        return np.asarray(found["G"].graph, dtype=np.int64), float(np.ravel(found["score"])[0])


def _passed_on(constraints: Constraints | None) -> Any:
    """The knowledge in causal-learn's form; its variables are X1, X2, ..."""
    if constraints is None:
        return None
    n_variables = len(constraints.required)
    node = import_module("causallearn.graph.GraphNode").GraphNode
    nodes = [node(f"X{k + 1}") for k in range(n_variables)]
    knowledge = import_module("causallearn.utils.PCUtils.BackgroundKnowledge").BackgroundKnowledge()
    for i, j in np.argwhere(~constraints.allowed & ~np.eye(n_variables, dtype=bool)):
        knowledge.add_forbidden_by_node(nodes[i], nodes[j])
    for i, j in np.argwhere(constraints.required):
        knowledge.add_required_by_node(nodes[i], nodes[j])
    return knowledge
