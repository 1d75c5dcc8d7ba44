"""Files are whole or as they were, lines are whole, a folder has one user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from precede.errors import OptionError
from precede.files import append_line, cut_torn_line, only_user, remove_leftovers, write_text, write_whole


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
        write_whole(path, fails)
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
    write_whole(path, lambda new: (beside.append(new), new.write_text("x")))
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
    with only_user(tmp_path), pytest.raises(OptionError, match="in use by another run"), only_user(tmp_path):
        pass
    with only_user(tmp_path):
        pass
    assert len(os.listdir("/dev/fd")) == handles
