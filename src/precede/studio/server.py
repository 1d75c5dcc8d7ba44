"""The server on this machine: routes, each around an answer, until Ctrl-C."""

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from importlib.resources import files
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from precede.errors import OptionError, PrecedeError, refusing
from precede.graph.component import FILES, component_file
from precede.strict_json import JsonObject, to_json
from precede.studio import answers
from precede.studio.answers import suggested
from precede.studio.security import Guard
from precede.studio.studio import Studio
from precede.studio.workspace import STUDIO_FILE, DataChoice, RunRequest, Workspace, earlier_result

LARGEST_REQUEST = 1 << 20
LARGEST_UPLOAD = 200 << 20
TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".csv": "text/csv",
    ".json": "application/json", ".py": "text/x-python",
}  # fmt: skip
REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
"""A report is one file with its script inside: it is shown as a stranger, without our cookie or our address."""

Handler = Callable[[Request], Awaitable[Response]]


class Json(JSONResponse):
    """JSON of this package: numbers that are none become null."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return to_json(content).encode()


def answering(answer: Callable[[Studio, Any], Any], status: int = 200) -> Handler:
    """A handler around a function of the studio and what is asked: path, query and JSON by name, or the request itself.

    Coroutines run where the worker does, all else in a thread. A refusal of the package is answered with its sentence.
    """

    async def handler(request: Request) -> Response:
        studio: Studio = request.app.state.studio
        try:
            if answer is upload:
                found = await upload(studio, request)
            else:
                sent = await content_of(request) if request.method == "POST" else {}
                asked = {**request.query_params, **sent, **request.path_params}
                call = answer(studio, asked) if iscoroutinefunction(answer) else None
                found = await (call or run_in_threadpool(answer, studio, asked))
        except (PrecedeError, OSError) as error:
            return Json({"error": str(error)}, 400)
        return found if isinstance(found, Response) else Json(found, status)

    return handler


async def content_of(request: Request) -> JsonObject:
    """The JSON object of a request, not too large."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise OptionError("this takes JSON.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_REQUEST:
            raise OptionError("this request is too large.")
    with refusing((ValueError, RecursionError), OptionError, "this is not valid JSON."):
        content = json.loads(body)
    if not isinstance(content, dict):
        raise OptionError("this takes named values.")
    return content


# -- the page ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def asset(name: str) -> tuple[bytes, str] | None:
    """A file of the page; only names that are there, never a path."""
    assets = files("precede.studio").joinpath("assets")
    if name not in FILES and name not in {path.name for path in assets.iterdir()}:
        return None
    return component_file(name) if name in FILES else assets.joinpath(name).read_bytes(), TYPES[Path(name).suffix]


async def page(request: Request) -> Response:
    """The page, and the files that it asks for."""
    found = asset(request.path_params.get("name", "index.html"))
    return Response("Not found.\n", 404) if found is None else Response(found[0], media_type=found[1])


async def events(request: Request) -> Response:
    """News as it comes (server-sent events)."""

    async def lines() -> AsyncIterator[str]:
        with request.app.state.studio.heard() as queue:
            yield ": welcome\n\n"
            while True:
                try:
                    news = await asyncio.wait_for(queue.get(), 15.0)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if news is None:
                    return
                yield f"data: {to_json(news)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


# -- data and runs ----------------------------------------------------------------------------------------------------


async def upload(studio: Studio, request: Request) -> JsonObject:
    """Take a table, as the bytes of the request."""
    place = studio.workspace.place_for(request.query_params.get("name", ""))
    beside, size = place.with_name(f".{place.name}.{secrets.token_hex(6)}"), 0
    try:
        with open(beside, "xb") as file:
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_UPLOAD:
                    raise OptionError(f"this file is too large: the limit is {LARGEST_UPLOAD >> 20} MB.")
                file.write(part)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
    studio.workspace.choose(await run_in_threadpool(suggested, place))
    return await run_in_threadpool(studio.describe)


def columns(studio: Studio, asked: JsonObject) -> JsonObject:
    """Set how the table is read: kinds of columns, what is left out, missing values, lags, interventions."""
    data = DataChoice.read({**asked, "path": str(studio.data.path)}, "the choice of columns")
    found = studio.look(data)
    studio.workspace.choose(data)
    return found


async def start(studio: Studio, asked: JsonObject) -> JsonObject:
    """Ask for a run."""
    wanted = RunRequest.read(asked)
    earlier = None if wanted.start is None else earlier_result(studio.finished(wanted.start).folder)
    wanted.model(earlier)  # what cannot be made is refused here, not in a folder of its own
    return (await studio.submit(wanted)).to_dict()


async def stop(studio: Studio, asked: JsonObject) -> JsonObject:
    """End a run as Ctrl-C does."""
    return {"stopped": studio.stop(asked["run"])}


def remove(studio: Studio, asked: JsonObject) -> JsonObject:
    """Delete a run and all its files."""
    studio.remove(asked["run"])
    return {"runs": studio.listed()}


def file(studio: Studio, asked: JsonObject) -> Response:
    """One file of a run, or all of them."""
    run, name = studio.finished(asked["run"]), asked["name"]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if name == "all.zip":
        headers = {"Content-Disposition": f'attachment; filename="run-{run.id}.zip"'}
        return Response(answers.archive_of(run), media_type="application/zip", headers=headers)
    if name == "report.html" and "download" not in asked:
        headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(answers.file_of(run, name), media_type=TYPES.get(Path(name).suffix, "text/plain"), headers=headers)


ROUTES = [
    Route("/", page),
    Route("/assets/{name:path}", page),
    Route("/api/state", answering(lambda studio, _: studio.describe())),
    Route("/api/events", events),
    Route("/api/data", answering(upload), methods=["POST"]),
    Route("/api/columns", answering(columns), methods=["POST"]),
    Route("/api/runs", answering(start, 202), methods=["POST"]),
    Route("/api/compare", answering(answers.compare)),
    Route("/api/runs/{run}", answering(answers.show)),
    Route("/api/runs/{run}", answering(remove), methods=["DELETE"]),
    Route("/api/runs/{run}/stop", answering(stop), methods=["POST"]),
    Route("/api/runs/{run}/effect", answering(answers.effect)),
    Route("/api/runs/{run}/causes", answering(answers.causes)),
    Route("/api/runs/{run}/explain", answering(answers.explain), methods=["POST"]),
    Route("/api/runs/{run}/what-if", answering(answers.what_if), methods=["POST"]),
    Route("/api/runs/{run}/files/{name}", answering(file)),
]


# -- from start to Ctrl-C ---------------------------------------------------------------------------------------------


def make_app(studio: Studio, port: int, token: str) -> Guard:
    """The application with the guard before it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await studio.start()
        yield
        await studio.close()

    app = Starlette(routes=ROUTES, lifespan=lifespan)
    app.state.studio = studio
    return Guard(app, port, token)


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes any that is free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
    except OSError as error:
        found.close()
        raise OptionError(f"port {port} cannot be used: {error.strerror}; --port 0 takes any free one.") from None
    return found


class _Server(uvicorn.Server):
    """Ends the streams of news before it waits for the connections to end."""

    def __init__(self, config: uvicorn.Config, hang_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._hang_up = hang_up

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say goodbye to the pages first."""
        self._hang_up()
        await super().shutdown(sockets)


def open_workspace(source: Path | None, folder: Path) -> Workspace:
    """The folder of a studio, with what was named on the command line in it.

    Parameters
    ----------
    source : Path or None
        A table, a folder that ``precede discover --out`` wrote, or a studio's own folder.
    folder : Path
        Where runs go, unless the source is a studio's own folder.
    """
    if source is None:
        return Workspace(folder)
    if (source / STUDIO_FILE).is_file():
        return Workspace(source)
    if source.is_dir():
        if not (source / "graph.json").is_file():
            raise OptionError(f"{str(source)!r} holds neither results nor a studio: name a table, or such a folder.")
        workspace = Workspace(folder)
        workspace.adopt(source)
        return workspace
    if not source.is_file():
        raise OptionError(f"there is no file {str(source)!r}.")
    workspace, path = Workspace(folder), source.resolve()
    kept = workspace.data
    workspace.choose(kept if kept is not None and kept.path == path else suggested(path))
    return workspace


def serve(workspace: Workspace, port: int, announce: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; the address, with its token, is announced once the server listens."""
    place, token = listen(port), secrets.token_urlsafe(24)
    number = place.getsockname()[1]
    studio = Studio(workspace)
    app = make_app(studio, number, token)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, ws="none",
        timeout_graceful_shutdown=10,
    )  # fmt: skip
    place.listen(100)
    announce(f"http://127.0.0.1:{number}/?token={token}")
    with suppress(KeyboardInterrupt):
        _Server(config, studio.hang_up).run(sockets=[place])
