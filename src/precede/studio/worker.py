"""The server's end of the process that fits: one run at a time, the others wait their turn."""

import asyncio
import json
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from precede.strict_json import JsonObject
from precede.studio.workspace import Run

LONGEST_LINE = 1 << 24
SECONDS_TO_FINISH = 8.0


class Worker:
    """Starts the process, gives it jobs, passes its news on.

    Parameters
    ----------
    tell : callable
        Called with each piece of news, a dict with ``kind``.
    """

    def __init__(self, tell: Callable[[JsonObject], None]) -> None:
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: deque[Run] = deque()
        self.running: str | None = None
        self.ready = False

    async def start(self) -> None:
        """Start the process; it warms up by itself."""
        self.ready = False
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "precede.studio.work",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE, start_new_session=True,  # Ctrl-C in the terminal is for the server
        )  # fmt: skip
        self._reader = asyncio.create_task(self._listen(self._process))

    async def submit(self, run: Run) -> None:
        """Do a run now, or after those before it."""
        self._waiting.append(run)
        await self._next()

    def stop(self, name: str) -> bool:
        """End a run as Ctrl-C would, or take it out of the queue; whether there was such a run."""
        for run in self._waiting:
            if run.id == name:
                self._waiting.remove(run)
                self._fail(name, "it was taken out of the queue.")
                return True
        if self.running == name and self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGINT)
            return True
        return False

    def _fail(self, name: str, why: str) -> None:
        self._tell({"kind": "ended", "run": name, "state": "failed", "error": why})

    async def close(self) -> None:
        """Let what runs write its result, and end the process."""
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

    async def _next(self) -> None:
        if self.running is not None or not self._waiting:
            return
        if self._process is None or self._process.returncode is not None:
            await self.start()
        run = self._waiting.popleft()
        self.running = run.id
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(str(run.folder)).encode() + b"\n")
        with suppress(ConnectionError):
            await self._process.stdin.drain()

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
            self._fail(run, "the process that fits has died.")
            await self._next()
