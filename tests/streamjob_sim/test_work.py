"""What a simulated week costs, by work done and not by a clock: a look back costs the same however long the past is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sim_worlds import elastic, merged, world

from streamjob_planners.batch import predict
from streamjob_sim.batch import Batch
from streamjob_sim.job import SimulatedJob
from streamjob_sim.measure import newest_batches, truth
from streamjob_sim.replay.planner import LevelPlanning
from streamjob_sim.shapes import arrived_at
from streamjob_sim.simulate import job_of, simulate

DAY_S, HOUR_S = 86_400.0, 3600.0
WEEK: dict[str, Any] = {"duration": "7d", "batch": {"trigger": "60s", "alike": True}}
MOST_PLACEMENTS, MOST_CHANCES = 36, 30
"""Placements of which a cycle works out the ends of tasks, and of which it works out what chance adds: two of each of
the numbers of executors that the rule tries, and a handful for the plan, its worth and its verification."""


class Counted(deque[Batch]):
    """Batches that count how many of them were looked at."""

    looked_at = 0

    def __iter__(self) -> Iterator[Batch]:
        for one in super().__iter__():
            self.looked_at += 1
            yield one

    def __reversed__(self) -> Iterator[Batch]:
        for one in super().__reversed__():
            self.looked_at += 1
            yield one


def test_a_look_at_the_end_of_a_week_reads_its_own_batches_alone() -> None:
    job = SimulatedJob(world(WEEK), np.random.default_rng(1))
    job.advance(7 * DAY_S)
    job.batches = Counted(job.batches)
    found, covered_s = newest_batches(job, HOUR_S)
    assert len(job.batches) > 1000
    assert covered_s >= HOUR_S
    assert job.batches.looked_at <= len(found) + 10
    told, job.batches.looked_at = truth(job, HOUR_S).series, 0
    assert told is not None
    assert told.batches.sum() <= 3 * HOUR_S / 60.0 + 5


def test_the_newest_batches_are_those_since_the_window_began() -> None:
    job = SimulatedJob(world(WEEK), np.random.default_rng(1))
    job.advance(2 * HOUR_S)
    for window_s in (60.0, 601.0, HOUR_S, DAY_S):
        found, covered_s = newest_batches(job, window_s)
        ends_s = [0.0, *(one.end_s for one in job.batches)]
        first = max(at for at, end_s in enumerate(ends_s) if at == 0 or end_s <= ends_s[-1] - window_s)
        assert [one.end_s for one in found] == ends_s[first + 1 :]
        assert covered_s == ends_s[-1] - ends_s[first]


def test_what_has_arrived_is_read_off_the_seconds_around_a_moment() -> None:
    arrived = np.concatenate(([0.0], np.cumsum(np.random.default_rng(1).uniform(0.0, 9.0, 50))))
    for at_s in ([-3.0], [0.0], [0.25], [17.0], [17.5, 18.0, 31.9], [49.5, 60.0], [50.0], [77.0, 78.0]):
        moments = np.array(at_s)
        np.testing.assert_array_equal(arrived_at(arrived, moments), np.interp(moments, np.arange(51.0), arrived))


@pytest.mark.parametrize("rule", ["batch-time", "utilization"])
def test_a_cycle_predicts_no_batch_without_need(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    placements, chances = _counted("levels_s", monkeypatch), _counted("expected_excess", monkeypatch)
    quiet = world(merged({"duration": "2h", "policy": elastic(rule)}, {"batch": {"alike": True}}))
    score = simulate(quiet, job_of(quiet), None, 1, planning=LevelPlanning())
    assert len(score.turns) > 20
    assert 0 < len(placements) <= MOST_PLACEMENTS * len(score.turns)
    assert 0 < len(chances) <= MOST_CHANCES * len(score.turns)


def _counted(name: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows with each call of that function of the module."""
    calls, real = [], getattr(predict, name)

    def call(*arguments: Any) -> Any:
        calls.append(1)
        return real(*arguments)

    monkeypatch.setattr(predict, name, call)
    return calls
