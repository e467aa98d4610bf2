"""The agent's share of the driver's time: pauses after rounds, and when expensive readings are due."""

from __future__ import annotations

import pytest

from streamjob_agent.pacing import LONGEST_STILL_S, MOST_STILL_S, STILL_RATIO, Rounds, SlowWork, Stillness


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


class Quiet:
    """Rounds of which each is made as soon as it is due; the clock begins at 0."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.stillness = Stillness(lambda: self.now_s)

    def rounds_until(self, end_s: float) -> int:
        """How many are made by then, though nothing happens."""
        made = 0
        while (due_s := self.now_s + self.stillness.left_s) <= end_s:
            self.now_s = due_s
            self.stillness.looked(well=True, news=False)
            made += 1
        self.now_s = end_s
        return made


def test_a_young_batch_is_looked_at_every_few_seconds() -> None:
    quiet = Quiet()
    quiet.stillness.looked(well=True, news=True)
    assert quiet.stillness.left_s == LONGEST_STILL_S
    assert quiet.rounds_until(60.0) == 60.0 / LONGEST_STILL_S
    quiet.now_s += 0.5 * LONGEST_STILL_S
    assert quiet.stillness.left_s == 0.5 * LONGEST_STILL_S


def test_an_older_one_as_seldom_as_its_age_allows_but_not_for_longer_than_that() -> None:
    quiet = Quiet()
    quiet.stillness.looked(well=True, news=True)
    quiet.rounds_until(1000.0)
    quiet.stillness.looked(well=True, news=False)
    assert quiet.stillness.left_s == STILL_RATIO * 1000.0
    assert quiet.rounds_until(1800.0) <= 40
    quiet.stillness.looked(well=True, news=False)
    assert quiet.stillness.left_s == MOST_STILL_S


def test_news_and_failures_bring_the_next_look_forward() -> None:
    quiet = Quiet()
    quiet.rounds_until(2000.0)
    quiet.stillness.looked(well=False, news=False)
    assert quiet.stillness.left_s == 0.0
    quiet.stillness.looked(well=True, news=True)
    assert quiet.stillness.left_s == LONGEST_STILL_S


def test_a_look_is_due_before_the_first() -> None:
    assert Quiet().stillness.left_s == 0.0
