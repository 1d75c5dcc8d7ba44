"""Run the server until Ctrl-C."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from precede.errors import OptionError
from precede.studio.columns import suggested
from precede.studio.server import listen, make_app
from precede.studio.studio import Studio
from precede.studio.workspace import STUDIO_FILE, Workspace


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
