"""The one reader of Spark's event log: batches, tasks with their stages and bytes, moves, logs that were cut short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import event_log
from paper_log import batches, begins, ends, progress


def test_a_stage_with_state_is_known_by_its_rdd_and_counted_from_the_batch_s_first() -> None:
    found = event_log.told(batches([("0", "1")]))
    assert [(task.stage, task.partition, task.executor) for task in found.tasks] == [
        (None, 0, "0"),
        (0, 0, "0"),
        (0, 1, "1"),
    ]


def test_progress_may_be_text_and_one_without_a_batch_counts_for_nothing() -> None:
    idle = progress(7)
    idle["progress"]["durationMs"] = {"triggerExecution": 5}
    as_text = {**progress(3), "progress": json.dumps(progress(3)["progress"])}
    assert [one.number for one in event_log.told([idle, as_text]).batches] == [3]


def test_tasks_of_jobs_that_are_no_query_s_are_left_out_and_failed_ones_counted() -> None:
    other = {**begins(50, 0), "Properties": {}}
    found = event_log.told([progress(0), other, ends(50, 0, "0", 1), ends(1, 0, "0", 1, reason="ExceptionFailure")])
    assert (found.tasks, found.failed_tasks) == ((), 1)


def test_a_stage_that_a_later_job_of_the_batch_names_again_is_the_same_stage() -> None:
    found = event_log.told([progress(0), begins(0, 0), begins(0, 0), ends(1, 0, "0", 1)])
    assert [task.stage for task in found.tasks] == [0]


def test_a_log_that_was_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(json.dumps(progress(0)) + "\n" + json.dumps(progress(1))[:-9])
    assert len(event_log.read(tmp_path).batches) == 1


def test_moves_are_of_key_groups_that_run_elsewhere_than_in_the_batch_before() -> None:
    found = event_log.told(batches([("0", "0"), ("0", "1"), ("0", "1"), ("1", "0")]))
    assert list(event_log.moves(found.tasks)) == [("q", 1), ("q", 3), ("q", 3)]


def test_a_task_has_spark_s_figures_of_it() -> None:
    task = event_log.told(batches([("0", "1")])).tasks[1]
    assert (task.query, task.batch, task.executor, task.locality) == ("q", 0, "0", "PROCESS_LOCAL")
    assert (task.took_s, task.run_s, task.cpu_s, task.fetch_wait_s) == (0.9, 0.8, 0.45, 0.05)
    assert (task.local_bytes, task.remote_bytes) == (1000, 3000)


def test_the_last_stage_of_a_batch_is_that_of_its_last_job() -> None:
    """As where a batch is collected by one job and written by another."""
    events = [progress(0), begins(0, 0), ends(1, 0, "0", 1), begins(10, 0), ends(10, 0, "0", 1), ends(11, 0, "0", 1)]
    found = event_log.told(events)
    assert [(task.stage, task.last) for task in found.tasks] == [(0, False), (None, False), (1, True)]


def test_tasks_are_told_before_their_batch_has_ended() -> None:
    """A run that was stopped in mid-batch: its last one has no progress."""
    found = event_log.told([begins(0, 4), ends(1, 0, "0", 1)])
    assert ([task.batch for task in found.tasks], found.batches) == ([4], ())


@pytest.mark.parametrize("names", [(), ("one", "other")])
def test_a_folder_without_the_log_of_one_run_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in (*names, ".one.crc"):
        (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=f"{len(names)} event logs in .*, one is needed"):
        event_log.read(tmp_path)
