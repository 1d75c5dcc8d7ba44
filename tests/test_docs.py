"""The pages of the documentation: every Python session gives what it shows, every command line is one that parses."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
import typer.main

from precede.cli import app

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "generated", "gallery"} & set(path.parts)
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def fenced(text, language):
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [content for name, content in blocks if name == language]


SESSIONS = [page for page in PAGES if fenced(page.read_text(encoding="utf-8"), "pycon")]
COMMANDS = [
    (page, line.removeprefix("$ "))
    for page in [*PAGES, ROOT / "README.md"]
    for block in fenced(page.read_text(encoding="utf-8"), "" if page.name == "README.md" else "console")
    for line in block.splitlines()
    if line.removeprefix("$ ").startswith("precede ")
]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_session(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "\n".join(fenced(page.read_text(encoding="utf-8"), "pycon"))
    session = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    said = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(session, out=said.append)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda value: getattr(value, "stem", None))
def test_command_parses(page, line):
    words = shlex.split(re.split(r"\s{2,}", line, maxsplit=1)[0])[1:]  # the README explains after a gap
    group = typer.main.get_command(app)
    command = group.commands[words[0]]
    command.make_context(words[0], words[1:], parent=typer.Context(group))


def test_there_are_pages():
    assert len(SESSIONS) >= 10
    assert len(COMMANDS) >= 15
