"""A summary may be edited, damaged or hostile: each is one sentence, and nothing in it runs."""

import base64
import copy
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import precede
from precede.baselines import DirectLiNGAM, EqVar
from precede.corl import CORL
from precede.data.load import load_table
from precede.errors import OptionError, PrecedeError
from precede.knowledge import Knowledge
from precede.report import Heading, Provenance, rebuild_report, render_report, summarize
from precede.report.collect import code_for
from precede.simulation import simulate

WHEN = Provenance("2026-01-01 00:00 UTC", "three.csv", "precede discover three.csv --note '<b>'")


@pytest.fixture(scope="module")
def table():
    return load_table(simulate(n_variables=3, degree=1, n_samples=200, random_state=0).data)


@pytest.fixture(scope="module")
def model(table):
    return CORL(score="linear", n_iterations=3, batch_size=8, random_state=0, verbose=False).fit(table)


@pytest.fixture(scope="module")
def summary(model, table):
    truth = simulate(n_variables=3, degree=1, n_samples=200, random_state=0).graph
    return summarize(model, table, truth, heading=Heading("three", "A note.", rows=True), provenance=WHEN)


def places(value, path=()):
    """Every place in nested lists and dictionaries, of long lists the first only."""
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*path, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def changed(summary, path, how):
    result = copy.deepcopy(summary)
    if not path:
        return how(result)
    parent = result
    for step in path[:-1]:
        parent = parent[step]
    if how is None:
        del parent[path[-1]]
    else:
        parent[path[-1]] = how(parent[path[-1]])
    return result


EVIL = '<img src=x onerror="alert(1)">'
MUTATIONS = {
    "gone": None,
    "null": lambda value: None,
    "text": lambda value: EVIL,
    "minus": lambda value: -1,
    "huge": lambda value: 10**400,
    "large": lambda value: 1e300,
    "infinite": lambda value: float("inf"),
    "true": lambda value: True,
    "list": lambda value: [],
    "wrapped": lambda value: [value],
    "object": lambda value: {},
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_damaged_summary_is_a_page_or_a_sentence(summary, name, tmp_path):
    said = []
    for path in places(summary):
        damaged = changed(summary, path, MUTATIONS[name]) if path or MUTATIONS[name] else None
        (tmp_path / "summary.json").write_text(json.dumps(damaged))
        try:
            page = rebuild_report(tmp_path).read_text()
            assert EVIL not in page
        except PrecedeError as error:
            said.append(str(error))
    assert len(said) > 40
    assert all("\n" not in sentence and len(sentence) < 600 for sentence in said)


@pytest.mark.parametrize("place", [0, -1])
def test_what_only_some_variables_have_is_no_traceback(summary, place, tmp_path):
    nodes = [dict(node) for node in summary["nodes"]]
    del nodes[place]["levels"]
    (tmp_path / "summary.json").write_text(json.dumps({**summary, "nodes": nodes}))
    assert "</html>" in rebuild_report(tmp_path).read_text()


def test_nothing_of_a_summary_reaches_the_page_as_markup(summary):
    """A place, mean or count of a variable that is text was once put into the page's markup as it stood."""
    damaged = copy.deepcopy(summary)
    damaged["nodes"][0]["place"] = EVIL
    with pytest.raises(OptionError, match=re.escape("'nodes[0].place' should be a whole number")):
        render_report(damaged)
    named = copy.deepcopy(summary)
    named["nodes"][0]["name"] = named["title"] = named["note"] = EVIL
    named["remarks"] = [{"name": EVIL, "value": None, "sentence": EVIL, "level": "warning", "remedy": EVIL}]
    named["settings"] = {EVIL: EVIL}
    assert "<img" not in render_report(named)


def test_only_the_pages_own_script_runs(summary):
    page = render_report(summary)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    code = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(code) == 1
    digest = base64.b64encode(hashlib.sha256(code[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy.replace("&#39;", "'")
    assert "script-src 'unsafe-inline'" not in policy
    assert not re.search(r"\son[a-z]+=", page)
    assert "innerHTML" not in code[0]


def test_a_summary_is_strict_json_also_without_a_score(table):
    model = EqVar().fit(table)
    assert np.isnan(model.score_)
    text = json.dumps(summarize(model, table), allow_nan=False)
    assert json.loads(text)["score"] is None


# rows


def test_a_report_without_rows_holds_none(model, table):
    hidden = summarize(model, table, heading=Heading(rows=False), provenance=WHEN)
    assert all(edge["points"] is None and edge["extremes"] is None for edge in hidden["edges"])
    assert all(node["values"] is None for node in hidden["nodes"])
    counts = np.array([edge["density"] for edge in hidden["edges"]])
    assert set(np.unique(counts)) & {1, 2} == set()
    assert counts.sum() > 0
    assert "holds no rows" in render_report(hidden)
    shown = summarize(model, table, heading=Heading(rows=True), provenance=WHEN)
    assert "--no-rows" in render_report(shown)
    assert all(edge["density"] is None for edge in shown["edges"])


# where it comes from


def test_a_report_names_its_date_file_and_command(summary):
    page = render_report(summary)
    assert "2026-01-01 00:00 UTC" in page
    assert "from three.csv" in page
    assert "precede discover three.csv --note &#39;&lt;b&gt;&#39;" in page
    assert "A note." in page


@pytest.mark.parametrize(
    "model",
    [
        DirectLiNGAM(verbose=False),
        EqVar(pruning="bic", knowledge=Knowledge(required=[("x1", "x2")], tiers=[["x1"], ["x2", "x3"]])),
        CORL(score="linear", n_iterations=2, batch_size=4, random_state=3, diagnose=False, verbose=False),
    ],
)
def test_the_code_of_a_report_runs_and_gives_the_same_graph(model, table):
    fitted = model.fit(table)
    code = code_for(fitted)
    scope = {"data": table}
    exec(code, scope)
    assert scope["model"].graph_ == fitted.graph_
    assert type(scope["model"]) is type(fitted)


def test_code_that_cannot_be_written_is_left_out(table):
    assert code_for(CORL(random_state=np.random.default_rng(0))) is None
    assert "precede.load_sachs().data" in code_for(EqVar(), "sachs")


def test_no_page_turns_text_into_html():
    """A ``place`` in a summary once reached innerHTML; the scripts of report, graph and studio now set text only."""
    root = Path(precede.__file__).parent
    scripts = [path for path in root.rglob("*.js") if "vendor" not in path.parts]
    assert len(scripts) > 8
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, f"{path.name} uses {way}"
