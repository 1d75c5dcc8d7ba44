"""Who is refused: everybody but the studio's own page with the key."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from studio_client import ORIGIN, PORT, TOKEN, Client

from precede.errors import OptionError
from precede.studio.server import ROUTES, listen, make_app
from precede.studio.studio import Studio
from precede.studio.workspace import Workspace


@pytest.fixture
def stranger(tmp_path: Path) -> TestClient:
    """Somebody without the key; the worker is not started."""
    return TestClient(make_app(Studio(Workspace(tmp_path)), PORT, TOKEN), base_url=ORIGIN, follow_redirects=False)


@pytest.fixture
def friend(stranger: TestClient) -> TestClient:
    stranger.get(f"/?token={TOKEN}")
    return stranger


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_without_the_key_everything_is_refused(stranger: TestClient, route) -> None:
    path = route.path.replace("{run}", "001").replace("{name}", "graph.json").replace("{name:path}", "studio.css")
    for method in route.methods:
        answer = stranger.request(method, path, headers={"Origin": ORIGIN})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("key", ["wrong", "", "thé-key", TOKEN[:-1], TOKEN + "x"])
def test_a_wrong_key_opens_nothing(stranger: TestClient, key: str) -> None:
    assert stranger.get("/", params={"token": key}).status_code == 403
    assert stranger.get("/api/state", params={"token": TOKEN}).status_code == 403  # only the page takes it


def test_the_key_becomes_a_cookie_that_only_this_site_sends(stranger: TestClient) -> None:
    answer = stranger.get(f"/?token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"  # the key leaves the address bar
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""])
def test_a_name_that_points_here_is_refused(friend: TestClient, host: str) -> None:
    """DNS rebinding: the browser believes that the page is of that host."""
    assert friend.get("/api/state", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_pages_are_refused(friend: TestClient, site: str) -> None:
    assert friend.get("/api/state", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", f"http://127.0.0.1:{PORT + 1}", f"https://127.0.0.1:{PORT}"]
)
def test_a_change_needs_our_origin(friend: TestClient, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    for route in ROUTES:
        if "POST" in (route.methods or ()):
            answer = friend.post(route.path.replace("{run}", "001"), headers=headers, json={})
            assert answer.status_code == 403
    answer = friend.post("/api/runs/001/stop", headers={"Origin": ORIGIN}, json={})
    assert answer.json() == {"stopped": False}


def test_localhost_is_this_machine_too(stranger: TestClient) -> None:
    answer = stranger.get(f"http://localhost:{PORT}/?token={TOKEN}")
    assert answer.status_code == 303


def test_the_page_may_load_nothing_from_elsewhere(friend: TestClient) -> None:
    headers = friend.get("/").headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["style-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "no-referrer"


def test_a_report_is_shown_as_a_stranger(client: Client) -> None:
    run = client.run(method="eqvar")
    headers = client.http.get(f"/api/runs/{run['id']}/files/report.html").headers
    assert headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    ["/assets/../server.py", "/assets/%2e%2e/server.py", "/assets/..%2fserver.py", "/assets//etc/passwd", "/assets/",
     "/assets/vendor/NOTICE", "/assets/vendor/..%2f__init__.py", "/assets/index.html%00.css"],
)  # fmt: skip
def test_no_other_file_is_served(friend: TestClient, path: str) -> None:
    assert friend.get(path).status_code == 404


@pytest.mark.parametrize("run", ["..", "%2e%2e", "..%2f..", "001%2f..", "1", "abc", "000000001", "٠٠١"])
def test_no_other_folder_is_opened(friend: TestClient, run: str) -> None:
    for path in (f"/api/runs/{run}", f"/api/runs/{run}/files/graph.json", f"/api/runs/{run}/effect?cause=a&effect=b"):
        assert friend.get(path).status_code in (400, 404)


@pytest.mark.parametrize("name", ["../../five.csv", "run.json", "..%2frun.json", "summary.json", "/etc/passwd"])
def test_only_files_of_the_list_are_handed_out(client: Client, name: str) -> None:
    run = client.run(method="eqvar")
    assert client.http.get(f"/api/runs/{run['id']}/files/{name}").status_code in (400, 404)


def test_a_link_out_of_the_folder_is_not_followed(client: Client, table: Path) -> None:
    run = client.run(method="eqvar")
    folder = client.studio.workspace.run(run["id"]).folder
    (folder / "graph.dot").unlink()
    (folder / "graph.dot").symlink_to(table)
    assert client.http.get(f"/api/runs/{run['id']}/files/graph.dot").status_code == 400
    archive = client.http.get(f"/api/runs/{run['id']}/files/all.zip").content
    assert b"graph.dot" not in archive


@pytest.mark.parametrize(
    ("name", "kept"),
    [("../../evil.csv", "evil.csv"), ("a/b\\c.csv", "c.csv"), ("C:\\x\\y.csv", "y.csv"), ("a\x00b.csv", "a_b.csv"),
     ("<img src=x>.csv", "_img src_x_.csv")],
)  # fmt: skip
def test_an_upload_stays_in_the_folder(tmp_path: Path, name: str, kept: str) -> None:
    place = Workspace(tmp_path).place_for(name)
    assert place == tmp_path / "data" / kept


@pytest.mark.parametrize("name", ["", "..", "run.json", ".csv", "x.exe"])
def test_what_is_no_table_is_not_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="is not a table"):
        Workspace(tmp_path).place_for(name)


def test_large_requests_are_cut(friend: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("precede.studio.server.LARGEST_REQUEST", 100)
    monkeypatch.setattr("precede.studio.server.LARGEST_UPLOAD", 100)
    answer = friend.post("/api/runs", headers={"Origin": ORIGIN}, json={"name": "x" * 200})
    assert "too large" in answer.json()["error"]
    answer = friend.post("/api/data?name=a.csv", headers={"Origin": ORIGIN}, content=b"x" * 200)
    assert "too large" in answer.json()["error"]
    assert list((tmp_path / "data").iterdir()) == []


def test_a_form_cannot_ask_for_a_run(friend: TestClient) -> None:
    answer = friend.post("/api/runs", headers={"Origin": ORIGIN, "Content-Type": "text/plain"}, content=b"{}")
    assert answer.json()["error"] == "this takes JSON."


def test_it_listens_on_this_machine_only() -> None:
    with listen(0) as place:
        assert place.getsockname()[0] == "127.0.0.1"
        place.listen()
        with pytest.raises(OptionError, match="cannot be used"):
            listen(place.getsockname()[1])
