"""The state of a studio: its folder, the process that fits, one run after the other, and who listens."""

import asyncio
import json
import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from precede.data.load import Table, load_table
from precede.errors import OptionError
from precede.strict_json import JsonObject
from precede.studio.answers import look_at
from precede.studio.workspace import STOP_FILE, DataChoice, Run, RunRequest, Workspace

MOST_NEWS = 1000
"""A page that listens no more is forgotten after this many pieces of news."""

LONGEST_LINE = 1 << 24
SECONDS_TO_FINISH = 8.0


class Studio:
    """What the routes work on.

    Parameters
    ----------
    workspace : Workspace
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.running: str | None = None
        self.ready = False
        self._waiting: deque[Run] = deque()
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._listeners: set[asyncio.Queue[JsonObject | None]] = set()
        self._looked: tuple[tuple[DataChoice, int], JsonObject] | None = None

    @property
    def data(self) -> DataChoice:
        """What the runs look at."""
        if self.workspace.data is None:
            raise OptionError("there is no table yet: open one first.")
        return self.workspace.data

    @property
    def alive(self) -> set[str]:
        """Runs that wait or are at work."""
        return {self.running or "", *(run.id for run in self._waiting)}

    def describe(self) -> JsonObject:
        """Everything that a page needs to begin with."""
        from precede.corl import methods

        return {
            "folder": str(self.workspace.folder),
            "data": None if self.workspace.data is None else self.look(self.workspace.data),
            "runs": self.listed(),
            "methods": [{"name": k, "obeys": "knowledge" in cls.option_names()} for k, cls in methods().items()],
            "running": self.running,
            "ready": self.ready,
        }

    def listed(self) -> list[JsonObject]:
        """Every run, as the page lists it."""
        return [_listed(run) for run in self.workspace.runs(self.alive)]

    def look(self, data: DataChoice) -> JsonObject:
        """The columns; looked at again when the file or the choice has changed."""
        key = (data, data.path.stat().st_mtime_ns)
        if self._looked is None or self._looked[0] != key:
            self._looked = key, look_at(data)
        return self._looked[1]

    def finished(self, name: str) -> Run:
        """A run with a graph."""
        run = self.workspace.run(name, self.alive)
        if not run.has_graph:
            raise OptionError("this run has no graph.")
        return run

    async def submit(self, asked: RunRequest) -> Run:
        """Do a run now, or after those before it; its folder is there at once."""
        run = self.workspace.new_run({**vars(asked), "data": self.data.to_dict()}, asked.start)
        self._tell({"kind": "created", "run": run.id, "listed": _listed(run)})
        self._waiting.append(run)
        await self._next()
        return run

    def stop(self, name: str) -> bool:
        """End a run as Ctrl-C would, or take it out of the queue; whether it was waiting or at work."""
        if name not in self.alive:
            return False
        run = self.workspace.run(name, self.alive)
        if run.state not in ("waiting", "running"):
            return False  # it has ended, and the news of it is on its way
        (run.folder / STOP_FILE).touch()
        if name != self.running:
            self._waiting = deque(other for other in self._waiting if other.id != name)
            self._failed(name, "it was taken out of the queue.")
        elif self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)
        return True

    def remove(self, name: str) -> None:
        """Delete a run, damaged or not; one that waits or is at work is to be stopped first."""
        if name in self.alive:
            raise OptionError("this run is not finished: stop it first.")
        self.workspace.remove(name)

    def table_of(self, run: Run) -> Table:
        """The rows that a run looked at, with its own types; of the studio's data, never of a path in a request."""
        try:
            chosen = DataChoice.read(run.request.get("data"), "the data of this run")
        except OptionError:
            chosen = self.data
        own = chosen if chosen.path == self.data.path else self.data
        return load_table(own.path, **own.loading)

    # -- news ------------------------------------------------------------------------------------------------------

    def _tell(self, news: JsonObject) -> None:
        if news["kind"] == "ended":
            news = {**news, "listed": _listed(self.workspace.run(news["run"], self.alive))}
        for queue in list(self._listeners):
            if queue.qsize() > MOST_NEWS:
                self._listeners.discard(queue)
            else:
                queue.put_nowait(news)

    @contextmanager
    def heard(self) -> Iterator[asyncio.Queue[JsonObject | None]]:
        """News from now on; None is the last."""
        queue: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    def hang_up(self) -> None:
        """End every stream of news, so that the server can end."""
        for queue in self._listeners:
            queue.put_nowait(None)

    def _failed(self, name: str, why: str) -> None:
        self._tell({"kind": "ended", "run": name, "state": "failed", "error": why})

    # -- the process ------------------------------------------------------------------------------------------------

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process; it warms up by itself."""
        self.ready = False
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "precede.studio.work",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE, start_new_session=True,  # Ctrl-C in the terminal is for the server
        )  # fmt: skip
        self._reader = asyncio.create_task(self._listen(self._process))
        return self._process

    async def _next(self) -> None:
        if self.running is not None or not self._waiting:
            return
        process = self._process
        if process is None or process.returncode is not None:
            process = await self.start()
        run = self._waiting.popleft()
        self.running = run.id
        assert process.stdin is not None
        process.stdin.write(json.dumps(str(run.folder)).encode() + b"\n")
        with suppress(ConnectionError):
            await process.stdin.drain()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            news = json.loads(line)
            self.ready = self.ready or news["kind"] == "ready"
            if news["kind"] == "ended":
                self.running = None
            self._tell(news)
            await self._next()
        await process.wait()
        if self.running is not None:  # killed, or out of memory
            run, self.running = self.running, None
            self._failed(run, "the process that fits has died.")
            await self._next()

    async def close(self) -> None:
        """Keep what is known of the run that is at work, and end."""
        self.hang_up()
        if self.running is not None:
            self.stop(self.running)
        self._waiting.clear()
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), SECONDS_TO_FINISH if self.running else 1.0)
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader


def _listed(run: Run) -> JsonObject:
    return {**run.to_dict(), "has_graph": run.has_graph}
