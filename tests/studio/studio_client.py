"""What the page does, without a page."""

import json
import time
from typing import Any

from starlette.testclient import TestClient

from precede.studio.studio import Studio

PORT, TOKEN = 8123, "the-key"
ORIGIN = f"http://127.0.0.1:{PORT}"


class Client:
    """A client that has the key."""

    def __init__(self, http: TestClient, studio: Studio) -> None:
        self.http, self.studio = http, studio

    def get(self, path: str, status: int = 200) -> Any:
        answer = self.http.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def post(self, path: str, content: Any = None, status: int = 200) -> Any:
        answer = self.http.post(path, json=content or {}, headers={"Origin": ORIGIN})
        assert answer.status_code == status, answer.text
        return answer.json()

    def delete(self, path: str, status: int = 200) -> Any:
        answer = self.http.delete(path, headers={"Origin": ORIGIN})
        assert answer.status_code == status, answer.text
        return None if status == 404 else answer.json()

    def run(self, **request: Any) -> dict[str, Any]:
        """Ask for a run and wait for its end."""
        name = self.post("/api/runs", request, 202)["id"]
        return self.wait(name)

    def wait(self, name: str) -> dict[str, Any]:
        for _ in range(6000):
            run = next(run for run in self.get("/api/state")["runs"] if run["id"] == name)
            if run["state"] not in ("waiting", "running"):
                return run
            time.sleep(0.02)
        raise TimeoutError(json.dumps(run))
