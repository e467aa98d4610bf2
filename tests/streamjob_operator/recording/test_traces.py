"""Traces: what is read, what is refused and how, and how columns come from readings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamjob_operator.recording.columns import Reading, columns
from streamjob_operator.recording.trace_file import TraceError, read_trace, write_trace

STAGE: dict[str, Any] = {"level": 0, "tasks": 4, "rowSeconds": 0.001}
GOOD: dict[str, Any] = {
    "kind": "trace",
    "version": 1,
    "job": "orders",
    "start": 0,
    "stepSeconds": 60,
    "rate": [1, 2, None],
    "batches": {"slots": 2, "stages": [STAGE]},
}


def written(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**GOOD, **changes}))
    return path


def test_a_trace_survives_its_file(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "trace.json", lag=[0, None, 7.5], executors=[2, 2, None]))
    write_trace(tmp_path / "deep" / "again.json", trace)
    assert read_trace(tmp_path / "deep" / "again.json") == trace
    assert trace.known_rates() == (1.0, 2.0, 2.0)
    assert trace.unknown == 1
    assert trace.duration_s == 180.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "snapshot"}, "kind: 'snapshot' given; only trace is allowed."),
        ({"version": 2}, "version: 2 given; only 1 is allowed."),
        ({"rate": [1, -2]}, "rate[1]: -2 given; at least 0 is allowed."),
        ({"rate": "many"}, "rate: 'many' given; a list is needed."),
        ({"rate": [None, 1]}, "the first value is null; a trace begins with a rate that is known"),
        ({"lag": [1]}, "lag: 1 values given, rate has 3; as many are needed."),
        ({"batchSeconds": [1]}, "batchSeconds: 1 values given, rate has 3; as many are needed."),
        ({"stepSeconds": 0}, "stepSeconds: 0 given; at least 1 is allowed."),
        ({"stepSecond": 60}, "stepSecond: there is no such field; did you mean stepSeconds."),
        ({"stepSeconds": 86400, "rate": [1] * 8}, "8 steps of 86400 s given; a week is the most"),
        ({"batches": {"slots": 0, "stages": [STAGE]}}, "batches.slots: 0 given; at least 1 is allowed."),
        ({"batches": {"slots": 1, "stages": [{**STAGE, "shares": [1]}]}}, "shares: 1 given for 4 tasks"),
        ({"batches": {"slots": 1, "stages": [{"level": 0, "rowSeconds": 1}]}}, "at least one stage with key groups"),
    ],
)
def test_what_is_wrong_is_a_sentence(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(written(tmp_path / "trace.json", **changes))
    assert sentence in str(caught.value)


def test_many_mistakes_are_not_all_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(written(tmp_path / "trace.json", rate=[-1] * 40))
    assert len(caught.value.sentences) == 11
    assert caught.value.sentences[-1].endswith("and 30 more mistakes.")


def test_what_is_no_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("rate: [1]")
    with pytest.raises(TraceError, match="this is not JSON"):
        read_trace(tmp_path / "trace.json")
    with pytest.raises(TraceError, match="cannot be read"):
        read_trace(tmp_path / "nowhere.json")


def reading(at_s: float, taken_rps: float, lag_rows: float | None = None) -> Reading:
    return Reading(at_s=at_s, window_s=60.0, taken_rps=taken_rps, lag_rows=lag_rows, executors=2, batch_s=5.0)


def test_what_waits_longer_has_arrived_too() -> None:
    """100 rows/s were taken while 600 rows more waited after a minute: 110 arrived; then the backlog went."""
    found = columns([reading(60.0, 100.0, 0.0), reading(120.0, 100.0, 600.0), reading(180.0, 110.0, 0.0)], 60.0)
    assert found.rate == (100.0, 110.0, 100.0)
    assert found.start_s == 0.0


def test_a_hole_is_a_hole() -> None:
    found = columns([reading(60.0, 1.0), reading(240.0, 4.0)], 60.0)
    assert found.rate == (1.0, None, None, 4.0)
    assert found.executors == (2, None, None, 2)
