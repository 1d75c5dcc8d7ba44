"""Files are whole or as they were, lines are whole, a folder has one user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from precede.errors import OptionError
from precede.files import (
    SWAP_FILE,
    append_line,
    atomic_write,
    check_outputs,
    cut_torn_line,
    finish_swap,
    folder_lock,
    remove_leftovers,
    write_text,
    write_together,
)


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "é1")
    write_text(str(path), "é2\n")
    assert path.read_bytes() == "é2\n".encode()
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fails(beside):
        beside.write_text("half")
        assert beside.parent == tmp_path
        assert beside != path
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        atomic_write(path, fails)
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_long_name_leaves_room_for_the_one_beside(tmp_path):
    path = tmp_path / ("n" * 250)
    write_text(path, "x")
    assert path.read_text() == "x"


def test_leftovers_are_removed_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    kept = [".a.txt.0123456789ab.x", ".a.txt.xyz", ".b.txt.0123456789ab", "a.txt"]
    for name in [*kept, ".a.txt.0123456789ab", ".a.txt.ffffffffffff"]:
        (tmp_path / name).write_text("")
    remove_leftovers(path)
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted(kept)


def test_leftovers_of_a_long_name_are_found(tmp_path):
    path, beside = tmp_path / ("n" * 150), []
    atomic_write(path, lambda new: (beside.append(new), new.write_text("x")))
    beside[0].write_text("left by a killed run")
    remove_leftovers(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_leftover_may_be_gone_by_then(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "glob", lambda *_: iter([tmp_path / "gone"]))
    remove_leftovers(tmp_path / "a.txt")


def test_lines_are_appended_whole(tmp_path):
    path = tmp_path / "a.jsonl"
    append_line(path, "é")
    append_line(path, "b")
    assert path.read_bytes() == "é\nb\n".encode()


class Torn:
    """A file whose disk is full after some bytes."""

    def __init__(self, file, room: int) -> None:
        self.file, self.room = file, room

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, content: bytes) -> int:
        return self.file.write(content[: self.room])

    def tell(self) -> int:
        return self.file.tell()

    def truncate(self, end: int) -> None:
        self.file.truncate(end)


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    append_line(path, "first")
    whole = open
    monkeypatch.setattr("builtins.open", lambda *a, **k: Torn(whole(*a, **k), 3))
    with pytest.raises(OSError, match="No space left on device") as error:
        append_line(path, "second")
    monkeypatch.undo()
    assert error.value.errno == 28
    assert path.read_text() == "first\n"


@pytest.mark.parametrize(("torn", "left"), [("a\nb\nhalf", "a\nb\n"), ("a\n", "a\n"), ("half", ""), ("", "")])
def test_a_torn_line_is_cut(tmp_path, torn, left):
    path = tmp_path / "a.jsonl"
    path.write_text(torn)
    cut_torn_line(path)
    assert path.read_text() == left


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there")
def test_a_folder_has_one_user(tmp_path):
    handles = len(os.listdir("/dev/fd"))
    with folder_lock(tmp_path), pytest.raises(OptionError, match="in use by another run"), folder_lock(tmp_path):
        pass
    with folder_lock(tmp_path):
        pass
    assert len(os.listdir("/dev/fd")) == handles


# several files as one

OLD = {"a.json": "old a", "b.csv": "old b", "c.html": "old c"}
NEW = {"a.json": "new a", "b.csv": "new b"}


def visible(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.name[0] != "."}


class Killed(BaseException):
    """Ends a write at once; nothing that follows is done, as little as after SIGKILL."""


def test_files_are_replaced_as_one_wherever_it_is_broken_off(tmp_path, monkeypatch):
    """Broken off at its first step, its second and so on: a mixture is never read."""
    seen = set()
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        write_together(folder, OLD)
        assert visible(folder) == OLD
        done = 0

        def dying(function):
            def act(*given, **named):
                nonlocal done
                done += 1
                if done > step:  # noqa: B023
                    raise Killed
                return function(*given, **named)

            return act

        with monkeypatch.context() as patch:
            for owner, name in ((Path, "write_bytes"), (Path, "unlink"), (os, "replace")):
                patch.setattr(owner, name, dying(getattr(owner, name)))
            try:
                write_together(folder, NEW, remove=["c.html"])
                ended = True
            except Killed:
                ended = False
        finish_swap(folder)
        assert visible(folder) in (OLD, NEW)
        seen.add(tuple(visible(folder)))
        if ended:
            write_together(folder, NEW)  # takes the leftovers away
            assert visible(folder) == NEW
            break
    assert ended
    assert len(seen) == 2


def test_a_swap_touches_nothing_outside_its_folder(tmp_path):
    victim = tmp_path / "kept.txt"
    victim.write_text("kept")
    folder = tmp_path / "results"
    folder.mkdir()
    for told in ('{"moves": {}, "remove": ["../kept.txt"]}', '{"moves": {"x": "../kept.txt"}, "remove": []}', "[", "3"):
        (folder / SWAP_FILE).write_text(told)
        (folder / "x").write_text("other")
        with pytest.raises(OptionError, match=r"\.precede-swap' is damaged: remove it\."):
            finish_swap(folder)
    assert victim.read_text() == "kept"


def test_an_error_of_the_disk_names_the_file(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    for write in (
        lambda: write_together(tmp_path, {"graph.json": "x"}),
        lambda: write_text(tmp_path / "graph.json", "x"),
    ):
        with pytest.raises(OSError, match="No space left") as error:
            write()
        assert error.value.filename == str(tmp_path / "graph.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="other permissions there")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_of_any_writer_honor_the_mask(tmp_path, mask, mode):
    def private(beside):  # as safetensors writes
        beside.unlink()
        os.close(os.open(beside, os.O_CREAT | os.O_WRONLY, 0o600))

    before = os.umask(mask)
    try:
        atomic_write(tmp_path / "policy", private)
    finally:
        os.umask(before)
    assert (tmp_path / "policy").stat().st_mode & 0o777 == mode


def test_what_others_wrote_is_not_replaced(tmp_path):
    marks = {"result.json": "precede-result"}
    names = ["result.json", "report.html"]
    check_outputs(tmp_path, names, marks, {})
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(OptionError, match=r"report\.html' was not written by precede, and would be replaced"):
        check_outputs(tmp_path, names, marks, {})
    (tmp_path / "result.json").write_text('{\n "format": "precede-result"}')
    check_outputs(tmp_path, names, marks, {})
    with pytest.raises(OptionError, match=r"report\.html' is the data, and would be replaced: name another folder"):
        check_outputs(tmp_path, names, marks, {"the data": tmp_path / "report.html"})
    (tmp_path / "result.json").write_text('{"format": "other"}')
    with pytest.raises(OptionError, match=r"result\.json' was not written by precede"):
        check_outputs(tmp_path, names, marks, {})
