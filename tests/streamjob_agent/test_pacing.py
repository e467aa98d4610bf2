"""The agent's share of the driver's time: pauses after rounds, and when expensive readings are due."""

from __future__ import annotations

import pytest

from streamjob_agent.pacing import Rounds, SlowWork


class Readings:
    """Expensive readings every third batch at most, that may take half of the time; the clock begins at 0."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.work = SlowWork(0.5, 3, lambda: self.now_s)


@pytest.mark.parametrize("cost_s", [0.001, 0.05, 0.18, 1.0])
def test_the_share_of_the_time_is_kept_however_long_a_round_takes(cost_s: float) -> None:
    gap_s = Rounds(0.02).gap_s(cost_s)
    assert cost_s / (cost_s + gap_s) <= 0.02


def test_a_round_that_hung_silences_the_agent_for_a_minute_at_most() -> None:
    assert Rounds(0.02).gap_s(30.0) == 60.0


def test_the_first_batch_is_read_then_every_third() -> None:
    readings = Readings()
    due = []
    for _ in range(7):
        due.append(readings.work.due(1))
        if due[-1]:
            readings.work.done(0.0)
    assert due == [True, False, False, True, False, False, True]


def test_nothing_is_read_while_no_batch_ends() -> None:
    readings = Readings()
    assert not readings.work.due(0)
    assert readings.work.due(1)


def test_batches_that_ended_together_count_one_by_one() -> None:
    readings = Readings()
    readings.work.done(0.0)
    assert not readings.work.due(2)
    assert readings.work.due(2)


def test_a_reading_that_took_long_is_not_made_again_before_its_share_of_the_time_is_kept() -> None:
    readings = Readings()
    readings.now_s = 100.0
    readings.work.done(4.0)
    readings.now_s = 107.5
    assert not readings.work.due(9)
    readings.now_s = 108.0
    assert readings.work.due(1)


def test_a_reading_that_hung_silences_readings_for_two_hours_at_most() -> None:
    readings = Readings()
    readings.work.done(86_400.0)
    readings.now_s = 7_199.0
    assert not readings.work.due(9)
    readings.now_s = 7_200.0
    assert readings.work.due(1)


def test_what_was_spent_is_the_sum_of_what_was_done() -> None:
    rounds, work = Rounds(0.02), Readings().work
    for cost_s in (0.5, 0.25):
        rounds.gap_s(cost_s)
        work.done(cost_s)
    assert (rounds.spent_s, work.spent_s) == (0.75, 0.75)
