"""The planner `auto` in the whole cycle: whom it asks is told, remembered, and what it is asked for is carried out."""

from __future__ import annotations

import dataclasses

import numpy as np
from worlds import World, even, job, series_with, warm

from streamjob_operator.memory import from_json, to_json
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import Reason, Snapshot

AUTO = job(
    ("planner: greedy", "planner: auto"),
    ("min: 1, max: 6", "min: 4, max: 4"),
    ("{maxCost: 1h, maxMigrations: 4}", "{maxCost: 1h}"),
)
ROWS, ROW_S = 24, 2.0


class Swinging(World):
    """Four executors, each with the key groups of one set; each set is hot in every fourth batch."""

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        snapshot = super().observe(now_s, window_s)
        sets = np.arange(len(self.loads)) // (len(self.loads) // 4)
        hot = np.arange(ROWS)[:, None] % 4 == sets
        rng = np.random.default_rng(round(now_s))
        factor = np.where(hot, 2.8, 0.4) * rng.normal(1.0, 0.03, hot.shape)
        busy_s = np.array(self.loads) / 100.0 * ROW_S * factor
        series = series_with(busy_s, row_s=np.full(ROWS, ROW_S), ended_s=snapshot.taken_at_s)
        per_executor = [busy_s[:, np.array(self.owners) == one].sum(axis=1) for one in self.executors]
        batch_s = 0.1 + float(np.max(per_executor, axis=0).mean())
        rates = dataclasses.replace(snapshot.rates, mean_batch_s=batch_s, last_batch_s=batch_s)
        return dataclasses.replace(snapshot, series=series, rates=rates)

    def taken(self) -> float:
        """Mean over the sets of the slowest executor's load while that set is hot."""
        sets = np.arange(len(self.loads)) // (len(self.loads) // 4)
        owners = np.array(self.owners)
        found = []
        for one in range(4):
            load = np.array(self.loads) * np.where(sets == one, 2.8, 0.4)
            found.append(max(load[owners == name].sum() for name in self.executors))
        return float(np.mean(found))


def swinging() -> Swinging:
    flat = even(4, 8, 5.0)
    return Swinging(loads=flat.loads, owners=flat.owners, executors=flat.executors)


def settled(world: World, of: StreamJob, turns: int) -> list[str]:
    return [world.turn(of).verdict.message for _ in range(turns)]


def test_loads_that_swing_are_evened_out_and_that_is_told() -> None:
    world = swinging()
    before = world.taken()
    messages = settled(warm(world, AUTO), AUTO, 6)
    acted = [one for one in world.assignments if one.reason is Reason.BATCH_TIME]
    assert acted, messages
    assert "Loads swing from batch to batch" in acted[0].message
    assert "Planner search by auto (NothingUnusual)" in acted[0].message
    assert world.taken() < 0.6 * before
    assert len(acted) <= 2, "what is level over all batches stays"


def test_whom_it_asked_is_remembered_and_survives_a_restart() -> None:
    world = swinging()
    settled(warm(world, AUTO), AUTO, 2)
    assert world.stored.chosen == "search"
    assert from_json(to_json(world.stored)).chosen == "search"


def test_an_even_job_is_for_search_and_says_so() -> None:
    world = even(4, 8, 5.0)
    message = settled(warm(world, AUTO), AUTO, 2)[-1]
    assert "Planner search by auto (NothingUnusual)" in message
    assert world.stored.chosen == "search"


def test_without_auto_nobody_chooses() -> None:
    fixed = job(("min: 1, max: 6", "min: 4, max: 4"))
    world = even(4, 8, 5.0)
    assert "by auto" not in settled(warm(world, fixed), fixed, 2)[-1]
    assert world.stored.chosen is None
