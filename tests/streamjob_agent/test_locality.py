"""How long tasks wait for their own executor: a stage's time, and no longer than a stolen task would cost."""

from __future__ import annotations

from streamjob_agent.locality import LONGEST_S, SHORTEST_S, LocalityTuner


def test_before_anything_has_moved_it_is_twice_the_stage() -> None:
    assert LocalityTuner().observe(10.0, 2.0, None) == 20.0


def test_it_is_no_longer_than_the_longest_task_and_a_load_there_and_back() -> None:
    assert LocalityTuner().observe(10.0, 2.0, 0.75) == 3.5


def test_a_stage_that_is_over_before_a_stolen_task_would_pay_needs_no_longer_wait() -> None:
    assert LocalityTuner().observe(4.0, 4.0, 30.0) == 8.0


def test_it_is_as_long_as_sparks_own_at_least_and_a_minute_at_most() -> None:
    assert LocalityTuner().observe(10.0, 0.1, 0.1) == SHORTEST_S
    assert LocalityTuner().observe(100.0, 90.0, 50.0) == LONGEST_S
    assert LocalityTuner().observe(100.0, None, 0.1) == LONGEST_S


def test_without_a_stage_nothing_changes_and_little_changes_are_not_worth_it() -> None:
    tuner = LocalityTuner()
    assert tuner.observe(None, 2.0, 1.0) is None
    assert tuner.observe(10.0, 4.0, 1.0) == 6.0
    assert tuner.observe(None, 9.0, 1.0) is None
    assert tuner.observe(10.0, 4.0, 1.5) is None
    assert tuner.observe(10.0, 4.0, 2.0) == 8.0


def test_one_that_could_not_be_set_is_proposed_again() -> None:
    tuner = LocalityTuner()
    assert tuner.observe(10.0, None, None) == 20.0
    tuner.forget()
    assert tuner.observe(10.0, None, None) == 20.0


def test_nothing_is_to_be_won_from_tasks_that_an_executor_steals_which_is_drained() -> None:
    tuner = LocalityTuner()
    assert tuner.observe(10.0, 1.5, 0.1, draining=True) == 20.0
    assert tuner.observe(None, None, 0.1) == SHORTEST_S


def test_a_drain_counts_before_the_next_stage_has_ended() -> None:
    tuner = LocalityTuner()
    assert tuner.observe(4.0, 1.5, 0.1) == SHORTEST_S
    assert tuner.observe(None, None, 0.1, draining=True) == 8.0
    assert tuner.observe(None, None, 0.1, draining=True) is None
