"""PC, GES and FCI as causal-learn runs them, under our interface."""

import numpy as np
import pytest

import precede as pc
from precede.baselines.constraint import FCI, GES, PC

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore"),
]
pytest.importorskip("causallearn")


@pytest.fixture(scope="module")
def data() -> pc.Dataset:
    return pc.simulate(n_variables=6, degree=1, n_samples=2000, random_state=3)


@pytest.mark.parametrize("method", [PC, GES, FCI])
def test_the_class_is_found_under_the_same_interface(method: type, data: pc.Dataset) -> None:
    before = data.data.copy()
    model = method().fit(data.data)
    assert data.data.equals(before)
    assert list(model.adjacency_matrix_.columns) == list(data.data.columns)
    truth, found = data.graph.edges, model.graph_.edges
    assert ((truth | truth.T) == (found | found.T)).mean() > 0.9
    assert set(model.marks_.columns) == {"first", "second", "mark", "meaning"}
    assert len(model.marks_) >= model.graph_.n_edges
    assert any(" x A " in sentence for sentence in model.diagnostics_["remarks"])


def test_ges_has_the_class_of_the_truth(data: pc.Dataset) -> None:
    model = GES().fit(data.data)
    assert pc.evaluate(model.graph_, data.graph).cpdag_shd == 0
    shuffled = GES().fit(data.data[list(data.data.columns[::-1])])
    assert set(map(tuple, shuffled.marks_.to_numpy())) == set(map(tuple, model.marks_.to_numpy()))


@pytest.mark.parametrize("method", [PC, FCI])
def test_knowledge_is_passed_on(method: type, data: pc.Dataset) -> None:
    last = data.graph.order[-1]
    parents = method(knowledge=pc.Knowledge(roots=[last])).fit(data.data).graph_.parents(last)
    assert parents == ()
    cause, effect, _ = data.graph.edge_list()[0]
    for pair in ((cause, effect), (effect, cause)):
        model = method(knowledge=pc.Knowledge(required=[pair])).fit(data.data)
        assert pair[0] in model.graph_.parents(pair[1])


def test_fci_marks_a_hidden_cause() -> None:
    rng = np.random.default_rng(0)
    e = rng.normal(size=(4000, 5))
    hidden = e[:, 4]
    rows = np.column_stack([e[:, 0], e[:, 0] + hidden + e[:, 1], e[:, 3] + hidden + e[:, 2], e[:, 3]])
    model = FCI(alpha=0.01).fit(rows)
    marks = {(row.first, row.second): row.mark for row in model.marks_.itertuples()}
    assert marks[(1, 2)] == "<->"
    assert not model.graph_.edges[1, 2]
    assert not model.graph_.edges[2, 1]


def test_the_command_line_and_compare_take_them(data: pc.Dataset) -> None:
    found = pc.compare(data.data, ["ges", "pc", "eqvar"], verbose=False)
    assert list(found.graphs) == ["ges", "pc", "eqvar"]
    assert pc.discover(data.data, method="ges").n_edges == data.graph.n_edges
