"""On paper, too, what happens wakes a cycle before its statistics period is over."""

from __future__ import annotations

import pytest
from sim_worlds import ELASTIC, merged, world

from streamjob_operator.events import EventKind
from streamjob_sim.score import Turn
from streamjob_sim.simulate import job_of, simulate

RISE_S, PERIOD_S = 620.0, 300.0
SURGE = {
    "duration": "16m",
    "arrival": {"rate": 4000, "steps": [{"at": f"{RISE_S:g}s", "rate": 9000}]},
    "policy": merged(ELASTIC, {"balancing": {"statisticsPeriod": f"{PERIOD_S:g}s", "maxIterations": 200}}),
}


def first_after_the_rise(*, events: bool) -> Turn:
    given = world(SURGE)
    score = simulate(given, job_of(given), "greedy", 1, clock=lambda: 0.0, events=events)
    return next(turn for turn in score.turns if turn.at_s > RISE_S)


def test_two_batches_out_of_their_range_wake_a_cycle() -> None:
    turn = first_after_the_rise(events=True)
    assert turn.at_s < RISE_S + 60.0
    assert turn.record is not None
    assert EventKind.BATCH_OUT_OF_RANGE in {one.kind for one in turn.record.woken}


def test_without_events_the_clock_alone_does() -> None:
    assert first_after_the_rise(events=False).at_s == pytest.approx(3 * PERIOD_S)
