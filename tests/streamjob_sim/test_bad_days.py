"""Missing and old metrics, lost executors, crashes of the controller: nothing is lost, nothing is done blindly."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sim_worlds import ELASTIC, HOT, elastic, operators, run

from streamjob_sim.score import Score, Turn

# Skewed, so that there is always a move to make; and too large a fleet, so that there is always one to remove.
TEMPTING: dict[str, Any] = {
    "duration": "30m",
    "operators": operators({"skew": {**HOT, "shiftEvery": "5m", "shiftBy": 3}}),
    "arrival": {"rate": 3000, "wave": {"amplitude": 0.8, "period": "12m"}},
    "executors": {"initial": 6},
    "policy": ELASTIC,
}


def faulty(*faults: Mapping[str, Any]) -> dict[str, Any]:
    return {**TEMPTING, "faults": list(faults)}


def acting(score: Score, start_s: float, end_s: float) -> list[Turn]:
    """Turns within [start_s, end_s) that changed something."""
    return [
        turn
        for turn in score.turns
        if start_s <= turn.at_s < end_s and turn.record is not None and turn.record.verdict.act
    ]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"kind": "MetricsUnavailable"}, "MetricsUnavailable"),
        ({"kind": "MetricsRefused"}, "MetricsStale"),
        ({"kind": "MetricsGaps", "share": 0.4}, "MetricsIncomplete"),
    ],
)
def test_without_good_metrics_nothing_is_changed(fault: dict[str, Any], reason: str) -> None:
    score = run(faulty({**fault, "at": "6m", "for": "10m"}))
    assert acting(score, 0, 360)
    assert acting(score, 360, 960) == []
    assert score.reasons[reason] == 10
    assert acting(score, 960, 1800)
    assert score.violations == ()


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_pages_that_lack_key_groups_change_nothing_blindly(share: float) -> None:
    score = run(faulty({"kind": "MetricsPartial", "at": "6m", "for": "10m", "share": share}))
    assert acting(score, 360, 960) == []
    assert score.violations == ()


def test_frozen_metrics_are_not_acted_on_once_they_are_old() -> None:
    score = run(faulty({"kind": "MetricsFrozen", "at": "6m", "for": "12m"}))
    # The newest good one is of the turn before, and three periods old at most when it is used.
    assert acting(score, 300 + 4 * 60, 1080) == []
    assert score.reasons["MetricsStale"] > 0


def test_one_measurement_is_acted_on_once() -> None:
    score = run(faulty({"kind": "MetricsFrozen", "at": "6m", "for": "12m"}))
    used = [
        turn.record.snapshot.taken_at_s
        for turn in acting(score, 0, 1800)
        if turn.record is not None and turn.record.snapshot is not None
    ]
    assert len(used) == len(set(used))


@pytest.mark.parametrize("kind", ["MetricsUnavailable", "ControllerDown"])
def test_one_calm_measurement_after_an_outage_does_not_scale_in(kind: str) -> None:
    # Busy until the outage, calm after it: three minutes of calm must be seen, not assumed.
    score = run(
        {
            "duration": "30m",
            "arrival": {"rate": 6000, "steps": [{"at": "10m", "rate": 1000}]},
            "executors": {"initial": 5},
            "policy": ELASTIC,
            "faults": [{"kind": kind, "at": "9m30s", "for": "8m"}],
        }
    )
    back_s = min(turn.at_s for turn in score.turns if turn.at_s >= 1050)
    before = next(turn.wanted for turn in score.turns if turn.at_s == back_s - 60)
    early = [turn.wanted for turn in score.turns if back_s <= turn.at_s < back_s + 120]
    assert all(wanted is not None and before is not None and wanted >= before for wanted in early)
    assert score.turns[-1].wanted == 1


def test_an_actuator_that_is_away_is_tried_again() -> None:
    score = run(faulty({"kind": "ActuatorUnavailable", "at": "2m", "for": "5m"}))
    refused = [turn for turn in acting(score, 120, 420) if turn.record is not None and turn.record.receipt is not None]
    assert refused
    assert not any(turn.record.receipt.accepted for turn in refused if turn.record and turn.record.receipt)
    assert sum(batch.moves for batch in score.batches if batch.end_s > 420) > 0
    assert score.violations == ()


@pytest.mark.parametrize("executor", ["0", "3"])
def test_a_lost_executor_is_made_good(executor: str) -> None:
    score = run(
        {
            "duration": "20m",
            "operators": operators({"skew": HOT}),
            "faults": [{"kind": "ExecutorDeath", "at": "8m5s", "executor": executor}],
        }
    )
    assert score.turns[-1].executors == 4
    assert score.final_distance <= 10
    assert score.final_waiting <= 2 * 40_000
    assert score.violations == ()


def test_an_executor_that_dies_while_it_is_drained_is_forgotten() -> None:
    calm = {"arrival": {"rate": 1000}, "policy": ELASTIC, "duration": "25m", "agent": {"movesPerBatch": 1}}
    alone = run(calm)
    marked = [turn for turn in alone.turns if turn.marked]
    assert marked
    dying = {"kind": "ExecutorDeath", "at": f"{marked[0].at_s + 20:g}s", "executor": "3"}
    score = run({**calm, "faults": [dying]})
    assert score.turns[-1].marked == 0
    assert score.turns[-1].executors == alone.turns[-1].executors
    assert score.violations == ()


# 1500/s of 1000/s slots at 70 percent need 1.1 executors of two slots; one takes its batches in 8 s of 10.
@pytest.mark.parametrize(("rule", "executors"), [("utilization", 2), ("batch-time", 1)])
@pytest.mark.parametrize("seed", range(8))
def test_a_controller_that_crashes_anywhere_does_no_harm(seed: int, rule: str, executors: int) -> None:
    score = run(
        {
            "duration": "65m",
            "operators": operators({"skew": HOT}),
            "arrival": {"rate": 2000, "steps": [{"at": "15m", "rate": 6000}, {"at": "30m", "rate": 1500}]},
            "executors": {"initial": 3},
            "policy": elastic(rule),
            "faults": [{"kind": "ControllerCrashes", "at": "0s", "for": "50m", "share": 0.5}],
        },
        planner="greedy",
        seed=seed,
    )
    assert score.crashes > 5
    assert score.violations == ()
    assert score.turns[-1].marked == 0
    assert score.turns[-1].executors == score.turns[-1].wanted == executors
    assert score.final_waiting <= 2 * 15_000


changes = st.fixed_dictionaries(
    {
        "operators": st.builds(
            lambda exponent, hot, traffic: operators(
                {"skew": {"keys": 500, "exponent": exponent, "hotPartitions": 1, "hotShare": hot}},
                {"name": "second", "traffic": traffic, "recordsPerSlotSecond": 3000},
            ),
            st.floats(0, 0.6),
            st.floats(0, 0.03),
            st.sampled_from(["OneToOne", "Full"]),
        ),
        "arrival": st.builds(
            lambda first, second, at: {"rate": first, "steps": [{"at": f"{at}m", "rate": second}]},
            st.integers(500, 4000),
            st.integers(500, 4000),
            st.integers(3, 15),
        ),
        "executors": st.fixed_dictionaries(
            {"initial": st.integers(2, 6), "placement": st.sampled_from(["Even", "Piled", "Random"])}
        ),
        "agent": st.fixed_dictionaries({"disobey": st.sampled_from([0.0, 0.3])}),
    }
)


def examples(most: int) -> settings:
    """Without shrinking: each example is two hours of a job, and one that fails is small enough to be read as it is."""
    return settings(max_examples=most, derandomize=True, phases=[Phase.explicit, Phase.generate])


@pytest.mark.slow
@examples(6)
@given(changes, st.integers(0, 1000))
def test_the_loop_converges_after_some_changes(changed: dict[str, Any], seed: int) -> None:
    converges(changed, seed)


@pytest.mark.long
@pytest.mark.timeout(1200)
@examples(20)
@given(changes, st.integers(0, 1000))
def test_the_loop_converges_after_any_change(changed: dict[str, Any], seed: int) -> None:
    converges(changed, seed)


def converges(changed: dict[str, Any], seed: int) -> None:
    # A step of eight times the load piles up a backlog that Spark takes in one batch of many minutes.
    score = run({"duration": "120m", "policy": ELASTIC, **changed}, planner="greedy", seed=seed)
    assert score.violations == ()
    last = [turn for turn in score.turns if turn.at_s > 5400]
    assert len({turn.wanted for turn in last}) == 1
    assert all(turn.marked == 0 and turn.executors == turn.wanted for turn in last)
    assert np.mean([turn.load_distance for turn in last if turn.load_distance is not None]) <= 10
    assert sum(batch.moves for batch in score.batches if batch.end_s > 5400) == 0
