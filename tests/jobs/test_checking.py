"""Output against answer, and which batch took in what: from files as Spark writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jobs.checking import check, compare
from jobs.feed import publish_all, read_rows
from jobs.job import Job, Query, Taken
from jobs.taken import reached, taken

ROWS = [{"k": 1}, {"k": 2}, {"k": 2}]


def a_batch(checkpoint: Path, number: int, steps: list[int | None], clock_ms: int = 5) -> None:
    """A committed batch whose sources have come to these steps."""
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True, exist_ok=True)
    offsets = ["-" if step is None else json.dumps({"logOffset": step}) for step in steps]
    lines = ["v1", json.dumps({"batchWatermarkMs": 7, "batchTimestampMs": clock_ms}), *offsets]
    (checkpoint / "offsets" / str(number)).write_text("\n".join(lines))
    (checkpoint / "commits" / str(number)).write_text("v1\n{}")


def a_step(checkpoint: Path, source: int, name: str, files: dict[int, Path]) -> None:
    """A source's log with the files of these steps."""
    folder = checkpoint / "sources" / str(source)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"path": file.as_uri(), "timestamp": 0, "batchId": step}) for step, file in files.items()]
    (folder / name).write_text("\n".join(["v1", *lines]))


def a_file(folder: Path, stream: str, number: int) -> Path:
    file = folder / "with space" / stream / f"{number}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'{{"k": {number}}}\n')
    return file


def test_rows_are_those_of_the_steps_since_the_batch_before(tmp_path: Path) -> None:
    files = [a_file(tmp_path, "a", number) for number in range(3)]
    a_step(tmp_path, 0, "0", {0: files[0]})
    a_step(tmp_path, 0, "1.compact", {0: files[0], 1: files[1]})
    a_step(tmp_path, 0, "2", {2: files[2]})
    a_step(tmp_path, 1, "0", {0: a_file(tmp_path, "b", 7)})
    a_batch(tmp_path, 0, [0, None], clock_ms=1)
    a_batch(tmp_path, 1, [2, 0], clock_ms=2)
    a_batch(tmp_path, 2, [2, 0], clock_ms=3)
    assert reached(tmp_path) == (3, 1)
    assert taken(tmp_path) == [
        Taken(rows={"a": [{"k": 0}]}, clock_ms=1, watermark_ms=7),
        Taken(rows={"a": [{"k": 1}, {"k": 2}], "b": [{"k": 7}]}, clock_ms=2, watermark_ms=7),
        Taken(rows={}, clock_ms=3, watermark_ms=7),
    ]


def test_a_stream_that_is_read_twice_comes_once_or_is_refused(tmp_path: Path) -> None:
    one, other = a_file(tmp_path, "a", 0), a_file(tmp_path, "a", 1)
    a_step(tmp_path, 0, "0", {0: one})
    a_step(tmp_path, 1, "0", {0: one})
    a_batch(tmp_path, 0, [0, 0])
    assert taken(tmp_path)[0].rows == {"a": [{"k": 0}]}
    a_step(tmp_path, 1, "0", {0: other})
    with pytest.raises(ValueError, match="batch 0 read a twice"):
        taken(tmp_path)


def test_a_stream_that_is_used_twice_and_read_once_has_two_offsets(tmp_path: Path) -> None:
    a_step(tmp_path, 0, "0", {0: a_file(tmp_path, "a", 0)})
    a_batch(tmp_path, 0, [0, 0])
    assert taken(tmp_path)[0].rows == {"a": [{"k": 0}]}
    a_batch(tmp_path, 1, [0, 1])
    with pytest.raises(ValueError, match="offsets/1: 2 offsets for 1 sources"):
        taken(tmp_path)


def test_logs_that_were_cleaned_up_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    a_batch(tmp_path, 0, [])
    a_batch(tmp_path, 2, [])
    with pytest.raises(ValueError, match="not all"):
        taken(tmp_path)


def test_every_row_of_every_batch_counts() -> None:
    assert compare([ROWS, []], [ROWS[::-1], []]) == []
    assert compare([ROWS], [ROWS, []]) == ["2 batches were found, 1 are right"]
    (missing,) = compare([ROWS], [ROWS[:2]])
    assert missing == 'batch 0: 1 of 3 rows missing: {"k": 2}'
    moved = compare([[{"k": 1}], []], [[], [{"k": 1}]])
    assert moved == ['batch 0: 1 of 1 rows missing: {"k": 1}', 'batch 1: 1 of 0 rows too many: {"k": 1}']


def a_job(folder: Path) -> tuple[Job, list[Path]]:
    """Three rows in two files, of which no batch writes any; the files."""
    query = Query(name="q", build=lambda read: read("a"), answer=lambda some: [[] for _ in some])
    job = Job(
        name="j",
        source="",
        about="",
        streams={"a": "k long"},
        queries=[query],
        generate=lambda rng, rows: iter([{"a": ROWS[:1]}, {"a": ROWS[1:]}]),
    )
    publish_all(job, folder / "in", 0, 1, 2)
    return job, sorted((folder / "in" / "a").iterdir())


def test_a_folder_without_a_run_is_a_sentence(tmp_path: Path) -> None:
    job, _ = a_job(tmp_path)
    with pytest.raises(ValueError, match=r"out: .*elsewhere given; q has committed no batch in it"):
        check(job, tmp_path / "in", tmp_path / "elsewhere")


def test_input_that_no_batch_took_in_is_told(tmp_path: Path) -> None:
    job, (first, second) = a_job(tmp_path)
    assert (read_rows(first), read_rows(second)) == (ROWS[:1], ROWS[1:])
    assert first.stat().st_mtime < second.stat().st_mtime  # Spark goes by it
    checkpoint = tmp_path / "run" / "checkpoint" / "q"
    a_step(checkpoint, 0, "0", {0: first})
    a_batch(checkpoint, 0, [0])
    assert check(job, tmp_path / "in", tmp_path / "run")[0] == "q: 1 rows of a were taken in, 3 were given"


def test_a_file_that_was_read_twice_does_not_make_up_for_one_that_was_not(tmp_path: Path) -> None:
    """Each has as many rows as a batch is given."""
    job, (first, second) = a_job(tmp_path)
    second.write_text('{"k": 2}\n')
    checkpoint = tmp_path / "run" / "checkpoint" / "q"
    a_step(checkpoint, 0, "0", {0: first})
    a_step(checkpoint, 0, "1", {1: first})
    a_batch(checkpoint, 0, [0])
    a_batch(checkpoint, 1, [1])
    assert check(job, tmp_path / "in", tmp_path / "run")[0] == "q: 1 rows of a were not taken in, others more than once"


def test_an_answer_without_a_row_says_nothing_and_is_told(tmp_path: Path) -> None:
    """A run of too few batches closes no window: whatever the query does would be right."""
    job, (first, second) = a_job(tmp_path)
    checkpoint = tmp_path / "run" / "checkpoint" / "q"
    a_step(checkpoint, 0, "0", {0: first, 1: second})
    a_batch(checkpoint, 0, [1])
    assert check(job, tmp_path / "in", tmp_path / "run") == [
        "q: no row was due in 1 batches, nothing could be compared"
    ]
