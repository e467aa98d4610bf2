import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worlds import even, job, warm

from streamjob_operator.history import HistoryFile
from streamjob_operator.observed import OthersLag
from streamjob_operator.offline.snapshot_file import Moment, SnapshotError, SnapshotFile, read_moment, write_moment
from streamjob_operator.values import RunningBatch, StageView


def moment() -> Moment:
    world = even(executors=3, groups_each=2, load=10.0)
    return Moment(snapshot=world.observe(1000.0, 10.0), marked=("2",))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path, before = tmp_path / "deep" / "snapshot.json", moment()
    write_moment(path, before)
    after = read_moment(path)
    assert after.marked == ("2",)
    assert after.snapshot.executors == before.snapshot.executors
    assert after.snapshot.owners == before.snapshot.owners
    assert np.array_equal(after.snapshot.busy_s, before.snapshot.busy_s)
    assert [one.name for one in path.parent.iterdir()] == ["snapshot.json"]


def test_stages_and_what_came_with_them_are_kept(tmp_path: Path) -> None:
    before = moment()
    n_groups = len(before.snapshot.group_ids)
    counting = StageView(operator=0, level=1, wall_s=2.0, busy_s=5.0, longest_s=1.0, spread_s=0.25)
    snapshot = dataclasses.replace(
        before.snapshot,
        stages=(StageView(operator=None, level=0, wall_s=0.5, busy_s=1.0, longest_s=0.5), counting),
        warmup_s=np.full(n_groups, 0.5),
        traffic_sent_bytes=np.arange(n_groups, dtype=np.float64),
    )
    write_moment(tmp_path / "snapshot.json", Moment(snapshot=snapshot))
    after = read_moment(tmp_path / "snapshot.json").snapshot
    assert after.stages == snapshot.stages
    assert after.warmup_s is not None
    assert after.warmup_s.tolist() == [0.5] * n_groups
    assert after.traffic_sent_bytes is not None
    assert after.traffic_sent_bytes.tolist() == list(range(n_groups))


def test_memory_and_its_limits_are_kept_and_checked(tmp_path: Path) -> None:
    before, path = moment().snapshot, tmp_path / "snapshot.json"
    limited = tuple(dataclasses.replace(one, state_limit_bytes=70.0) for one in before.executors[:2])
    snapshot = dataclasses.replace(
        before, executors=(*limited, before.executors[2]), state_memory_bytes=np.arange(6, dtype=np.float64)
    )
    write_moment(path, Moment(snapshot=snapshot))
    after = read_moment(path).snapshot
    assert after.state_memory_bytes is not None
    assert after.state_memory_bytes.tolist() == [0, 1, 2, 3, 4, 5]
    assert [one.state_limit_bytes for one in after.executors] == [70.0, 70.0, None]
    write_moment(path, Moment(snapshot=dataclasses.replace(snapshot, state_memory_bytes=np.full(6, -1.0))))
    with pytest.raises(SnapshotError, match="state_memory_bytes: every value must be a finite number of 0 or more"):
        read_moment(path)


@pytest.mark.parametrize(
    ("changes", "trouble"),
    [
        ({"warmup_s": np.zeros(2)}, "warmup_s: 2 values given for 6 key groups"),
        (
            {"stages": (StageView(operator=0, level=0, wall_s=-1.0, busy_s=1.0, longest_s=1.0),)},
            "stages: wall_s -1 given, a finite number of 0 or more is needed",
        ),
    ],
)
def test_stages_that_cannot_be_are_told(tmp_path: Path, changes: dict[str, Any], trouble: str) -> None:
    path = tmp_path / "snapshot.json"
    write_moment(path, Moment(snapshot=dataclasses.replace(moment().snapshot, **changes)))
    with pytest.raises(SnapshotError, match=trouble):
        read_moment(path)


def test_the_reporter_keeps_the_newest_measurement(tmp_path: Path) -> None:
    world, of, kept = even(executors=2, groups_each=3, load=10.0), job(), SnapshotFile(tmp_path / "snapshot.json")
    warm(world, of)
    newest = [world.turn(of, [kept]) for _ in range(3)][-1]
    world.observe_error = RuntimeError("gone")
    with pytest.raises(RuntimeError):
        world.turn(of, [kept])
    assert newest.snapshot is not None
    assert read_moment(tmp_path / "snapshot.json").snapshot.taken_at_s == newest.snapshot.taken_at_s


def test_a_history_gives_its_newest_measured_cycle(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history, world, of = HistoryFile(path, job()), even(executors=2, groups_each=3, load=10.0), job()
    records = [world.turn(of, [history]) for _ in range(3)]
    assert records[-1].snapshot is not None
    assert read_moment(path).snapshot.taken_at_s == records[-1].snapshot.taken_at_s


def test_a_history_without_measurements_is_told(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    HistoryFile(path, job())
    with pytest.raises(SnapshotError, match="no cycle of this history measured anything"):
        read_moment(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"nowhere\.json: No such file or directory"):
        read_moment(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "this is not JSON"),
        ("[]", "this is not a snapshot"),
        ('{"kind": "job"}', "this is not a snapshot"),
        ('{"kind": "snapshot", "version": 7}', "version 7 given, 1 is read"),
        ('{"kind": "snapshot", "version": 1, "snapshot": {}}', "missing"),
        ('{"kind": "snapshot", "version": 1}', "missing"),
        ("[" * 100_000, "this is not JSON"),
        ('{"kind": "snapshot", "version": ' + "1" * 300 + "}", "version 1{80} given"),
    ],
)
def test_what_is_no_snapshot_is_told_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(text)
    with pytest.raises(SnapshotError, match=sentence) as error:
        read_moment(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("owners", ["0"], "owners: 1 values given for 6 key groups"),
        ("busy_s", [1.0], "busy_s: 1 values given for 6 key groups"),
        ("window_s", 0, "window_s: 0 given"),
        ("executors", [], "no executor is ready or draining"),
        ("group_ids", ["0"], r"group_ids\[0\]: \"0\" given, OPERATOR/PARTITION"),
        ("group_ids", ["0/0"] * 6, "group_ids: a key group is given twice"),
        ("owners", "000000", 'owners: "000000" given, a list is needed'),
        ("busy_s", [[1.0]] * 6, "busy_s: 6 x 1 values given for 6 key groups"),
        ("busy_s", 1.0, "busy_s: 1.0 given, a list is needed"),
        ("cpu_s", [1e300] * 6, "cpu_s: a number above 1e.18 given, which is the most"),
        ("taken_at_s", 10**400, "taken_at_s: 1000.* given, a finite number is needed"),
        ("generation_applied", float("inf"), "generation_applied: Infinity given, a whole number is needed"),
        ("actuation_on", "false", 'actuation_on: "false" given, true or false is needed'),
        ("traffic_bytes", {"shape": [2, 2], "at": [[0], [1]], "values": [1.0]}, r"shape \(2, 2\) given for 6"),
        ("traffic_bytes", {"shape": [6, 6], "at": [[0], [1]], "values": [-1.0]}, "0 or more"),
    ],
)
def test_figures_that_do_not_fit_are_told(tmp_path: Path, field: str, value: object, sentence: str) -> None:
    path = tmp_path / "snapshot.json"
    write_moment(path, moment())
    document = json.loads(path.read_text())
    document["snapshot"][field] = value
    path.write_text(json.dumps(document))
    with pytest.raises(SnapshotError, match=sentence):
        read_moment(path)


def test_an_executor_without_cores_is_told(tmp_path: Path) -> None:
    one = moment()
    path = tmp_path / "snapshot.json"
    for cores in (0, 10**9):
        executors = tuple(dataclasses.replace(executor, cores=cores) for executor in one.snapshot.executors)
        write_moment(path, Moment(snapshot=dataclasses.replace(one.snapshot, executors=executors)))
        with pytest.raises(SnapshotError, match="cores: every executor needs at least one, and has at most 10000"):
            read_moment(path)


def test_an_executor_that_is_given_twice_is_told(tmp_path: Path) -> None:
    one, path = moment(), tmp_path / "snapshot.json"
    executors = (*one.snapshot.executors, one.snapshot.executors[0])
    write_moment(path, Moment(snapshot=dataclasses.replace(one.snapshot, executors=executors)))
    with pytest.raises(SnapshotError, match="an executor_id is given twice"):
        read_moment(path)


def test_rates_below_nothing_are_told(tmp_path: Path) -> None:
    one, path = moment().snapshot, tmp_path / "snapshot.json"
    write_moment(path, Moment(snapshot=dataclasses.replace(one, rates=dataclasses.replace(one.rates, lag_rows=-2))))
    with pytest.raises(SnapshotError, match="rates, lag_rows: -2 given, a number of 0 or more is needed"):
        read_moment(path)


def test_a_history_of_other_text_is_told_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'\xff\xfe\n{"kind": "job", "name": "\xff"}\n' + b"[" * 100_000 + b"\n")
    with pytest.raises(SnapshotError, match="no cycle of this history measured anything"):
        read_moment(path)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (-1.0, "rates, running, rows: -1 given, a number of 0 or more is needed"),
        (1e300, "rates, running, rows: a number above"),
    ],
)
def test_rows_of_the_batch_that_runs_are_a_number_of_rows(tmp_path: Path, rows: float, said: str) -> None:
    one, path = moment().snapshot, tmp_path / "snapshot.json"
    rates = dataclasses.replace(one.rates, running=RunningBatch(began_at_s=1.0, rows=rows))
    write_moment(path, Moment(snapshot=dataclasses.replace(one, rates=rates)))
    with pytest.raises(SnapshotError, match=said):
        read_moment(path)


@pytest.mark.parametrize(
    ("own_rows", "rows", "said"),
    [
        (-1.0, 1.0, "rates, others_lag, own_rows: -1 given, a number of 0 or more is needed"),
        (1.0, -2.0, "rates, others_lag, rows: -2 given, a number of 0 or more is needed"),
        (1.0, 1e300, "rates, others_lag, rows: a number above"),
    ],
)
def test_what_waits_of_another_query_is_a_number_of_rows(
    tmp_path: Path, own_rows: float, rows: float, said: str
) -> None:
    one, path = moment().snapshot, tmp_path / "snapshot.json"
    rates = dataclasses.replace(one.rates, others_lag=OthersLag(query="clicks", own_rows=own_rows, rows=rows))
    write_moment(path, Moment(snapshot=dataclasses.replace(one, rates=rates)))
    with pytest.raises(SnapshotError, match=said):
        read_moment(path)
