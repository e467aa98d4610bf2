"""On paper, too, what happens wakes a cycle before its statistics period is over."""

from __future__ import annotations

import pytest
import yaml
from benchmarks.looking import Looking

from streamjob_operator.events import EventKind
from streamjob_sim.reading import parse_world
from streamjob_sim.score import Turn
from streamjob_sim.simulate import job_of, simulate

RISE_S, PERIOD_S = 620.0, 300.0
SURGE = {
    "duration": "16m",
    "operators": [{"name": "count", "partitions": 32, "recordsPerSlotSecond": 1000, "state": {"initial": "1Mi"}}],
    "arrival": {"rate": 4000, "steps": [{"at": f"{RISE_S:g}s", "rate": 9000}]},
    "executors": {"initial": 4, "cores": 2, "startup": "30s"},
    "batch": {"trigger": "10s", "fixed": "200ms"},
    "policy": {
        "executors": {"min": 1, "max": 8},
        "balancing": {"mode": "Auto", "statisticsPeriod": f"{PERIOD_S:g}s", "maxIterations": 200},
        "scaling": {"mode": "Auto"},
    },
}


def first_after_the_rise(*, events: bool) -> Turn:
    given = parse_world(yaml.safe_dump(SURGE))
    score = simulate(given, job_of(given), "greedy", 1, clock=lambda: 0.0, looking=Looking if events else None)
    return next(turn for turn in score.turns if turn.at_s > RISE_S)


def test_the_second_batch_of_more_rows_wakes_a_cycle_while_it_runs_and_is_enough_to_ask_for_executors() -> None:
    turn = first_after_the_rise(events=True)
    assert turn.at_s < RISE_S + 25.0
    assert turn.record is not None
    assert {one.kind for one in turn.record.woken} == {EventKind.ROWS_ROSE}
    assert turn.record.scaling is not None
    assert turn.record.scaling.target > turn.executors


def test_without_events_the_clock_alone_does() -> None:
    assert first_after_the_rise(events=False).at_s == pytest.approx(3 * PERIOD_S)
