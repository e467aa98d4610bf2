"""The table of slow executors: what counts as within reach, and after how many batches."""

from __future__ import annotations

from typing import Any

import pytest
import slow
import table

BOUND_MS, SLOW_MS, FIXED_MS = 1800.0, 2160.0, 900.0
NAME = "slowed-wait"


def run(slow_ms: list[float], well_ms: list[float], **more: Any) -> dict[str, Any]:
    """A run whose batches before are at the bound and the fixed part; a batch begins each second."""
    first, end = slow.CASES[NAME].first, slow.CASES[NAME].end
    slow_ms += [SLOW_MS + FIXED_MS] * (end - first - len(slow_ms))
    well_ms += [BOUND_MS + FIXED_MS] * (16 - len(well_ms))
    took_ms = [BOUND_MS + FIXED_MS] * first + slow_ms + well_ms
    bound_ms = [BOUND_MS] * first + [SLOW_MS] * (end - first) + [BOUND_MS] * 16
    began_at_s = [float(at) for at in range(len(took_ms))]
    return {"durations_ms": took_ms, "makespan_ms": bound_ms, "began_at_s": began_at_s, "cycles": [], **more}


def test_batches_until_within_a_tenth_are_counted_on_both_sides() -> None:
    row = slow.row(NAME, "streamjob", [run([6000.0, 6000.0, 3400.0], [4000.0])])
    assert (row["slow_until_within"], row["slow_beyond"]) == ([3], [3])  # 3,400 is 1.11 of 3,060
    assert (row["well_until_within"], row["well_beyond"]) == ([1], [1])
    assert table.told_figure(row["slow_over_reach_at_end"]) == "1.00"


def test_one_that_never_gets_there_is_told() -> None:
    row = slow.row(NAME, "vanilla", [run([6000.0] * 16, [])])
    assert (row["slow_until_within"], row["slow_beyond"]) == ([None], [16])
    assert (row["known_after"], row["trusted_after"]) == ([None], [None])


@pytest.mark.parametrize(("at_s", "known"), [(17.5, 1), (18.0, 2)])
def test_when_it_was_known_is_told_in_batches_that_had_ended(at_s: float, known: int) -> None:
    cycles = [{"at_s": 15.0, "speeds": {}}, {"at_s": at_s, "speeds": {"2": 0.3}}, {"at_s": 35.0, "speeds": {}}]
    row = slow.row(NAME, "streamjob", [run([], [], cycles=cycles)])
    assert row["known_after"] == [known]
    assert row["trusted_after"] == [3]
