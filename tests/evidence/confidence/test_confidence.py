"""Confidence: seeded, the same for any number of jobs, resumable, and right where the answer is known."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import precede.evidence.confidence.resampling as resampling
from precede import CORL, simulate
from precede.baselines import EqVar, RandomOrder, SortRegress
from precede.errors import DataError, OptionError, PrecedeError
from precede.evidence.confidence import Confidence, OrderSample
from precede.evidence.confidence.confidence import precedence_shares
from precede.evidence.confidence.resampling import draw_rows
from precede.graph.dags import ancestors, full_dag
from precede.scores.linear import LinearScore

QUICK: dict[str, Any] = {
    "score": "linear", "encoder": "null", "decoder": "mlp", "n_iterations": 10, "batch_size": 8, "n_encoder_rows": 8,
    "verbose": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return simulate(n_variables=5, degree=1, n_samples=300, random_state=0).data


# --- counting ---


@given(st.lists(st.permutations(range(4)), min_size=1, max_size=6), st.integers(0, 2**20))
@settings(max_examples=30, deadline=None)
def test_probabilities_are_shares(orders: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = [full_dag(np.array(order)) & (rng.random((4, 4)) < 0.5) for order in orders]
    found = Confidence.of("abcd", graphs, [np.array(order) for order in orders])
    edge, path, before = (
        frame.to_numpy() for frame in (found.edge_probability, found.ancestor_probability, found.order_probability)
    )
    np.testing.assert_allclose(edge, sum(g.astype(float) for g in graphs) / len(graphs))
    np.testing.assert_allclose(path, sum(ancestors(g).astype(float) for g in graphs) / len(graphs))
    assert (edge <= path + 1e-12).all()
    assert (path <= before + 1e-12).all()
    np.testing.assert_allclose(before + before.T, 1 - np.eye(4))
    assert 0.5 <= found.order_agreement <= 1 + 1e-12
    assert sum(g.count for g in found.graphs) == len(graphs)
    again = Confidence.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert list(again.edge_probability.columns) == list("abcd")


def test_a_class_counts_and_not_its_member() -> None:
    """Of two members of a class, each drawn once, the same answer was found twice."""
    chain = np.array([[0, 1], [0, 0]], bool)
    orders = [np.array([0, 1]), np.array([1, 0]), np.array([0, 1])]
    found = Confidence.of("ab", [chain, chain.T, chain], orders, loose=[chain, chain.T, None])
    np.testing.assert_allclose(found.edge_probability, [[0, 2 / 3], [1 / 3, 0]])
    np.testing.assert_allclose(found.ancestor_probability, [[0, 2 / 3], [1 / 3, 0]])
    assert [one.count for one in found.graphs] == [2, 1]
    again = Confidence.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.graphs[0].graph.pattern.tolist() == [[0, 1], [1, 0]]


def test_a_path_with_open_directions_counts_a_half() -> None:
    edges = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]], bool)  # 0 -> 1 <- 2 - 3
    loose = np.zeros((4, 4), bool)
    loose[2, 3] = True
    found = Confidence.of("abcd", [edges], [np.array([0, 2, 1, 3])], loose=[loose]).ancestor_probability
    assert (found.loc["a", "b"], found.loc["c", "d"], found.loc["d", "c"], found.loc["d", "b"]) == (1, 0.5, 0.5, 0.5)
    assert found.loc["a", "c"] == 0


def test_resamples_of_a_class_know_no_direction(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    frame = pd.DataFrame({"a": a, "b": a + rng.normal(size=400)})
    model = CORL("sparse-linear", search="local", verbose=False, random_state=0)
    found = model.bootstrap(frame, n_resamples=4, checkpoint=tmp_path / "journal")
    np.testing.assert_array_equal(found.edge_probability, [[0, 0.5], [0.5, 0]])
    assert found.graphs[0].count == 4
    again = model.bootstrap(frame, n_resamples=4, checkpoint=tmp_path / "journal")  # as the journal keeps it
    assert again.to_json() == found.to_json()
    graph = model.fit(frame).graph_
    effect = graph.effect(*graph.order, confidence=found)
    assert effect.probability == pytest.approx(0.5)  # no effect in the other member of the class
    assert effect.interval[0] <= 0 < effect.value < effect.interval[1]


@pytest.mark.parametrize("sem", ["lingam", "gp"])
def test_resamples_are_judged_by_the_model_that_was_fitted(sem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = simulate(n_variables=4, degree=1, sem=sem, n_samples=200, random_state=0).data
    model = CORL(random_state=0, verbose=False, diagnose=False).fit(frame)
    judged: list[object] = []
    learn = CORL._learn

    def watched(self: CORL, table: Any) -> Any:
        judged.append(self.score)
        return learn(self, table)

    monkeypatch.setattr(CORL, "_learn", watched)
    model.bootstrap(frame, n_resamples=2, random_state=0)
    assert judged == [model.diagnostics_["score"]] * 2
    assert model.score == "auto"


def test_agreement_by_hand() -> None:
    nothing = np.zeros((2, 2), bool)
    orders = [np.array(o) for o in ([0, 1], [0, 1], [0, 1], [1, 0])]
    assert Confidence.of("ab", [nothing] * 4, orders).order_agreement == pytest.approx(0.75**2 + 0.25**2)
    assert Confidence.of("ab", [nothing] * 3, orders[:3]).order_agreement == 1


def test_frequent_graphs_come_first() -> None:
    one, two = np.array([[0, 1], [0, 0]], bool), np.zeros((2, 2), bool)
    found = Confidence.of("ab", [two, one, one], [np.array([0, 1])] * 3)
    assert [g.count for g in found.graphs] == [2, 1]
    assert found.graphs[0].graph.edges.tolist() == one.tolist()
    assert found.edge_list() == [("a", "b", pytest.approx(2 / 3))]
    assert found.edge_list(at_least=0.7) == []


@pytest.mark.parametrize(
    "text",
    ["{", "{}", '{"format": "precede-confidence"}', '{"format": "precede-confidence", "version": 1}', "nowhere.json"],
)
def test_bad_json_gets_a_sentence(text: str) -> None:
    with pytest.raises(PrecedeError):
        Confidence.from_json(text)


@pytest.mark.parametrize("name", ["edge_probability", "n_resamples", "names", "graphs", "order_agreement", "remarks"])
@pytest.mark.parametrize("value", [None, -1, 10**400, float("nan"), [], {}, "text", [[2.0, 0.0], [0.0, 0.0]], [None]])
def test_damaged_json_is_read_or_refused_in_a_sentence(name: str, value: object) -> None:
    document = json.loads(Confidence.of("ab", [np.zeros((2, 2), bool)], [np.array([1, 0])]).to_json())
    try:
        again = Confidence.from_json(json.dumps(document | {name: value}))
    except PrecedeError:
        return
    assert again.edge_probability.to_numpy().max() <= 1
    json.loads(again.to_json(), parse_constant=pytest.fail)


def test_json_files(tmp_path: Path) -> None:
    found = Confidence.of([0, 1], [np.zeros((2, 2), bool)], [np.array([1, 0])], ["a remark"])
    found.to_json(tmp_path / "c.json")
    again = Confidence.from_json(tmp_path / "c.json")
    assert again.remarks == ("a remark",)
    assert list(again.order_probability.columns) == [0, 1]
    with pytest.raises(DataError, match="misshapen"):
        Confidence.from_json(found.to_json().replace('"n_resamples": 1', '"n_resamples": null'))


# --- resampling ---


def test_rows_and_blocks() -> None:
    rng = np.random.default_rng(0)
    rows = draw_rows(50, None, rng)
    assert len(rows) == 50
    assert len(set(rows.tolist())) < 50
    blocks = draw_rows(50, 7, rng)
    assert len(blocks) == 50
    assert 0 <= blocks.min() <= blocks.max() < 50
    for start in range(0, 49, 7):
        assert (np.diff(blocks[start : start + 7]) == 1).all()
    starts = {int(draw_rows(10, 9, rng)[0]) for _ in range(60)}
    assert starts == {0, 1}  # the last rows can be reached too


def test_the_same_seed_gives_the_same_whatever_the_jobs(data: pd.DataFrame, tmp_path: Path) -> None:
    model = CORL(**QUICK)
    one = model.bootstrap(data, n_resamples=6, random_state=1)
    two = model.bootstrap(data, n_resamples=6, random_state=1, n_jobs=2)
    assert one.to_json() == two.to_json()
    assert one.n_resamples == 6
    assert not hasattr(model, "graph_")
    other = model.bootstrap(data, n_resamples=6, random_state=2)
    assert other.to_json() != one.to_json()


def test_the_methods_own_seed_serves(data: pd.DataFrame) -> None:
    one, two = (RandomOrder(random_state=4, verbose=False).bootstrap(data, n_resamples=4) for _ in range(2))
    assert one.to_json() == two.to_json()
    orders = one.order_probability.to_numpy()
    assert ((orders > 0) & (orders < 1)).any()  # yet every resample has a seed of its own


def test_clear_edges_are_certain_and_noise_is_not(data: pd.DataFrame) -> None:
    found = EqVar(verbose=False).bootstrap(data, n_resamples=20, random_state=0)
    truth = simulate(n_variables=5, degree=1, n_samples=300, random_state=0).graph.edges
    assert (found.edge_probability.to_numpy()[truth] > 0.9).all()
    assert found.edge_probability.to_numpy()[~truth].mean() < 0.1


def test_blocks_keep_neighbors_together() -> None:
    """In a series that drifts, single rows make the sort of variances look surer than blocks do."""
    rng = np.random.default_rng(3)
    walks = np.cumsum(rng.normal(size=(400, 3)), axis=0)
    rows, blocks = (
        SortRegress(verbose=False).bootstrap(walks, n_resamples=30, random_state=0, block=block)
        for block in (None, 100)
    )
    assert blocks.order_agreement < rows.order_agreement


def test_the_data_and_the_model_are_left_alone(data: pd.DataFrame) -> None:
    model = EqVar(verbose=False).fit(data)
    edges, pristine = model.graph_.edges.copy(), data.copy(deep=True)
    model.bootstrap(data.sample(frac=0.3, random_state=0), n_resamples=2, random_state=0)
    np.testing.assert_array_equal(model.graph_.edges, edges)
    pd.testing.assert_frame_equal(data, pristine)


def test_progress_is_silent_when_told(data: pd.DataFrame, capfd: pytest.CaptureFixture[str]) -> None:
    EqVar(verbose=False).bootstrap(data, n_resamples=2)
    EqVar(verbose=True).bootstrap(data, n_resamples=2, verbose=False)
    assert capfd.readouterr() == ("", "")


# --- resamples that cannot be used ---


def rare(n_ones: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["rare"] = (np.arange(60) < n_ones).astype(float)
    return frame


def test_constant_columns_are_drawn_again_and_said() -> None:
    found = EqVar(verbose=False).bootstrap(rare(1), n_resamples=20, random_state=0)
    assert found.n_resamples == 20
    assert "resamples were drawn again" in found.remarks[0]


def test_hopeless_columns_get_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "MOST_DRAWS", 1)
    with pytest.raises(DataError, match=r"column 'rare' is constant.*leave it out, or add rows"):
        EqVar(verbose=False).bootstrap(rare(1), n_resamples=20, random_state=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples=0"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": "all"}, "n_jobs='all'"),
        ({"block": 300}, "block=300.*300 rows"),
        ({"block": -2}, "block=-2"),
    ],
)
def test_bad_options_are_named(data: pd.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        EqVar(verbose=False).bootstrap(data, **options)


def test_a_score_made_from_the_data_is_refused(data: pd.DataFrame) -> None:
    model = CORL(**{**QUICK, "score": LinearScore(data.to_numpy())})
    with pytest.raises(OptionError, match="give its name, score='linear'"):
        model.bootstrap(data)


def test_a_cluster_without_dask_gets_a_sentence(data: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match=r"install precede\[cluster\]"):
        EqVar(verbose=False).bootstrap(data, cluster="tcp://localhost:1")


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_gives_the_same(data: pd.DataFrame) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        there = EqVar(verbose=False).bootstrap(
            data, n_resamples=6, n_jobs=2, random_state=1, cluster=cluster.scheduler_address
        )
    assert there.to_json() == EqVar(verbose=False).bootstrap(data, n_resamples=6, random_state=1).to_json()


# --- a killed run goes on ---


class Killed(BaseException):
    """Ends a run as a kill would: nothing catches it."""


def interrupted(data: pd.DataFrame, path: Path, after: int, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    original, calls = EqVar._learn, [0]

    def dying(self: EqVar, table: Any) -> Any:
        if calls[0] == after:
            raise Killed
        calls[0] += 1
        return original(self, table)

    with monkeypatch.context() as patch:
        patch.setattr(EqVar, "_learn", dying)
        with pytest.raises(Killed):
            EqVar(verbose=False).bootstrap(data, checkpoint=path, **options)


def test_a_killed_run_resumes(data: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = EqVar(verbose=False).bootstrap(data, n_resamples=8, random_state=5)
    path = tmp_path / "journal.jsonl"
    interrupted(data, path, 3, monkeypatch, n_resamples=8, random_state=5)
    lines = path.read_text().splitlines()
    assert [json.loads(line)["resample"] for line in lines[1:]] == [0, 1, 2]
    with path.open("a") as file:
        file.write(lines[-1][:20])  # torn
    interrupted(data, path, 2, monkeypatch, n_resamples=8, random_state=5)
    resumed = EqVar(verbose=False).bootstrap(data, n_resamples=8, random_state=5, checkpoint=path)
    assert resumed.to_json() == whole.to_json()
    fits: list[int] = []
    monkeypatch.setattr(resampling, "fit_resample", lambda *a: fits.append(1))
    EqVar(verbose=False).bootstrap(data, n_resamples=8, random_state=5, checkpoint=path)
    assert not fits  # all are there


def test_more_resamples_may_follow(data: pd.DataFrame, tmp_path: Path) -> None:
    path, model = tmp_path / "journal.jsonl", EqVar(verbose=False)
    first = model.bootstrap(data, n_resamples=3, checkpoint=path)  # without a seed: the file keeps the one it drew
    more = model.bootstrap(data, n_resamples=6, checkpoint=path)
    assert more.n_resamples == 6
    assert model.bootstrap(data, n_resamples=3, checkpoint=path).to_json() == first.to_json()


def test_a_journal_of_something_else_is_refused(data: pd.DataFrame, tmp_path: Path) -> None:
    path, model = tmp_path / "journal.jsonl", EqVar(verbose=False)
    model.bootstrap(data, n_resamples=2, checkpoint=path, random_state=0)
    for options, found, what in (
        ({"random_state": 1}, data, "random_state"),
        ({"random_state": 0, "block": 10}, data, "block"),
        ({"random_state": 0}, data * 2, "data"),
    ):
        with pytest.raises(OptionError, match=f"other '{what}'"):
            model.bootstrap(found, n_resamples=2, checkpoint=path, **options)
    with pytest.raises(OptionError, match="other 'method', 'settings'"):
        SortRegress(verbose=False).bootstrap(data, n_resamples=2, checkpoint=path, random_state=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a bootstrap"),
        (b"\x00\xff\n", "not a bootstrap"),
        (b"[]\n", "not a bootstrap"),
        (b'{"format": "precede-bootstrap", "version": 7}\n', "version 7"),
        (b'HEADER\n{"resample": 0}\n', "damaged in line 2"),
        (b'HEADER\n{"resample": 0, "order": [0, 0, 1, 2, 3], "edges": [], "redraws": 0}\n', "damaged in line 2"),
        (b'HEADER\n{"resample": 0, "order": [0, 1, 2, 3, 4], "edges": [[0, 9]], "redraws": 0}\n', "damaged in line 2"),
        (b"HEADER\nnonsense\n{}\n", "damaged in line 2"),
    ],
)
def test_damaged_journals_get_a_sentence(data: pd.DataFrame, tmp_path: Path, content: bytes, message: str) -> None:
    path, model = tmp_path / "journal.jsonl", EqVar(verbose=False)
    model.bootstrap(data, n_resamples=1, checkpoint=path, random_state=0)
    header = path.read_bytes().split(b"\n")[0]
    path.write_bytes(content.replace(b"HEADER", header))
    with pytest.raises(OptionError, match=message):
        model.bootstrap(data, n_resamples=2, checkpoint=path, random_state=0)


def test_parts_done_elsewhere_are_put_together(data: pd.DataFrame, tmp_path: Path, monkeypatch: Any) -> None:
    path, model = tmp_path / "journal.jsonl", EqVar(verbose=False)
    whole = model.bootstrap(data, n_resamples=7, random_state=5)
    for shard, numbers in (("1/3", 3), ("3/3", 2), ("2/3", 2)):
        part = model.bootstrap(data, n_resamples=7, random_state=5, checkpoint=path, shard=shard)
        assert part.n_resamples == numbers
    with (tmp_path / "journal.2-of-3.jsonl").open("ab") as file:
        file.write(b"a line that is being wri")
    size = (tmp_path / "journal.2-of-3.jsonl").stat().st_size
    monkeypatch.setattr(resampling, "fit_resample", None)  # nothing is left to do
    together = model.bootstrap(data, n_resamples=7, random_state=5, checkpoint=path)
    assert together.to_json() == whole.to_json()
    assert (tmp_path / "journal.2-of-3.jsonl").stat().st_size == size
    path.unlink()
    with pytest.raises(OptionError, match="made with other 'random_state'"):
        model.bootstrap(data, n_resamples=7, random_state=6, checkpoint=path)


def test_a_part_needs_a_file_and_a_seed(data: pd.DataFrame, tmp_path: Path) -> None:
    for options in ({"checkpoint": tmp_path / "journal"}, {"random_state": 0}):
        with pytest.raises(OptionError, match="needs checkpoint=FILE and random_state=NUMBER"):
            EqVar(verbose=False).bootstrap(data, n_resamples=2, shard="1/2", **options)


def test_an_unwritable_journal(data: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written"):
        EqVar(verbose=False).bootstrap(data, checkpoint=tmp_path / "nowhere" / "j")


def test_an_interrupted_fit_is_not_counted(data: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CORL keeps its best on Ctrl-C; a bootstrap must not take that for a finished resample."""

    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("precede.search.train.Trainer.step", interrupt)
    path = tmp_path / "journal"
    with pytest.raises(KeyboardInterrupt):
        CORL(**QUICK).bootstrap(data, n_resamples=3, checkpoint=path)
    assert len(path.read_text().splitlines()) == 1  # the header


# --- orders drawn from the policy ---


@pytest.fixture(scope="module")
def fitted(data: pd.DataFrame) -> CORL:
    return CORL(random_state=0, **{**QUICK, "n_iterations": 30}).fit(data)


def test_orders_come_with_their_scores(data: pd.DataFrame, fitted: CORL) -> None:
    import torch

    drawn = fitted.sample_orders(300, random_state=1)
    assert drawn.orders.shape == (300, 5)
    assert (np.sort(drawn.orders, axis=1) == np.arange(5)).all()
    score = LinearScore(data.to_numpy())
    expected = score.total(score.terms(torch.from_numpy(drawn.orders)).sum(1)).numpy()
    np.testing.assert_allclose(drawn.scores, expected)
    assert (drawn.log_probabilities < 0).all()
    np.testing.assert_array_equal(fitted.sample_orders(300, random_state=1).orders, drawn.orders)
    assert not np.array_equal(fitted.sample_orders(300, random_state=2).orders, drawn.orders)


def test_weighting_moves_towards_the_score(fitted: CORL) -> None:
    drawn = fitted.sample_orders(400, random_state=0)
    best = drawn.orders[drawn.scores.argmax()]
    agreement = full_dag(best)
    plain, weighted = (drawn.order_probability(w).to_numpy()[agreement].mean() for w in (False, True))
    assert weighted > plain
    assert 1 <= drawn.effective_size() <= 400


def test_weights_by_hand() -> None:
    """Under a uniform proposal the weights are the softmax of the scores; a likelier draw counts less."""
    orders = np.array([[0, 1], [1, 0]])
    sample = OrderSample((0, 1), orders, np.log([0.5, 0.5]), np.log([3.0, 1.0]))
    np.testing.assert_allclose(sample.weights(), [0.75, 0.25])
    np.testing.assert_allclose(sample.order_probability(weighted=True).to_numpy(), [[0, 0.75], [0.25, 0]])
    skewed = OrderSample((0, 1), orders, np.log([0.9, 0.1]), np.log([1.0, 1.0]))
    np.testing.assert_allclose(skewed.weights(), [0.1, 0.9])
    assert sample.effective_size() == pytest.approx(1 / (0.75**2 + 0.25**2))
    np.testing.assert_allclose(precedence_shares(orders), [[0, 0.5], [0.5, 0]])


@pytest.mark.parametrize("inputs", ["fixed", "resample"])
def test_a_fitted_model_can_be_pickled(data: pd.DataFrame, inputs: str) -> None:
    model = CORL(random_state=0, inputs=inputs, **QUICK).fit(data)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.sample_orders(20, random_state=3).orders, model.sample_orders(20, random_state=3).orders
    )


def test_refusals(data: pd.DataFrame, fitted: CORL) -> None:
    with pytest.raises(OptionError, match="no policy to draw from"):
        CORL(score="linear", search="exact", diagnose=False, verbose=False).fit(data).sample_orders()
    with pytest.raises(OptionError, match="n_orders=0"):
        fitted.sample_orders(0)


@pytest.mark.parametrize("loose", [0, False, 7, [[0]], [[0, 1]]])
def test_open_directions_of_a_damaged_journal_are_refused(loose: object) -> None:
    """Found by benchmarks/fuzz.py: 0 was taken for none, and failed later."""
    whole = {"resample": 0, "order": [0, 1, 2], "edges": [[0, 2]], "redraws": 0}
    assert resampling._outcome(json.dumps({**whole, "open": [[0, 2]]}).encode(), 3)["open"] == [[0, 2]]
    with pytest.raises(OptionError):
        resampling._outcome(json.dumps({**whole, "open": loose}).encode(), 3)
