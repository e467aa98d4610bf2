"""What `streamjob repartition`, however it is spelled, refuses before it starts a Spark."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from streamjob_agent.repartition import asking
from streamjob_agent.repartition.asking import FOUND
from streamjob_agent.repartition.command import STOPPED, Stop
from streamjob_agent.repartition.command import main as in_the_driver_s_image
from streamjob_agent.repartition.journal import Stage
from streamjob_agent.repartition.values import Refused
from streamjob_cli.main import main

SENSELESS = [
    (["--key-groups", "8", "--undo"], "Give one of --key-groups, --undo and --clean at most"),
    (["--undo", "--clean"], "Give one of --key-groups, --undo and --clean at most"),
    (["--dry-run"], "--dry-run goes with the first"),
    (["--key-groups", "0"], "0 is not in the range x>=1"),
    (["--key-groups", "many"], "'many' is not a valid integer"),
    (["--conf", "spark.ui.enabled"], "'spark.ui.enabled' given; NAME=VALUE is needed"),
]


@pytest.mark.parametrize(("arguments", "said"), SENSELESS)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["repartition", "/nowhere", *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


@pytest.mark.parametrize(("arguments", "said"), SENSELESS)
def test_the_driver_s_image_refuses_it_in_the_same_words(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        in_the_driver_s_image(["/nowhere", *arguments])
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_refusal_is_left_where_a_pod_s_end_is_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside what Spark writes to the same stream, the sentence alone."""
    words = tmp_path / "termination-log"
    monkeypatch.setenv("STREAMJOB_LAST_WORDS", str(words))
    monkeypatch.setattr(asking, "started", lambda conf: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(asking, "_change", lambda *_: SimpleNamespace(run=_refuse))
    assert in_the_driver_s_image(["/nowhere", "--key-groups", "8"]) == asking.REFUSED
    assert words.read_text(encoding="utf-8") == "Batch 12 was begun.\n"
    assert capsys.readouterr().err == "Batch 12 was begun.\n"


def test_where_no_spark_starts_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without Java, or with the controller's packages alone."""

    def without(_: object) -> None:
        raise RuntimeError("[JAVA_GATEWAY_EXITED]\n Java gateway process exited.")

    monkeypatch.setattr(asking, "started", without)
    result = CliRunner().invoke(main, ["repartition", "/nowhere", "--key-groups", "8"])
    sentence = (
        "No Spark could be started, and nothing was changed: [JAVA_GATEWAY_EXITED] Java gateway process exited.\n"
    )
    assert (result.exit_code, result.stderr) == (asking.FAILED, sentence)


def _refuse(key_groups: int) -> None:
    raise Refused("Batch 12 was begun.")


def test_every_stage_has_a_sentence_that_says_what_to_do() -> None:
    assert set(FOUND) == set(Stage)


@pytest.fixture
def stop() -> Stop:
    return Stop()


@pytest.fixture(autouse=True)
def _signals(stop: Stop) -> object:
    before = signal.signal(signal.SIGTERM, stop.on_signal)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_command_that_is_asked_to_stop_stops(stop: Stop) -> None:
    with pytest.raises(SystemExit) as ended:
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended.value.code == STOPPED
    with pytest.raises(SystemExit), stop.held_back():  # had somebody swallowed the first one
        raise AssertionError("nothing is begun that must not be broken off")


def test_but_not_while_no_query_could_start(stop: Stop) -> None:
    done = False
    with stop.held_back():
        os.kill(os.getpid(), signal.SIGTERM)
        done = True
    assert done
