"""Rates that step up or down in the middle of a statistics period, in the closed loop."""

from __future__ import annotations

from typing import Any

import pytest
from sim_worlds import elastic, merged, run

from streamjob_operator.values import Reason
from streamjob_sim.score import Score
from streamjob_sim.world import START_S

PERIOD_S, DOWN_S = 300.0, 600.0
RISE_S, FALL_S = 1350.0, 1250.0
"""150 and 250 s before a cycle: the window holds both rates."""


def stepping(rule: str, rate: int, later: int, step_s: float) -> dict[str, Any]:
    """Batches of 10 s whose rows vary, four executors that are right for the first rate."""
    policy = merged(elastic(rule), {"scaling": {"stabilization": {"down": f"{DOWN_S:g}s"}}})
    return {
        "duration": "55m",
        "arrival": {"rate": rate, "steps": [{"at": f"{step_s:g}s", "rate": later}], "noise": 0.1},
        "policy": merged(policy, {"balancing": {"statisticsPeriod": f"{PERIOD_S:g}s", "maxIterations": 300}}),
    }


def acts(score: Score, reason: Reason) -> list[tuple[float, int]]:
    """When executors were asked for or marked, seconds from the start, and how many were wanted then."""
    records = [turn.record for turn in score.turns if turn.record is not None and turn.record.scaling is not None]
    return [
        (one.at_s - START_S, one.scaling.target)
        for one in records
        if one.scaling is not None and one.scaling.reason is reason
    ]


def seen(score: Score) -> list[float]:
    """Changes of the level that records tell of, seconds from the start."""
    records = [turn.record for turn in score.turns if turn.record is not None]
    return [one.level_changed_at_s - START_S for one in records if one.level_changed_at_s is not None]


@pytest.mark.parametrize(("rule", "asked", "last"), [("utilization", 7, 7), ("batch-time", 6, 6)])
def test_a_rise_is_scaled_for_as_it_is_and_not_as_the_mean_over_the_window(rule: str, asked: int, last: int) -> None:
    """The mean over the window would ask for one or two fewer. By batch time six work off what gathered, too."""
    score = run(stepping(rule, 5000, 9000, RISE_S), planner="greedy")
    assert abs(seen(score)[0] - RISE_S) <= 25.0  # rates that vary by a tenth may show another one later, by chance
    at_s, executors = acts(score, Reason.SCALE_OUT)[0]
    assert RISE_S < at_s <= RISE_S + PERIOD_S
    assert executors == asked
    assert score.turns[-1].wanted == last


@pytest.mark.parametrize("rule", ["utilization", "batch-time"])
def test_a_fall_takes_nothing_away_before_it_has_lasted(rule: str) -> None:
    score = run(stepping(rule, 5000, 2200, FALL_S), planner="greedy")
    assert [abs(at_s - FALL_S) <= 25.0 for at_s in seen(score)] == [True]
    (first_s, executors), *_ = acts(score, Reason.SCALE_IN)
    assert first_s >= FALL_S + DOWN_S
    assert executors == 2
