"""The HorizontalPodAutoscaler against cases of its own tests, and of its documentation."""

import pytest
from situations import busy, situation_of
from worlds import job

from streamjob_operator.scaling.rivals import hpa, keda
from streamjob_operator.scaling.rivals.hpa_behavior import Behavior, History, Policy, normalised

WIDE = (1, 1000)


@pytest.mark.parametrize(
    ("usage_ratio", "ready", "current", "desired"),
    [
        (50 / 30, 3, 3, 5),  # replica_calculator_test.go TestReplicaCalcScaleUp: 300, 500, 700 of 1000m at 30 %
        (60 / 30, 2, 3, 4),  # TestReplicaCalcScaleUpUnreadyLessScale: 500 and 700 of 1000m at 30 %, the third not ready
        (1.05, 3, 3, 3),  # TestReplicaCalcTolerance
        (28 / 50, 5, 5, 3),  # TestReplicaCalcScaleDown
        (0.91, 4, 4, 4),
        (0.89, 10, 10, 9),
    ],
)
def test_replicas_are_in_proportion_outside_the_tolerance(
    usage_ratio: float, ready: int, current: int, desired: int
) -> None:
    assert hpa.replicas(usage_ratio, ready, current) == desired


def test_pods_to_come_count_as_idle_and_never_turn_the_direction() -> None:
    assert hpa.replicas(1.2, 3, 6) == 6
    assert hpa.replicas(2.1, 3, 6) == 6  # diluted to 1.05: within the tolerance
    assert hpa.replicas(3.0, 3, 6) == 9


def test_by_default_it_doubles_or_adds_four_whatever_is_more() -> None:
    assert normalised(Behavior(), History(), 3, 100, WIDE, 0.0)[0] == 7
    assert normalised(Behavior(), History(), 10, 100, WIDE, 0.0)[0] == 20


def test_a_period_counts_what_was_added_within_it() -> None:
    ten, history = Behavior(up=(Policy(value=4, period_s=60.0, percent=False),)), History()
    seen, current = [], 10
    for at_s in (0.0, 30.0, 61.0):
        current, history = normalised(ten, history, current, 100, WIDE, at_s)
        seen.append(current)
    assert seen == [14, 14, 18]


def test_down_follows_the_largest_recommendation_of_five_minutes() -> None:
    history, seen = History(), []
    for at_s, desired in ((0.0, 10), (100.0, 4), (250.0, 6), (301.0, 4), (420.0, 4), (560.0, 4)):
        replicas, history = normalised(Behavior(), history, 10, desired, WIDE, at_s)
        seen.append(replicas)
    assert seen == [10, 10, 10, 6, 6, 4]


def test_a_percentage_down_is_rounded_towards_more_that_go() -> None:
    slow = Behavior(down=(Policy(value=10, period_s=60.0, percent=True),), down_window_s=0.0)
    assert normalised(slow, History(), 15, 1, WIDE, 0.0)[0] == 13


def test_a_busy_job_gets_more_at_once_and_an_idle_one_fewer_later() -> None:
    rule, state = hpa.HpaRule(), None
    assert rule.decide(situation_of(busy(2, 100.0)), None)[0].executors == 3
    wishes = []
    for cycle in range(40):
        wish, state = rule.decide(situation_of(busy(3, 20.0, 1000.0 + 10.0 * cycle)), state)
        wishes.append(wish.executors)
    assert wishes[0] == 1  # as the controller: a window without any recommendation holds nothing back
    wish, state = rule.decide(situation_of(busy(3, 70.0)), None)
    held = rule.decide(situation_of(busy(3, 20.0, 1010.0)), state)[0]
    assert (held.executors, held.needed) == (3, 1)


@pytest.mark.parametrize(
    ("lag", "current", "desired"), [(100.0, 10, 10), (105.0, 10, 10), (150.0, 10, 15), (20.0, 10, 2), (9000.0, 10, 32)]
)
def test_keda_wants_an_executor_for_each_threshold_of_lag_up_to_the_partitions(
    lag: float, current: int, desired: int
) -> None:
    assert keda.replicas(lag, 10.0, current, 32) == desired


def test_keda_changes_nothing_without_a_lag() -> None:
    policy = job(("targetUtilization: 70", "targetUtilization: 70, lagThreshold: 100"))
    asked = situation_of(busy(3, 90.0, lag_rows=None), policy=policy)
    assert keda.KedaRule().decide(asked, None)[0].executors == 3
    behind = situation_of(busy(2, 90.0, lag_rows=390.0), policy=policy)
    assert keda.KedaRule().decide(behind, None)[0].executors == 4
