"""`streamjob what-if` and `streamjob explain` of files."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from worlds import even, job, warm

from streamjob_cli.main import main
from streamjob_operator.asking.decision import decided
from streamjob_operator.asking.show import decision_sentences
from streamjob_operator.history import HistoryFile
from streamjob_operator.offline.snapshot_file import Moment, write_moment
from streamjob_planners.capacity.pace import Pace


def streamjob(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], env={"COLUMNS": "200"})


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """2 executors of one slot, each 4 key groups of 10 points: batches of 0.9 s each 2 s; 200 rows."""
    path = tmp_path / "snapshot.json"
    world = even(2, 4, 10.0)
    world.rates = {"trigger_interval_s": 2.0}
    write_moment(path, Moment(snapshot=world.observe(1000.0, 10.0)))
    return path


@pytest.fixture
def history(tmp_path: Path) -> Path:
    of, world = job(), even(2, 4, 30.0)
    kept = HistoryFile(tmp_path / "history.jsonl", of)
    warm(world, of)
    world.turn(of, [kept])
    return kept.path


def test_what_if_tells_batches_and_what_is_needed(snapshot: Path) -> None:
    result = streamjob("what-if", "--from", snapshot, "--rate", "2x", "--executors", 4, "--max", 8)
    assert result.exit_code == 0, result.output
    rows = {line.split("│")[1].strip(): line for line in result.output.splitlines() if line.startswith("│")}
    assert "0.90 s" in rows["4"]
    assert "200 rows/s in place of 100" in result.output
    assert "2 executors are needed so that batches take 1.8s at most." in result.output


def test_what_if_for_a_program(snapshot: Path) -> None:
    result = streamjob("what-if", "--from", snapshot, "--rate", "300", "--objective", "900ms", "--output", "json")
    found = json.loads(result.stdout)
    assert (found["kind"], found["version"], found["job"]) == ("what-if", 1, "snapshot")
    assert found["rate_rps"] == 300.0
    assert found["needed"] == 8  # 600 rows, 0.6 s for each of 8 key groups, 0.1 s beside them
    batches_s = {one["executors"]: one["batch_s"] for one in found["predictions"]}
    assert batches_s[8] == pytest.approx(0.7)
    assert batches_s[7] == pytest.approx(1.3)


def test_what_cannot_be_done_ends_with_1_and_says_why(snapshot: Path) -> None:
    result = streamjob("what-if", "--from", snapshot, "--rate", "50x", "--max", 20)
    assert result.exit_code == 1
    assert "No number of executors up to 20 is enough" in result.output


def test_explain_shows_figures_bounds_and_the_sentence(history: Path) -> None:
    result = streamjob("explain", "--from", history)
    assert result.exit_code == 0, result.output
    assert "small: how" in result.output
    assert "2 executors x 1" in result.output
    assert "1 to 6 are allowed" in result.output
    assert "with what gathers until they are there gone in" in result.output


def test_what_was_known_before_every_executor_was_lost_is_explained(history: Path) -> None:
    of, world = job(), even(2, 4, 30.0)
    world.executors, world.owners = dict.fromkeys("01", "dead"), [None] * 8
    world.turn(of, [HistoryFile(history, of)])
    for command in ("explain", "what-if"):
        result = streamjob(command, "--from", history)
        assert result.exit_code == 0, result.output
    assert "2 (today" in result.output


def test_where_no_executor_is_left_to_predict_for_that_is_said(tmp_path: Path) -> None:
    world, path = even(2, 4, 30.0), tmp_path / "snapshot.json"
    write_moment(path, Moment(snapshot=world.observe(1000.0, 10.0), marked=("0", "1")))
    result = streamjob("explain", "--from", path)
    assert result.exit_code == 2
    assert "no executor is ready that is not marked" in result.output


def test_explain_tells_load_survived_and_executors_that_are_slow() -> None:
    of, world = job(), even(2, 4, 10.0)
    warm(world, of)
    record = world.turn(of)
    assert record.memory is not None
    batches = dataclasses.replace(record.memory.batches, paces={"1": Pace(speed=0.5, error=0.1)})
    record = dataclasses.replace(record, memory=dataclasses.replace(record.memory, batches=batches))
    told = list(decision_sentences(decided(record, "small", 1, 6)))
    assert told[-2].startswith("Survives 2.")
    assert told[-1] == "Executor 1 works at 0.5 of the others' speed (0.41 to 0.61)."


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["what-if"], 2, "One of NAME, a StreamJob on a cluster, and --from, a file, is needed."),
        (["what-if", "name", "--from", "x.json"], 2, "One of NAME"),
        (["what-if", "--from", "nowhere.json"], 2, "nowhere.json: No such file or directory."),
        (["explain", "--from", "nowhere.jsonl"], 2, "nowhere.jsonl: No such file or directory."),
    ],
)
def test_bad_places_are_told(arguments: list[str], code: int, sentence: str) -> None:
    result = streamjob(*arguments)
    assert result.exit_code == code
    assert sentence in result.output


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--rate", "fast", "'fast' given; a factor such as 2x, or rows per second such as 5000, is needed"),
        ("--rate", "0x", "above 0 and at most 1e+12"),
        ("--rate", "9" * 400, "above 0 and at most 1e+12"),
        ("--namespace", "streams", "--namespace: streams given; it is about a cluster, and --from about a file."),
        ("--kubeconfig", "none", "--kubeconfig: none given; it is about a cluster"),
        ("--context", "none", "--context: none given; it is about a cluster"),
        ("--objective", "soon", "'soon' given; a duration such as 500ms"),
        ("--objective", "0s", "more than 0s is needed"),
        ("--executors", "0", "1<=x<=10000"),
    ],
)
def test_bad_options_are_told(snapshot: Path, option: str, value: str, sentence: str) -> None:
    result = streamjob("what-if", "--from", snapshot, option, value)
    assert result.exit_code == 2
    assert sentence in result.output


def test_more_executors_than_the_most_are_refused(snapshot: Path) -> None:
    result = streamjob("what-if", "--from", snapshot, "--executors", 9, "--max", 8)
    assert result.exit_code == 2
    assert "--executors is 9 and --max 8; --executors may be --max at most." in result.output
