"""Where the seconds of the slowest batch went: they add up, and what nobody knows is not told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from streamjob_operator.report_slowest import account
from streamjob_operator.series import BatchSeries, BatchTimes, StageRows
from streamjob_operator.slowest import SlowBatch, Slowest
from streamjob_operator.values import CycleRecord, Snapshot, StageView

OWNERS = "00120012"
Make = Callable[..., CycleRecord]


def stage(operator: int | None, wall_s: float, busy_s: float) -> StageRows:
    one = np.ones(3)
    return StageRows(operator=operator, wall_s=wall_s * one, busy_s=busy_s * one, longest_s=one, wait_s=0.5 * one)


SERIES = BatchSeries(
    ended_at_s=np.array([1000.0, 1003.0, 1005.0]),
    row_s=np.array([2.0, 3.0, 2.0]),
    batches=np.ones(3, dtype=np.int64),
    batch_s=np.array([1.5, 3.0, 1.5]),
    busy_s=np.tile([0.6, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1], (3, 1)),
    records=np.ones((3, 8)),
    input_rows=np.ones(3),
    other_busy_s=np.zeros(3),
    moved=np.array([0, 2, 0]),
    executors_changed=np.array([0, 1, 0]),
    parts_s={"queryPlanning": np.full(3, 0.2), "addBatch": np.full(3, 2.6), "commitOffsets": np.full(3, 0.1)},
    stages={"operator-0": stage(0, 1.2, 1.8), "operator-1": stage(1, 0.5, 0.4), "free-0": stage(None, 0.3, 0.3)},
)
VIEWS = (
    StageView(operator=None, level=0, wall_s=0.3, busy_s=0.3, longest_s=0.3),
    StageView(operator=1, level=1, wall_s=0.5, busy_s=0.4, longest_s=0.1),
    StageView(operator=0, level=2, wall_s=1.2, busy_s=1.8, longest_s=0.6),
)


def record(make_record: Make, series: BatchSeries | None = SERIES, owners: str = OWNERS) -> CycleRecord:
    made = make_record(owners, at_s=1006.0, act=False)
    assert isinstance(made.snapshot, Snapshot)
    return dataclasses.replace(made, snapshot=dataclasses.replace(made.snapshot, series=series, stages=VIEWS))


def slowest(records: list[CycleRecord]) -> SlowBatch | None:
    seen = Slowest()
    for one in records:
        seen.see(one)
    return seen.batch()


def test_the_parts_of_the_slowest_batch_add_up(make_record: Make) -> None:
    found = slowest([record(make_record)])
    assert found is not None
    assert (found.ended_at_s, found.measured_s, found.moved, found.executors_changed) == (1003.0, 3.0, 2, 1)
    assert [one.operator for one in found.stages] == [None, 1, 0]  # as they ran
    parts_s = (found.planning_s, found.commits_s, found.rest_s, *(one.wall_s for one in found.stages))
    assert sum(parts_s) == pytest.approx(found.measured_s)
    assert found.rest_s == pytest.approx(3.0 - 0.2 - 0.1 - 2.0)


def test_each_executors_work_and_what_loading_cost_are_told_by_stage(make_record: Make) -> None:
    found = slowest([record(make_record)])
    assert found is not None
    heavy = found.stages[2]
    assert dict(heavy.work_s) == pytest.approx({"0": 0.9, "1": 0.2, "2": 0.2})
    assert heavy.binding == ("0", pytest.approx(0.9))
    assert heavy.extra_s == pytest.approx(1.8 - 1.3)
    assert found.stages[0].work_s == ()


def test_owners_are_not_told_once_key_groups_have_moved_on(make_record: Make) -> None:
    later = dataclasses.replace(SERIES, moved=np.array([0, 2, 1]))
    found = slowest([record(make_record, later)])
    assert found is not None
    assert all(one.work_s == () for one in found.stages)
    earlier = record(make_record)  # this cycle came before they moved, and knows
    known = slowest([record(make_record, later, "10120012"), earlier])
    assert known is not None
    assert known.stages[2].binding == ("0", pytest.approx(0.9))


def test_what_was_predicted_stands_beside_it(make_record: Make) -> None:
    times = BatchTimes(ended_at_s=np.array([1003.0]), measured_s=np.array([3.0]), predicted_s=np.array([2.7]))
    found = slowest([dataclasses.replace(record(make_record), batch_times=times)])
    assert found is not None
    assert found.predicted_s == pytest.approx(2.7)


def test_without_a_series_there_is_no_slowest_batch(make_record: Make, unmeasured: CycleRecord) -> None:
    untold = dataclasses.replace(SERIES, parts_s={}, stages={})
    several = dataclasses.replace(SERIES, batches=np.full(3, 2))
    records = [unmeasured, *(record(make_record, one) for one in (None, untold, several))]
    assert slowest(records) is None
    assert slowest([]) is None


def test_the_account_draws_parts_one_after_another(make_record: Make) -> None:
    found = slowest([record(make_record)])
    assert found is not None
    told = account(found, since_start_s=3.0)
    assert told.sentence.startswith("It ended at 3 s and took 3.00 s. 2 key groups ran on another executor")
    ends = [one.start_pct + one.work_pct + one.other_pct for one in told.rows]
    assert [one.start_pct for one in told.rows[1:]] == pytest.approx(ends[:-1], abs=0.05)
    assert ends[-1] == pytest.approx(100.0, abs=0.05)
    heavy = next(one for one in told.rows if one.name == "stage 3, operator 0")
    assert heavy.work_pct == pytest.approx(30.0, abs=0.05)
    assert heavy.what == (
        "executor 0 worked longest, 0.90 s (1: 0.20, 2: 0.20); of all its tasks together: starting tasks and loading "
        "state 0.50 s, waiting for a slot 0.50 s"
    )
    assert (
        "not known"
        in account(dataclasses.replace(found, stages=(dataclasses.replace(found.stages[1], work_s=()),)), 3.0)
        .rows[1]
        .what
    )
