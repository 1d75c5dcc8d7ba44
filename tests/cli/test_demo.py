"""``precede demo``: both reports, and the page that leads to them."""

from pathlib import Path

from typer.testing import CliRunner

from precede.cli import app


def test_the_known_graph_is_found_and_a_page_leads_to_both(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert ", 0 turned, 0 extra" in " ".join(done.output.split())
    page = (tmp_path / "index.html").read_text()
    for name in ("known", "sachs"):
        assert f'href="{name}/report.html"' in page
        assert (tmp_path / name / "report.html").exists()
    assert "Read this first" in (tmp_path / "sachs" / "report.html").read_text()
