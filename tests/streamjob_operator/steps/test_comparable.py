"""Which rows key groups are held against, where the load changed and an executor became slow after it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worlds import series_with

from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.turned import comparable, turned
from streamjob_planners.arrays import FloatArray
from streamjob_planners.capacity.pace import Pace

DATA = Path(__file__).parents[2] / "data" / "recorded_slow_after_shift.json"
"""Batches of a job on three executors: two key groups got nine times their work, then executor 0 three times slower."""
RECORDED: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
SLOW_AT, SHIFTED_AT = RECORDED["slow_at"], RECORDED["shifted_at"]
SLOTS = {"0": 1, "1": 1, "2": 1}


def recorded(until: int) -> BatchSeries:
    """The series once so many batches have ended; the first one begins at 0."""
    row_s = np.array(RECORDED["row_s"][:until])
    found = series_with(np.array(RECORDED["busy_s"][:until]), row_s=row_s, ended_s=float(row_s.sum()))
    return dataclasses.replace(found, records=np.ones(found.busy_s.shape))


def made_up(*factors: tuple[int, list[int], float]) -> BatchSeries:
    """Fifty batches of a second each; from a row on these key groups take so many times as long."""
    busy_s = np.random.default_rng(3).lognormal(0.0, 0.08, (50, 12))
    for row, groups, times in factors:
        busy_s[row:, groups] *= times
    return dataclasses.replace(series_with(busy_s, row_s=np.ones(50), ended_s=50.0), records=np.ones((50, 12)))


def first(series: BatchSeries, since_s: float | None, paces: dict[str, Pace] | None = None) -> int:
    return series.ended_at_s.size - comparable(series, since_s, paces or {}).ended_at_s.size


def test_an_executor_is_seen_as_slow_after_a_change_that_no_cycle_took_for_one() -> None:
    now = recorded(SLOW_AT + 2)
    found = turned(comparable(now, None, {}), RECORDED["owners"], {}, SLOTS)
    assert found.keys() == {"0"}
    assert found["0"].speed == pytest.approx(0.38, abs=0.05)
    assert turned(now, RECORDED["owners"], {}, SLOTS) == {}  # why the rows from before it are left out


def test_rows_begin_at_the_change_of_the_load_and_not_at_the_turn() -> None:
    assert first(recorded(SLOW_AT + 2), None) == SHIFTED_AT
    assert first(recorded(SHIFTED_AT + 2), None) == 0, "too new: it may be an executor"
    assert first(recorded(SHIFTED_AT), None) == 0


def test_what_is_known_is_not_taken_back() -> None:
    now = recorded(SLOW_AT + 2)
    begun_s: FloatArray = now.ended_at_s - now.row_s
    assert first(now, float(begun_s[SHIFTED_AT + 4])) == SHIFTED_AT + 4


def test_a_turn_is_no_change_of_the_load() -> None:
    now = made_up((20, [0, 3, 6, 9], 3.0))
    assert first(now, None) == 20, "unless it is known"
    assert first(now, None, {"0": Pace(speed=1 / 3, past=((20.0, 1.0),))}) == 0
    assert first(now, None, {"0": Pace(past=((10.0, 1.0), (20.0, 1 / 3)))}) == 0, "nor that it is well again"


def test_moves_are_no_change_of_the_load() -> None:
    now = made_up((20, [0, 3, 6, 9], 3.0))
    moved = np.zeros(50, dtype=np.int64)
    moved[20] = 2
    assert first(dataclasses.replace(now, moved=moved), None) == 0


def test_a_load_that_swings_has_no_change() -> None:
    swings = [(10 * at, [0, 3, 6, 9] if at % 2 else [1, 4, 7, 10], 4.0) for at in range(1, 5)]
    now = made_up(*swings)
    assert len(now.changes) > 2
    assert first(now, None) == 0
