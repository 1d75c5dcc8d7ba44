"""The process that fits: ``python -m precede.studio.work``, kept warm by the server.

Folders of runs come as lines of JSON on standard input, news go out as lines of JSON. SIGINT stops the fit that is
running as Ctrl-C does on the command line: the best order known is kept; a file in the folder tells all that would come
after it. When the server dies, the run is finished and written all the same; only then does this process end.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from precede.errors import PrecedeError
from precede.files import folder_lock, write_text
from precede.strict_json import to_json
from precede.studio.workspace import STOP_FILE, DataChoice, Run, read_run

if TYPE_CHECKING:
    from precede.data.load import Table
    from precede.estimator import CausalEstimator
    from precede.evidence.confidence import Confidence
    from precede.graph import CausalGraph
    from precede.studio.workspace import RunRequest

SECONDS_BETWEEN_NEWS = 0.1


def go_on(number: int, frame: FrameType | None) -> None:
    """Take a signal that nothing is computed for: go on to where the file is looked at."""


class News:
    """Lines to the server; a server that has gone is no reason to lose a run."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
        os.dup2(2, 1)  # whatever prints, prints to the terminal
        self._last = 0.0

    def send(self, kind: str, **content: Any) -> None:
        """Say something."""
        with suppress(OSError):
            self._out.write(to_json({"kind": kind, **content}) + "\n")

    def listener(self, run: Run, before: CausalGraph | None) -> Callable[[object], None]:
        """Passes on what a fit tells, not too often; the graph with what has changed since the run before."""
        from precede.graph import CausalGraph
        from precede.graph.component import payload
        from precede.runtime import Step
        from precede.studio.answers import mark_changes

        def hear(news: object) -> None:
            now = time.monotonic()
            if isinstance(news, Step) and now - self._last > SECONDS_BETWEEN_NEWS:
                self._last = now
                self.send("progress", run=run.id, label=news.label, done=news.done, total=news.total,
                          figures=news.figures)  # fmt: skip
            elif isinstance(news, CausalGraph):  # to be seen while the checks go on
                graph = payload(news)
                changes = [] if before is None else mark_changes(graph, news, before)
                self.send("graph", run=run.id, graph=graph, changes=changes, against=run.parent)

        return hear


def fit(run: Run, news: News) -> Run:
    """One run, from the data to a folder of results."""
    from precede.data.load import load_table
    from precede.graph import CausalGraph
    from precede.report import Heading, Provenance, write_report, write_results
    from precede.runtime import subscribe
    from precede.studio.workspace import RunRequest, earlier_result

    request, stopped = RunRequest.read(run.request), run.folder / STOP_FILE
    data = DataChoice.read(run.request["data"], "the data of this run")
    earlier = None if run.parent is None else run.folder.parent / run.parent
    model = request.model(None if earlier is None else earlier_result(earlier))
    table = load_table(data.path, **data.loading)
    if stopped.exists():
        return replace(run, state="failed", error="it was stopped before it had begun.")
    before = None if earlier is None else CausalGraph.from_json(earlier / "graph.json")
    with subscribe(news.listener(run, before)):
        model.fit(table)
        write_results(run.folder, model, table, data.loading)
        write_text(run.folder / "reproduce.py", script_of(model, data, request.resamples, request.seed))
        confidence = None
        if request.resamples and not stopped.exists():
            confidence = _bootstrap(model, table, request, run)
    outcome = next((name for name in table.names if str(name) == request.outcome), None)
    heading = Heading(request.name or data.path.name, outcome=outcome)
    origin = Provenance.now(data.path.name, loading=data.loading)
    write_report(run.folder, model, table, None, confidence, heading, origin)
    return replace(run, state="stopped" if stopped.exists() else "done")


def _bootstrap(model: CausalEstimator, table: Table, request: RunRequest, run: Run) -> Confidence | None:
    """Resample; a stop leaves the graph without confidences."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = model.bootstrap(table, request.resamples, n_jobs=1, random_state=request.seed, verbose=False)
    except KeyboardInterrupt:
        return None
    finally:
        signal.signal(signal.SIGINT, go_on)
    found.to_json(run.folder / "confidence.json")
    return found


def do(folder: Path, news: News) -> None:
    """A run from its first news to its last."""
    run = read_run(folder, {folder.name})
    assert run is not None  # the server has just made it
    start = time.monotonic()
    with folder_lock(folder):
        run = replace(run, state="running", error=None)
        run.write()
        news.send("started", run=run.id)
        try:
            run = fit(run, news)
        except (PrecedeError, OSError) as error:
            run = replace(run, state="failed", error=str(error))
        except Exception as error:  # a fault of ours must not take the studio down
            run = replace(run, state="failed", error=f"an unexpected fault ({type(error).__name__}: {error}).")
            sys.excepthook(type(error), error, error.__traceback__)
        run = replace(run, seconds=round(time.monotonic() - start, 2))
        (folder / STOP_FILE).unlink(missing_ok=True)
        run.write()
    news.send("ended", run=run.id, state=run.state, error=run.error)


def somebody_waits() -> bool:
    """Whether there is a run to do already."""
    return sys.platform != "win32" and bool(select.select([sys.stdin], [], [], 0)[0])


def warm_up() -> None:
    """Import, load the policy and the compiled search: what the first run would wait for."""
    import numpy as np

    from precede.corl import CORL

    values = np.random.default_rng(0).normal(size=(60, 4)).cumsum(axis=1)
    for score in ("sparse-linear", "nongaussian"):
        if somebody_waits():
            return
        CORL(score, n_iterations=1, batch_size=4, diagnose="quick", random_state=0, verbose=False).fit(values)


def script_of(model: CausalEstimator, data: DataChoice, resamples: int = 0, seed: int = 0) -> str:
    """Load, fit and write, with the options of a model that are not the defaults.

    Parameters
    ----------
    model : CausalEstimator
    data : DataChoice
    resamples, seed : int
        Of the bootstrap.

    Examples
    --------
    >>> from precede.baselines import EqVar
    >>> print(script_of(EqVar(), DataChoice(Path("data.csv"), leave_out=["id"])))
    from pathlib import Path
    <BLANKLINE>
    import precede
    from precede.report import write_report, write_results
    <BLANKLINE>
    data = precede.load_table('data.csv', leave_out=['id'])
    model = precede.baselines.EqVar()
    model.fit(data)
    write_results(Path('results'), model, data)
    write_report(Path('results'), model, data)
    <BLANKLINE>
    """
    from precede.report.collect import code_for, code_for_loading

    made = code_for(model)
    assert made is not None  # every option that the page can set has a spelling
    sure = ", confidence=confidence" if resamples else ""
    resampled = [
        f"confidence = model.bootstrap(data, {resamples}, random_state={seed})",
        "confidence.to_json('results/confidence.json')",
    ]
    lines = [
        "from pathlib import Path\n",
        "import precede",
        "from precede.report import write_report, write_results\n",
        f"data = {code_for_loading(repr(str(data.path)), data.loading)}",
        made.split("\n\n", 1)[1],
        "write_results(Path('results'), model, data)",
        *(resampled if resamples else []),
        f"write_report(Path('results'), model, data{sure})",
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    """Wait for runs until the server hangs up."""
    news = News()
    signal.signal(signal.SIGINT, go_on)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    warm_up()
    news.send("ready")
    for line in sys.stdin:
        do(Path(json.loads(line)), news)


if __name__ == "__main__":
    main()
