"""The server: routes, each a few lines around a call of the package."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from precede.errors import OptionError, PrecedeError
from precede.graph.component import FILES, component_file
from precede.strict_json import JsonObject, to_json
from precede.studio import answers
from precede.studio.columns import suggested
from precede.studio.messages import reading_of
from precede.studio.request import RunRequest, earlier_result
from precede.studio.security import Guard
from precede.studio.studio import Studio
from precede.studio.workspace import DataChoice

LARGEST_REQUEST = 1 << 20
LARGEST_UPLOAD = 200 << 20
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
"""A report is one file with its script inside: it is shown as a stranger, without our cookie or our address."""

Handler = Callable[[Request], Awaitable[Response]]


class Json(JSONResponse):
    """JSON of this package: numbers that are none become null."""

    def render(self, content: Any) -> bytes:
        """As bytes."""
        return to_json(content).encode()


def user_errors(handler: Handler) -> Handler:
    """Answer a refusal of the package with its sentence."""

    async def wrapped(request: Request) -> Response:
        try:
            return await handler(request)
        except (PrecedeError, OSError) as error:
            return Json({"error": str(error)}, 400)

    return wrapped


def studio_of(request: Request) -> Studio:
    """The studio behind the application."""
    found: Studio = request.app.state.studio
    return found


async def content_of(request: Request) -> JsonObject:
    """The JSON object of a request, not too large."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise OptionError("this takes JSON.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_REQUEST:
            raise OptionError("this request is too large.")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise OptionError("this is not valid JSON.") from None
    if not isinstance(content, dict):
        raise OptionError("this takes named values.")
    return content


# -- the page ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def asset(name: str) -> tuple[bytes, str] | None:
    """A file of the page; only names that are there, never a path."""
    if name in FILES:
        return component_file(name), FILES[name]
    known = {path.name for path in files("precede.studio").joinpath("assets").iterdir() if path.is_file()}
    kind = TYPES.get(Path(name).suffix)
    if name not in known or kind is None:
        return None
    return files("precede.studio").joinpath("assets", name).read_bytes(), kind


async def page(request: Request) -> Response:
    """The page, and the files that it asks for."""
    found = asset(request.path_params.get("name", "index.html"))
    return Response("Not found.\n", 404) if found is None else Response(found[0], media_type=found[1])


# -- data and runs ----------------------------------------------------------------------------------------------------


async def state(request: Request) -> Response:
    """Everything that the page needs to begin with."""
    return Json(await run_in_threadpool(studio_of(request).describe))


async def upload(request: Request) -> Response:
    """Take a table, as the bytes of the request."""
    studio = studio_of(request)
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
    return Json(await run_in_threadpool(studio.describe))


async def columns(request: Request) -> Response:
    """Set how the table is read: kinds of columns, what is left out, missing values, lags, interventions."""
    studio = studio_of(request)
    data = DataChoice(studio.data.path, reading_of(await content_of(request), "the choice of columns"))
    found = await run_in_threadpool(studio.look, data)
    studio.workspace.choose(data)
    return Json(found)


async def start(request: Request) -> Response:
    """Ask for a run."""
    asked, studio = RunRequest.read(await content_of(request)), studio_of(request)
    earlier = None if asked.start is None else earlier_result(studio.finished(asked.start).folder)
    asked.model(earlier)  # what cannot be made is refused here, not in a folder of its own
    run = await studio.submit(asked, earlier)
    return Json(run.to_dict(), 202)


async def stop(request: Request) -> Response:
    """End a run as Ctrl-C does."""
    return Json({"stopped": studio_of(request).stop(request.path_params["run"])})


async def remove(request: Request) -> Response:
    """Delete a run and all its files."""
    studio = studio_of(request)
    await run_in_threadpool(studio.remove, request.path_params["run"])
    return Json({"runs": await run_in_threadpool(studio.listed)})


async def events(request: Request) -> Response:
    """News as it comes (server-sent events)."""
    studio = studio_of(request)

    async def lines() -> AsyncIterator[str]:
        with studio.heard() as queue:
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


# -- results ----------------------------------------------------------------------------------------------------------


async def show(request: Request) -> Response:
    """A run with its graph; what changed since another, or since the one that it started from."""
    studio = studio_of(request)
    run = studio.finished(request.path_params["run"])
    other = request.query_params.get("against", run.parent)
    against = studio.finished(other) if other and other != run.id else None
    return Json(await run_in_threadpool(answers.shown, run, against))


async def compare(request: Request) -> Response:
    """Runs side by side."""
    studio = studio_of(request)
    runs = [studio.finished(name) for name in dict.fromkeys(request.query_params.get("runs", "").split(",")) if name]
    return Json(await run_in_threadpool(answers.compared, runs))


async def effect(request: Request) -> Response:
    """How large an effect is."""
    run, asked = studio_of(request).finished(request.path_params["run"]), request.query_params
    return Json(await run_in_threadpool(answers.effect, run, asked.get("cause", ""), asked.get("effect", "")))


async def what_if(request: Request) -> Response:
    """What if some variables were set."""
    studio, content = studio_of(request), await content_of(request)
    run, settings = studio.finished(request.path_params["run"]), content.get("settings")
    if not isinstance(settings, dict) or not settings or not all(map(_is_state, settings.values())):
        raise OptionError("settings are numbers or levels by name.")
    table = await run_in_threadpool(studio.table_of, run)
    return Json(await run_in_threadpool(answers.what_if, run, settings, table))


def _is_state(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e100
    )


async def causes(request: Request) -> Response:
    """The causes of a variable."""
    run, outcome = studio_of(request).finished(request.path_params["run"]), request.query_params.get("outcome", "")
    return Json(await run_in_threadpool(answers.causes, run, outcome))


async def explain(request: Request) -> Response:
    """Root causes of a row, or of a change since one."""
    studio, content = studio_of(request), await content_of(request)
    run, outcome, row = studio.finished(request.path_params["run"]), content.get("outcome"), content.get("row")
    if not isinstance(outcome, str) or type(row) is not int or abs(row) > 1 << 40:
        raise OptionError("this takes the name of a variable and the number of a row.")
    table = await run_in_threadpool(studio.table_of, run)
    since = bool(content.get("since"))
    return Json({"sentences": await run_in_threadpool(answers.explained, run, outcome, row, since, table)})


async def file(request: Request) -> Response:
    """One file of a run, or all of them."""
    run, name = studio_of(request).finished(request.path_params["run"]), request.path_params["name"]
    if name == "all.zip":
        return _attached(await run_in_threadpool(answers.archive_of, run), f"run-{run.id}.zip", "application/zip")
    content = await run_in_threadpool(answers.file_of, run, name)
    if name == "report.html" and "download" not in request.query_params:
        return Response(content, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})
    return _attached(content, name, answers.FORMATS[name])


def _attached(content: bytes, name: str, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


ROUTES = [
    Route("/", page),
    Route("/assets/{name:path}", page),
    Route("/api/state", user_errors(state)),
    Route("/api/events", events),
    Route("/api/data", user_errors(upload), methods=["POST"]),
    Route("/api/columns", user_errors(columns), methods=["POST"]),
    Route("/api/runs", user_errors(start), methods=["POST"]),
    Route("/api/compare", user_errors(compare)),
    Route("/api/runs/{run}", user_errors(show)),
    Route("/api/runs/{run}", user_errors(remove), methods=["DELETE"]),
    Route("/api/runs/{run}/stop", user_errors(stop), methods=["POST"]),
    Route("/api/runs/{run}/effect", user_errors(effect)),
    Route("/api/runs/{run}/causes", user_errors(causes)),
    Route("/api/runs/{run}/explain", user_errors(explain), methods=["POST"]),
    Route("/api/runs/{run}/what-if", user_errors(what_if), methods=["POST"]),
    Route("/api/runs/{run}/files/{name}", user_errors(file)),
]


def make_app(studio: Studio, port: int, token: str) -> Guard:
    """The application with the guard before it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await studio.worker.start()
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
