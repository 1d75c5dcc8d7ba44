"""A studio for tests: a folder, a table, and a client that has the key."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from precede import simulate

try:
    from starlette.testclient import TestClient
    from studio_client import ORIGIN, PORT, TOKEN, Client

    from precede.studio.answers import suggested
    from precede.studio.server import make_app
    from precede.studio.studio import Studio
    from precede.studio.workspace import Workspace
except ModuleNotFoundError:  # the environment of make test-peers has no starlette
    collect_ignore_glob = ["*.py"]


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five variables, an id and gaps."""
    data = simulate(n_variables=5, degree=2, n_samples=300, sem="lingam", random_state=0).data
    data.insert(0, "id", range(1000, 1300))
    data["x2"] = data["x2"].mask(data.index % 50 == 0)
    path = tmp_path_factory.mktemp("data") / "five.csv"
    data.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def client(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Client"]:
    workspace = Workspace(tmp_path_factory.mktemp("studio"))
    workspace.choose(suggested(table))
    studio = Studio(workspace)
    with TestClient(make_app(studio, PORT, TOKEN), base_url=ORIGIN) as http:
        http.get(f"/?token={TOKEN}")
        yield Client(http, studio)
