"""Which batch took in which rows of a topic: from offsets as Spark writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jobs.job import Taken
from jobs.topics import reached, taken

HELD = {"run.a": {"0": [{"k": 0}, {"k": 1}, {"k": 2}], "1": [{"k": 10}]}, "run.b": {"0": [{"k": 20}]}}


def a_batch(checkpoint: Path, number: int, *offsets: dict[str, dict[str, int]] | None) -> None:
    """A committed batch that has read topics up to these offsets."""
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True, exist_ok=True)
    lines = ["-" if one is None else json.dumps(one) for one in offsets]
    metadata = json.dumps({"batchWatermarkMs": 7, "batchTimestampMs": number})
    (checkpoint / "offsets" / str(number)).write_text("\n".join(["v1", metadata, *lines]))
    (checkpoint / "commits" / str(number)).write_text("v1\n{}")


def test_rows_are_those_between_the_offsets_of_two_batches(tmp_path: Path) -> None:
    a_batch(tmp_path, 0, {"run.a": {"0": 2, "1": 0}}, None)
    a_batch(tmp_path, 1, {"run.a": {"0": 3, "1": 1}}, {"run.b": {"0": 1, "1": 0}})
    a_batch(tmp_path, 2, {"run.a": {"0": 3, "1": 1}}, {"run.b": {"0": 1}})
    assert taken(tmp_path, HELD) == [
        Taken(rows={"a": [{"k": 0}, {"k": 1}]}, clock_ms=0, watermark_ms=7),
        Taken(rows={"a": [{"k": 2}, {"k": 10}], "b": [{"k": 20}]}, clock_ms=1, watermark_ms=7),
        Taken(rows={}, clock_ms=2, watermark_ms=7),
    ]


def test_a_topic_that_is_read_twice_comes_once_or_is_refused(tmp_path: Path) -> None:
    a_batch(tmp_path, 0, {"run.a": {"0": 1, "1": 0}}, {"run.a": {"0": 1, "1": 0}})
    assert taken(tmp_path, HELD)[0].rows == {"a": [{"k": 0}]}
    with pytest.raises(ValueError, match=r"run\.a was read twice"):
        reached([json.dumps({"run.a": {"0": 1}}), json.dumps({"run.a": {"0": 2}})])
