"""Measurements that go missing in the middle of a surge: what the ladder of `scaling.failSafe` is worth."""

from __future__ import annotations

from typing import Any

import pytest
from sim_worlds import ELASTIC, HOT, merged, operators, run

from streamjob_sim.score import Score

FLOOR = {"outAfter": "2m", "floorAfter": "4m", "floor": 7}
SURGE: dict[str, Any] = {
    "duration": "60m",
    "arrival": {"rate": 4000, "steps": [{"at": "10m", "rate": 9000}, {"at": "40m", "rate": 4000}]},
    "executors": {"initial": 3},
    "policy": ELASTIC,
}


def surge(at: str, fail_safe: dict[str, Any] | None, **changes: Any) -> Score:
    """The rate more than doubles at minute 10; measurements are gone for 20 minutes from `at` on."""
    policy = {"policy": {"scaling": {"failSafe": fail_safe or {}}}}
    fault = {"kind": "MetricsUnavailable", "at": at, "for": "20m"}
    return run(merged(merged(SURGE, {**policy, "faults": [fault]}), changes), planner="greedy")


def wanted(score: Score, start_s: float, end_s: float) -> list[int]:
    return [turn.wanted or 0 for turn in score.turns if start_s <= turn.at_s < end_s]


def test_without_a_ladder_the_surge_waits_for_measurements() -> None:
    score = surge("9m30s", None)
    assert set(wanted(score, 600, 1770)) == {3}
    assert score.violations == ()


def test_the_floor_carries_a_surge_that_nobody_measures() -> None:
    held, safe = surge("9m30s", None), surge("9m30s", FLOOR)
    assert max(wanted(safe, 600, 1770)) == 7
    assert safe.reasons["FailSafeFloor"] == 1, "those that come take their share by themselves"
    assert safe.max_waiting < held.max_waiting / 2
    assert safe.violations == ()
    assert safe.final_waiting <= 2 * 40_000


def test_what_was_needed_when_measurements_ended_is_asked_for_without_them() -> None:
    # Measurements end right after the first cycle that saw the surge, whose stabilisation is not over.
    slow = {"policy": {"scaling": {"stabilization": {"up": "3m", "down": "3m"}}}}
    held, safe = surge("11m30s", None, **slow), surge("11m30s", {"outAfter": "2m"}, **slow)
    assert set(wanted(held, 690, 1890)) == {3}
    assert max(wanted(safe, 690, 1890)) > 3
    assert safe.max_waiting < held.max_waiting
    assert safe.violations == ()


@pytest.mark.parametrize("kind", ["MetricsUnavailable", "MetricsRefused", "MetricsGaps", "MetricsPartial"])
@pytest.mark.parametrize("seed", [1, 2])
def test_none_is_taken_away_and_no_number_swings_however_measurements_are_missing(kind: str, seed: int) -> None:
    share = {"share": 0.5} if kind in ("MetricsGaps", "MetricsPartial") else {}
    faults = [{"kind": kind, "at": f"{at}m30s", "for": "7m", **share} for at in (9, 18, 27)]
    died = {"kind": "ExecutorDeath", "at": "12m5s"}
    changed = {
        "operators": operators({"skew": HOT}),
        "policy": {"scaling": {"failSafe": FLOOR}},
        "faults": [*faults, died],
    }
    score = run(merged(SURGE, changed), planner="greedy", seed=seed)
    assert score.violations == ()
    for at_s in (570, 1110, 1650):
        during = wanted(score, at_s, at_s + 420)
        assert during == sorted(during)
        assert max(during) <= 8
    assert all(turn.marked == 0 for turn in score.turns if 600 <= turn.at_s < 990)


def test_after_the_outage_the_floor_goes_only_after_the_stabilisation() -> None:
    score = surge("9m30s", FLOOR)
    back_s = 570 + 1200
    # A statistics period until the ladder is left, and three minutes of stabilisation.
    early = wanted(score, back_s, back_s + 60 + 180)
    assert min(early) >= 7
    assert score.turns[-1].wanted is not None
    assert score.turns[-1].wanted < 7
