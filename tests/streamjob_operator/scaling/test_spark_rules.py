"""Both dynamic allocations of Spark, by the arithmetic of their sources."""

import dataclasses

import pytest
from situations import busy, situation_of

from streamjob_operator.scaling.rivals import spark_dynamic, spark_streaming
from streamjob_operator.values import Snapshot, StageView


@pytest.mark.parametrize(("queued_s", "rounds"), [(0.9, 0), (1.0, 1), (1.9, 1), (2.0, 2), (5.5, 5)])
def test_executors_are_added_after_a_second_and_each_second_on(queued_s: float, rounds: int) -> None:
    assert spark_dynamic.rounds(queued_s) == rounds


@pytest.mark.parametrize(
    ("there", "rounds", "needed", "target"),
    [(1, 1, 10, 2), (1, 2, 10, 4), (1, 3, 10, 8), (1, 4, 10, 10), (5, 2, 3, 5)],  # "add executors": 1, 2, 4, 8
)
def test_each_round_adds_twice_as_many_up_to_what_tasks_can_fill(
    there: int, rounds: int, needed: int, target: int
) -> None:
    assert spark_dynamic.target(there, rounds, needed) == target


def queueing(executors: int, wall_s: float, now_s: float = 1000.0) -> Snapshot:
    seen = busy(executors, 80.0, now_s)
    operator = seen.group_ids[0].operator
    stage = StageView(operator=operator, level=0, wall_s=wall_s, busy_s=8.0, longest_s=1.0)
    return dataclasses.replace(seen, stages=(stage,))


def test_a_queue_adds_executors_and_none_leaves_that_has_tasks() -> None:
    rule = spark_dynamic.SparkDynamicRule()
    # Four tasks on two slots queue for half of four seconds: two rounds, three more; four tasks fill four.
    assert rule.decide(situation_of(queueing(2, 4.0)), None)[0].executors == 4
    assert rule.decide(situation_of(queueing(2, 1.0)), None)[0].executors == 2


def test_an_executor_leaves_after_a_minute_without_a_task() -> None:
    rule, state, wishes = spark_dynamic.SparkDynamicRule(), None, []
    for cycle in range(8):
        seen = queueing(3, 0.1, 1000.0 + 10.0 * cycle)
        idle = dataclasses.replace(seen.executors[2], busy_s=0.0)
        seen = dataclasses.replace(seen, executors=(*seen.executors[:2], idle))
        wish, state = rule.decide(situation_of(seen), state)
        wishes.append(wish.executors)
    assert wishes == [3, 3, 3, 3, 3, 2, 2, 2]  # the first window was ten of the sixty seconds


@pytest.mark.parametrize(
    ("ratio", "after"),
    [(0.2, 4), (0.3, 4), (0.5, 5), (0.89, 5), (0.9, 6), (1.4, 6), (1.5, 7), (2.6, 8)],
)
def test_the_ratio_of_batch_time_to_interval_decides(ratio: float, after: int) -> None:
    assert spark_streaming.after(ratio, 5, 5) == after


def test_batches_are_gathered_for_a_minute() -> None:
    rule, state, wishes = spark_streaming.SparkStreamingRule(), None, []
    for cycle in range(13):
        seen = busy(3, 60.0, 1000.0 + 10.0 * cycle, mean_batch_s=9.0, trigger_interval_s=10.0, batches=1)
        wish, state = rule.decide(situation_of(seen), state)
        wishes.append(wish.executors)
    assert wishes == [3] * 6 + [4] + [3] * 5 + [4]
