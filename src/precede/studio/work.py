"""The process that fits: ``python -m precede.studio.work``, kept warm by the server.

Jobs come as lines of JSON on standard input, news go out as lines of JSON. SIGINT stops the fit that is running as
Ctrl-C does on the command line: the best order known is kept. When the server dies, the run is finished and written all
the same; only then does this process end.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from precede.errors import PrecedeError
from precede.files import folder_lock, write_text
from precede.strict_json import to_json
from precede.studio.messages import ChosenData, Earlier, Job, loading_of
from precede.studio.workspace import STOP_FILE, Run, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from precede.data.load import Table
    from precede.estimator import CausalEstimator
    from precede.evidence.confidence import Confidence
    from precede.studio.request import RunRequest
from precede.estimator import CausalEstimator
from precede.report.provenance import code_for, code_for_loading

SECONDS_BETWEEN_NEWS = 0.1


class Stop:
    """Whether somebody has asked for the end of a run.

    The signal ends what is being computed, whoever listens to it at that moment; the file tells all that would come
    after it.
    """

    def __init__(self) -> None:
        self.file: Path | None = None
        self.listen()

    def listen(self) -> None:
        """Take a signal that nothing is computed for: the file is enough."""
        signal.signal(signal.SIGINT, self._hear)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        """Go on to where the file is looked at."""

    @property
    def asked(self) -> bool:
        return self.file is not None and self.file.exists()


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

    def listener(self, run: Run) -> Callable[[object], None]:
        """Passes on what a fit tells, not too often; the graph with what has changed since the run before."""
        from precede.graph import CausalGraph
        from precede.graph.component import payload
        from precede.runtime.progress import Step
        from precede.studio.changes import mark_changes

        earlier = None if run.parent is None else run.folder.parent / run.parent / "graph.json"
        before = None if earlier is None else CausalGraph.from_json(earlier)

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


def fit(run: Run, data: ChosenData, earlier: Earlier | None, news: News, stop: Stop) -> Run:
    """One run, from the data to a folder of results."""
    from precede.data.load import load_table
    from precede.report import Heading, Provenance, summarize, write_results, write_summary
    from precede.runtime.progress import subscribe
    from precede.studio.request import RunRequest
    from precede.studio.work import script_of

    request = RunRequest.read(run.request)
    table = load_table(data["path"], **loading_of(data))
    model = request.model(earlier)
    if stop.asked:
        return replace(run, state="failed", error="it was stopped before it had begun.")
    with subscribe(news.listener(run)):
        model.fit(table)
        write_results(run.folder, model, table, loading_of(data))
        write_text(run.folder / "reproduce.py", script_of(model, data, request.resamples, request.seed))
        confidence = None
        if request.resamples and not stop.asked:
            confidence = _bootstrap(model, table, request, run, stop)
    outcome = next((name for name in table.names if str(name) == request.outcome), None)
    heading = Heading(request.name or Path(data["path"]).name, outcome=outcome)
    origin = Provenance.now(Path(data["path"]).name, loading=loading_of(data))
    summary = summarize(model, table, None, confidence, heading, origin)
    write_summary(run.folder, summary)
    return replace(run, state="stopped" if stop.asked else "done")


def _bootstrap(model: CausalEstimator, table: Table, request: RunRequest, run: Run, stop: Stop) -> Confidence | None:
    """Resample; a stop leaves the graph without confidences."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = model.bootstrap(table, request.resamples, n_jobs=1, random_state=request.seed, verbose=False)
    except KeyboardInterrupt:
        return None
    finally:
        stop.listen()
    found.to_json(run.folder / "confidence.json")
    return found


def do(job: Job, news: News, stop: Stop) -> None:
    """A job from its first news to its last."""
    run = Workspace(Path(job["folder"])).run(job["run"])
    stop.file = run.folder / STOP_FILE
    start = time.monotonic()
    with folder_lock(run.folder):
        run = replace(run, state="running", error=None)
        run.write()
        news.send("started", run=run.id)
        try:
            run = fit(run, job["data"], job["earlier"], news, stop)
        except (PrecedeError, OSError) as error:
            run = replace(run, state="failed", error=str(error))
        except Exception as error:  # a fault of ours must not take the studio down
            run = replace(run, state="failed", error=f"an unexpected fault ({type(error).__name__}: {error}).")
            sys.excepthook(type(error), error, error.__traceback__)
        run = replace(run, seconds=round(time.monotonic() - start, 2))
        stop.file.unlink(missing_ok=True)
        run.write()
    news.send("ended", run=run.id, state=run.state, error=run.error)


def somebody_waits() -> bool:
    """Whether there is a job already."""
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


def main() -> None:
    """Wait for jobs until the server hangs up."""
    news, stop = News(), Stop()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    warm_up()
    news.send("ready")
    for line in sys.stdin:
        do(json.loads(line), news, stop)


if __name__ == "__main__":
    main()


def script_of(model: CausalEstimator, data: ChosenData, resamples: int = 0, seed: int = 0) -> str:
    """Load, fit and write, with the options of a model that are not the defaults.

    Parameters
    ----------
    model : CausalEstimator
    data : ChosenData
    resamples, seed : int
        Of the bootstrap.

    Examples
    --------
    >>> from precede.baselines import EqVar
    >>> print(script_of(EqVar(), {"path": "data.csv", "leave_out": ["id"], "types": {}}))
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
    made = code_for(model)
    assert made is not None  # every option that the page can set has a spelling
    fitted = made.split("\n\n", 1)[1]
    lines = [
        "from pathlib import Path\n",
        "import precede",
        "from precede.report import write_report, write_results\n",
        f"data = {code_for_loading(repr(data['path']), loading_of(data))}",
        fitted,
        "write_results(Path('results'), model, data)",
    ]
    said = ""
    if resamples:
        lines.append(f"confidence = model.bootstrap(data, {resamples}, random_state={seed})")
        lines.append("confidence.to_json('results/confidence.json')")
        said = ", confidence=confidence"
    return "\n".join([*lines, f"write_report(Path('results'), model, data{said})", ""])
