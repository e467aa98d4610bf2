"""Batches that are alike are worked out once: the figures are those of every batch worked out for itself."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from sim_worlds import elastic, merged, world

from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate

DAY: dict[str, Any] = {
    "duration": "3h",
    "arrival": {"rate": 4000, "steps": [{"at": "1h", "rate": 9000}, {"at": "2h", "rate": 3000}]},
    "policy": {"balancing": {"statisticsPeriod": "5m", "planDeadline": "20s", "maxIterations": 2000}},
}


@pytest.fixture(scope="module", params=["utilization", "batch-time"])
def both(request: pytest.FixtureRequest) -> tuple[Score, Score]:
    day = merged(DAY, {"policy": elastic(request.param)})
    runs = [world(merged(day, {"batch": {"alike": alike}})) for alike in (False, True)]
    each, alike = (simulate(one, job_of(one), "greedy", 1) for one in runs)
    return each, alike


def test_there_are_far_fewer_batches_to_work_out(both: tuple[Score, Score]) -> None:
    each, alike = both
    assert all(batch.times == 1 for batch in each.batches)
    assert sum(batch.times for batch in alike.batches) == pytest.approx(len(each.batches), rel=0.02)
    assert len(alike.batches) <= len(each.batches) / 3


def test_scaling_and_batches_are_the_same(both: tuple[Score, Score]) -> None:
    each, alike = (dataclasses.asdict(score) for score in both)
    assert each["scale_outs"] > 0
    assert each["scale_ins"] > 0
    for name in ("scale_outs", "scale_ins", "turns_back"):
        assert alike[name] == each[name], name
    for name in ("executor_s", "mean_batch_s", "p95_batch_s", "max_batch_s", "overloaded_s"):
        assert alike[name] == pytest.approx(each[name], rel=0.02), name


def test_nothing_is_alike_while_rows_wait() -> None:
    slow = world({"duration": "20m", "arrival": {"rate": 20_000}, "batch": {"alike": True}})
    score = simulate(slow, job_of(slow), "hold", 1)
    assert {batch.times for batch in score.batches} == {1}
    assert score.final_waiting > score.batches[0].waiting


def test_a_slow_executor_ends_a_row_of_alike_batches() -> None:
    fault = {"kind": "ExecutorSlow", "at": "605s", "for": "5m", "executor": "0", "share": 0.25}
    slowed = world({"duration": "20m", "batch": {"alike": True}, "faults": [fault]})
    score = simulate(slowed, job_of(slowed), "hold", 1)
    lengths_s = {round(batch.started_s): batch.length_s for batch in score.batches}
    assert lengths_s[610] > 2 * lengths_s[min(lengths_s)]
    assert score.batches[-1].length_s == pytest.approx(lengths_s[min(lengths_s)], rel=0.01)
