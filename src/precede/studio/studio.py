"""The state of a studio: its folder, its worker, and who listens."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from precede.data.load import Table, load_table
from precede.errors import OptionError
from precede.strict_json import JsonObject
from precede.studio.columns import look_at
from precede.studio.request import RunRequest
from precede.studio.worker import Worker
from precede.studio.workspace import STOP_FILE, DataChoice, Run, Workspace, loading_of

MOST_NEWS = 1000
"""A page that listens no more is forgotten after this many pieces of news."""


class Studio:
    """What the routes work on.

    Parameters
    ----------
    workspace : Workspace
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.worker = Worker(self._tell)
        self._listeners: set[asyncio.Queue[JsonObject | None]] = set()
        self._alive: set[str] = set()
        self._looked: tuple[tuple[DataChoice, int], JsonObject] | None = None

    @property
    def data(self) -> DataChoice:
        """What the runs look at."""
        if self.workspace.data is None:
            raise OptionError("there is no table yet: open one first.")
        return self.workspace.data

    def describe(self) -> JsonObject:
        """Everything that a page needs to begin with."""
        from precede.corl import methods

        return {
            "folder": str(self.workspace.folder),
            "data": None if self.workspace.data is None else self.look(self.workspace.data),
            "runs": self.listed(),
            "methods": [{"name": k, "obeys": "knowledge" in cls.option_names()} for k, cls in methods().items()],
            "running": self.worker.running,
            "ready": self.worker.ready,
        }

    def listed(self) -> list[JsonObject]:
        """Every run, as the page lists it."""
        return [_listed(run) for run in self.workspace.runs(self._alive)]

    def look(self, data: DataChoice) -> JsonObject:
        """The columns; looked at again when the file or the choice has changed."""
        key = (data, data.path.stat().st_mtime_ns)
        if self._looked is None or self._looked[0] != key:
            self._looked = key, look_at(data)
        return self._looked[1]

    def finished(self, name: str) -> Run:
        """A run with a graph."""
        run = self.workspace.run(name, self._alive)
        if not run.has_graph:
            raise OptionError("this run has no graph.")
        return run

    async def submit(self, asked: RunRequest) -> Run:
        """Give a run to the worker; its folder is there at once."""
        run = self.workspace.new_run({**vars(asked), "data": self.data.to_dict()}, asked.start)
        self._alive.add(run.id)
        self._tell({"kind": "created", "run": run.id, "listed": _listed(run)})
        await self.worker.submit(run)
        return run

    def stop(self, name: str) -> bool:
        """End a run as Ctrl-C does; whether it was waiting or at work."""
        if name not in self._alive:
            return False
        (self.workspace.run(name, self._alive).folder / STOP_FILE).touch()
        return self.worker.stop(name)

    def remove(self, name: str) -> None:
        """Delete a run, damaged or not; one that waits or is at work is to be stopped first."""
        if name in self._alive:
            raise OptionError("this run is not finished: stop it first.")
        self.workspace.remove(name)

    def table_of(self, run: Run) -> Table:
        """The rows that a run looked at, with its own types; of the studio's data, never of a path in a request."""
        try:
            chosen = DataChoice.read(run.request.get("data"), "the data of this run")
        except OptionError:
            chosen = self.data
        reading = chosen.reading if chosen.path == self.data.path else self.data.reading
        return load_table(self.data.path, **loading_of(reading))

    # -- news ------------------------------------------------------------------------------------------------------

    def _tell(self, news: JsonObject) -> None:
        if news["kind"] == "ended":
            self._alive.discard(news["run"])
            news = {**news, "listed": _listed(self.workspace.run(news["run"], self._alive))}
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

    async def close(self) -> None:
        """Keep what is known of the run that is at work, and end."""
        self.hang_up()
        if self.worker.running is not None:
            self.stop(self.worker.running)
        await self.worker.close()


def _listed(run: Run) -> JsonObject:
    return {**run.to_dict(), "has_graph": run.has_graph}
