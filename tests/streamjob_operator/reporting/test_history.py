"""The history file keeps everything, survives a crash in mid-line, and says what is wrong with a bad file."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamjob_operator.codec import decode, encode
from streamjob_operator.history import HistoryError, HistoryFile, cycles_of, newest_first, read_history
from streamjob_operator.spec import parse_job
from streamjob_operator.values import CycleRecord

JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: parcels}
spec:
  application: {mainFile: job.py}
  executors: {min: 1, max: 4}
  balancing: {objective: loadDistance, maxLoadDistance: %d, statisticsPeriod: 6s}
"""


def same(left: Any, right: Any) -> bool:
    """Equality down to the arrays, which dataclasses cannot compare by themselves."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    if isinstance(left, sparse.csr_array):
        return left.shape == right.shape and (left != right).nnz == 0
    if dataclasses.is_dataclass(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def test_every_record_comes_back_as_it_was(tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]) -> None:
    history = HistoryFile(tmp_path / "deep" / "history.jsonl")
    for record in run:
        history.report(record)
    assert same(read_history(history.path).cycles, run)


def test_comparison_above_sees_a_difference(make_record: Callable[..., CycleRecord]) -> None:
    assert not same(make_record(), make_record(busy_s=(2.0,) * 8))


def test_torn_line_is_left_out_and_the_next_writer_starts_a_line(
    tmp_path: pathlib.Path, make_record: Callable[..., CycleRecord]
) -> None:
    path = tmp_path / "history.jsonl"
    HistoryFile(path).report(make_record(at_s=1.0))
    with path.open("a") as file:
        file.write('{"kind":"cycle","at_s":2.0,"snap')
    HistoryFile(path).report(make_record(at_s=3.0))
    assert [record.at_s for record in read_history(path).cycles] == [1.0, 3.0]


def test_notes_and_the_newest_job_facts(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "history.jsonl"
    for bound in (10, 12):
        HistoryFile(path, parse_job(JOB % bound)).note("phase", name=f"bound {bound}")
    history = read_history(path)
    assert [note["name"] for note in history.of_kind("phase")] == ["bound 10", "bound 12"]
    assert history.job["name"] == "parcels"
    assert history.job["max_load_distance_pct"] == 12.0
    assert history.job["statistics_period_s"] == 6.0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1, 2]", "line 1: not a line of a history"),
        ('{"at_s": 1}', "line 1: not a line of a history"),
        ('{"kind": "cycle", "at_s": 1}', "line 1: snapshot: this field is missing"),
        ('{"kind": "cycle", "at_s": "soon", "verdict": {}}', "line 1"),
    ],
)
def test_bad_line_is_named(tmp_path: pathlib.Path, line: str, words: str) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(HistoryError, match=words):
        read_history(path)


def test_a_disk_that_was_full_costs_the_lines_that_it_did_not_take(
    tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]
) -> None:
    history = HistoryFile(tmp_path / "history.jsonl")
    history.report(run[0])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (history.path.stat().st_size + 100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            history.report(run[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    history.report(run[2])
    assert [one.at_s for one in read_history(history.path).cycles] == [run[0].at_s, run[2].at_s]


def test_the_newest_cycle_comes_first_and_older_ones_are_not_understood_for_it(
    tmp_path: pathlib.Path, run: tuple[CycleRecord, ...]
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"kind": "cycle"}\n')
    history = HistoryFile(path)
    for record in run:
        history.report(record)
        history.note("phase", name="noon")
    with path.open("a") as file:
        file.write('{"kind":"cycle","at_s":')  # torn by a crash
    found = newest_first(path)
    assert [next(found).at_s for _ in run] == [one.at_s for one in reversed(run)]
    with pytest.raises(HistoryError, match="line 1: "):
        next(found)
    with pytest.raises(HistoryError, match=r"none\.jsonl: No such file"):
        next(newest_first(tmp_path / "none.jsonl"))


def test_a_history_that_has_grown_too_large_loses_its_oldest_cycles_alone(
    tmp_path: pathlib.Path, make_record: Callable[..., CycleRecord]
) -> None:
    path = tmp_path / "history.jsonl"
    HistoryFile(path).report(make_record(at_s=0.0))
    a_cycle_bytes = path.stat().st_size
    history = HistoryFile(path, parse_job(JOB % 10), most_bytes=10 * a_cycle_bytes)
    history.note("phase", name="noon")
    reading, largest = cycles_of(path), 0
    assert next(reading).at_s == 0.0
    for at in range(1, 41):
        history.report(make_record(at_s=float(at)))
        largest = max(largest, path.stat().st_size)
    assert [one.at_s for one in reading][:3] == [1.0, 2.0, 3.0], "who reads has the file as it was"
    found = read_history(path)
    kept = [one.at_s for one in found.cycles]
    assert kept == [float(at) for at in range(41 - len(kept), 41)]
    assert 4 <= len(kept) <= 10
    assert found.shortened_by == 41 - len(kept), "those of each time added up"
    assert len(found.of_kind("shortened")) == 1
    assert [one["name"] for one in found.of_kind("phase")] == ["noon"]
    assert found.job
    assert largest <= 10 * a_cycle_bytes
    assert [one.name for one in tmp_path.iterdir()] == ["history.jsonl"]


def test_a_line_of_somebody_else_stays_and_hinders_no_cycle(
    tmp_path: pathlib.Path, make_record: Callable[..., CycleRecord]
) -> None:
    path = tmp_path / "history.jsonl"
    HistoryFile(path).report(make_record(at_s=0.0))
    history = HistoryFile(path, most_bytes=5 * path.stat().st_size)
    with path.open("a") as file:
        file.write('{"mine": 1}\n')
    path.chmod(0o600)
    for at in range(1, 21):
        history.report(make_record(at_s=float(at)))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines.count({"mine": 1}) == 1
    assert [one["at_s"] for one in lines if one.get("kind") == "cycle"][-1] == 20.0
    assert len(lines) <= 7
    assert path.stat().st_mode & 0o777 == 0o600


def test_missing_file_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(HistoryError, match=r"none\.jsonl: No such file"):
        read_history(tmp_path / "none.jsonl")


def test_a_newer_writer_may_have_more_fields(make_record: Callable[..., CycleRecord]) -> None:
    record = make_record()
    document = json.loads(json.dumps(encode(record)))
    document["mood"] = document["snapshot"]["mood"] = "fine"
    assert same(decode(CycleRecord, document), record)


@pytest.mark.parametrize(("value", "error"), [(float("nan"), ValueError), (object(), TypeError), ({1, 2}, TypeError)])
def test_what_is_no_value_of_the_cycle_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        encode(value)
