"""Where the libraries for drawings are missing, as in the operator's image, that is said before anything is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from streamjob_cli.main import main
from streamjob_operator import drawing

ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "samples" / "snapshots" / "skewed-keys.json"
WORLD = sorted((ROOT / "samples" / "worlds").glob("*.yaml"))[0]
JOB = """apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: a}
spec:
  application: {mainFile: a.py}
  executors: {min: 1, max: 2}
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "arguments",
    [("plan", "--from", str(SNAPSHOT), "--plot", "OUT/a.png"), ("simulate", str(WORLD), "--plot", "OUT/a.png")],
    ids=lambda arguments: arguments[0],
)
def test_a_drawing_is_refused(arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "NEEDED", ("not_installed_here",))
    result = CliRunner().invoke(main, [one.replace("OUT", str(tmp_path)) for one in arguments])
    assert result.exit_code == 2
    assert "that needs not_installed_here, which `pip install 'streamjob[controller]'` brings." in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_refused_because_it_draws_a_report(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "NEEDED", ("not_installed_here",))
    result = CliRunner().invoke(main, ["run", str(job)])
    assert result.exit_code == 2
    assert "draws a report at the end; that needs not_installed_here" in result.output


def test_nothing_is_lacking_where_they_are_installed() -> None:
    assert drawing.lacking() is None
