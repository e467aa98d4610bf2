"""A cycle that one batch of a shifted load wakes plans for that load: batches as real Spark ran them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worlds import World, even, job, series_with

from streamjob_operator.measure.stages import pooled_spread_s
from streamjob_operator.values import CycleRecord, Reason, Snapshot, StageView
from streamjob_planners.model import FloatArray

RECORDED = Path(__file__).parents[1] / "data" / "recorded_shifts.json"
"""Three times fourteen batches of a job with four executors, and the first one of a load that went elsewhere."""
SHIFTS: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
WARM = 4
"""Rows before the first cycle that plans."""


@dataclasses.dataclass(kw_only=True)
class Recorded(World):
    """Shows the recorded batches up to `until`, in windows of `window` of them."""

    busy_rows: FloatArray
    row_s: FloatArray
    batch_s: FloatArray
    until: int = WARM
    window: int = 2

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        seen = World.observe(self, now_s, window_s)
        until, window = self.until, self.window
        series = series_with(self.busy_rows[:until], row_s=self.row_s[:until], ended_s=now_s)
        series = dataclasses.replace(series, batch_s=self.batch_s[:until], other_busy_s=np.full(until, 0.04))
        busy_s = self.busy_rows[until - window : until].sum(axis=0)
        rates = dataclasses.replace(
            seen.rates, batches=window, mean_batch_s=float(self.batch_s[until - window : until].mean())
        )
        squares = float((self.busy_rows[until - window : until] ** 2).sum())
        stage = StageView(
            operator=0,
            level=0,
            wall_s=rates.mean_batch_s - 0.2,
            busy_s=float(busy_s.sum()) / window,
            longest_s=float(busy_s.max()) / window,
            spread_s=pooled_spread_s(squares, busy_s, window),
        )
        return dataclasses.replace(
            seen,
            series=series,
            busy_s=busy_s,
            rates=rates,
            window_s=float(self.row_s[until - window : until].sum()),
            stages=(stage,),
        )


def recorded(shift: dict[str, Any]) -> Recorded:
    """The job before its first batch was seen."""
    base = even(4, 4, 20.0)
    return Recorded(
        loads=base.loads,
        owners=list(shift["owners"]),
        executors=base.executors,
        busy_rows=np.array(shift["busy_s"]),
        row_s=np.array(shift["row_s"]),
        batch_s=np.array(shift["batch_s"]),
    )


def cycle(world: Recorded, until: int, window: int) -> CycleRecord:
    """The cycle that sees this batch as the newest one."""
    world.until, world.window = until, window
    return world.turn(job(("maxMigrations: 4", "maxMigrations: 16"), ("scaling: {mode: Auto", "scaling: {mode: Off")))


def after_quiet_batches(shift: dict[str, Any]) -> Recorded:
    """The job after its cycles on all batches before the shift: a window holds two, as those of a short period do."""
    world = recorded(shift)
    for until in range(WARM, len(shift["busy_s"]) - 1, 2):
        assert not cycle(world, until, 2).verdict.act
    return world


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("at", range(len(SHIFTS)))
def test_one_batch_of_a_shifted_load_is_planned_for(at: int, window: int) -> None:
    shift = SHIFTS[at]
    record = cycle(after_quiet_batches(shift), len(shift["busy_s"]), window)
    assert record.model is not None
    assert record.model.batch is not None
    assert record.snapshot is not None
    assert record.changed_at_s == pytest.approx(record.snapshot.taken_at_s - shift["row_s"][-1])
    assert record.model.batch.task_s == pytest.approx(shift["busy_s"][-1], rel=1e-3)
    assert (record.verdict.act, record.verdict.reason) == (True, Reason.BATCH_TIME)
    assert record.verdict.plan is not None
    before, after = record.verdict.plan.before.expected_s, record.verdict.plan.after.expected_s
    assert before == pytest.approx(shift["batch_s"][-1], rel=0.1)
    assert after is not None
    assert after < 0.8 * shift["batch_s"][-1]
