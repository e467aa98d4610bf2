"""The command, as a person runs it: each sentence in a process of its own would take a Spark, so all in one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from queries import Sums, run

from streamjob_agent.repartition import asking
from streamjob_cli.repartition import repartition_command

pytestmark = pytest.mark.spark


class Lasting:
    """The session of the tests, which outlives a command."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def stop(self) -> None:
        pass


@pytest.fixture
def command(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setattr(asking, "started", lambda conf: Lasting(spark))

    def act(*arguments: str) -> Result:
        return CliRunner().invoke(repartition_command, arguments)

    return act


def test_from_a_look_to_the_deletion_of_the_old_state(
    spark: Any, tmp_path: Path, command: Callable[..., Result]
) -> None:
    query, checkpoint = Sums(tmp_path), tmp_path / "checkpoint"
    place = str(checkpoint)

    def go_on() -> None:
        query.add()
        run(query.frame(spark), checkpoint, query.mode, query.keep)
        assert query.got == query.expected()

    result = command(place)
    assert (result.exit_code, "No batch was ever finished here" in result.output) == (0, True)
    go_on()
    result = command(place, "--key-groups", "8", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "1 stateful operators with 4 key groups each" in result.output
    assert "Nothing was changed." in result.output
    result = command(place, "--key-groups", "4")
    assert (result.exit_code, "that is how many there are now" in result.output) == (2, True)
    result = command(place, "--key-groups", "8")
    assert result.exit_code == 0, result.output
    assert "Every row is there once, unchanged" in result.output
    assert "Start the query, or go back with --undo" in command(place).output
    assert command(place, "--clean").exit_code == 2
    assert command(place, "--undo").exit_code == 0
    assert "with 4 key groups each" in command(place).output
    assert command(place, "--key-groups", "8").exit_code == 0
    go_on()
    assert "--clean deletes the old state" in command(place).output
    assert command(place, "--clean").exit_code == 0
    assert not (tmp_path / "checkpoint.repartition").exists()


def test_a_driver_s_image_needs_the_agent_alone(spark: Any, tmp_path: Path) -> None:
    """In a process of its own, without `click` and without any of the job's settings."""
    query, checkpoint = Sums(tmp_path), tmp_path / "checkpoint"

    def go_on() -> None:
        query.add()
        run(query.frame(spark), checkpoint, query.mode, query.keep)
        assert query.got == query.expected()

    go_on()
    without = "import sys; sys.modules['click'] = None; sys.argv[0] = ''; import runpy; "
    words = [sys.executable, "-c", f"{without}runpy.run_module('streamjob_agent', run_name='__main__')", "repartition"]
    done = subprocess.run(
        [*words, str(checkpoint), "--key-groups", "8"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Every row is there once, unchanged" in done.stdout
    go_on()
    assert len([one for one in (checkpoint / "state" / "0").iterdir() if one.name.isdigit()]) == 8
