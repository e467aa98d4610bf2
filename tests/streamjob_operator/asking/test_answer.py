"""Answers of the batch model on batches small enough to work out by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import World

from streamjob_operator.asking.answer import Question, Rate, answer, backlog
from streamjob_operator.asking.measured import Measured, Unanswerable, of_snapshot
from streamjob_operator.asking.predictions import predicted
from streamjob_operator.asking.show import answer_sentences, backlog_sentence
from streamjob_operator.values import Memory
from streamjob_planners.batch.work import Work
from streamjob_planners.model import GroupId

GROUPS = 8


def measured(**changes: object) -> Measured:
    """8 key groups, each 1 ms for every row of the batch; 100 rows/s, a batch each 10 s: 1000 rows, 8 s of tasks."""
    work = Work(
        level=np.zeros(GROUPS, dtype=np.int64),
        task_fixed_s=np.zeros(GROUPS),
        task_row_s=np.full(GROUPS, 1e-3),
        spread_ratio=np.zeros(GROUPS),
        fixed_s=0.5,
    )
    one = Measured(
        work=work,
        group_ids=tuple(GroupId(operator=0, partition=at) for at in range(GROUPS)),
        at_s=1000.0,
        rate_rps=100.0,
        rows=1000.0,
        batch_s=4.5,
        executors=2,
        slots=1,
        trigger_s=10.0,
        lag_rows=0.0,
    )
    return dataclasses.replace(one, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("executors", "batch_s"), [(1, 8.5), (2, 4.5), (3, 3.5), (4, 2.5), (8, 1.5), (9, 1.5)])
def test_a_batch_is_the_fullest_slot_and_the_fixed_part(executors: int, batch_s: float) -> None:
    """Tasks are whole: 8 on 3 slots are 3, 3 and 2; a ninth slot stays empty."""
    assert predicted(measured(), executors, 100.0).batch_s == pytest.approx(batch_s)


def test_a_batch_that_overruns_holds_what_arrives_meanwhile() -> None:
    """One slot, 120 rows/s: T = 0.5 + 0.008 R and R = 120 T give R = 60 / 0.04 = 1500, T = 12.5 s."""
    one = predicted(measured(), 1, 120.0)
    assert one.rows == pytest.approx(1500.0, rel=1e-3)
    assert one.batch_s == pytest.approx(12.5, rel=1e-3)


def test_what_no_slot_can_take_grows() -> None:
    """Each slot takes 125 rows/s of the whole batch's rows at most: 8 ms a row."""
    one = predicted(measured(), 1, 130.0)
    assert one.batch_s is None
    assert one.most_rps == pytest.approx(125.0)
    assert one.busy_pct == pytest.approx(104.0)


def test_executors_for_twice_the_rate() -> None:
    """2000 rows, 16 s of tasks, 9 s allowed: 2 slots take 8.5 s, 1 takes 16.5 s."""
    found = answer(measured(), Question(rate=Rate(factor=2.0)))
    assert found.objective_s == pytest.approx(9.0)
    assert found.needed == 2
    assert answer(measured(), Question(rate=Rate(rows=200.0), objective_s=5.0)).needed == 4
    assert next(answer_sentences(found)) == "2 executors are needed so that batches take 9s at most."


def test_no_number_is_enough_where_one_key_group_is_too_heavy() -> None:
    heavy = np.array([5e-3, *[1e-4] * 7])
    found = answer(
        measured(work=dataclasses.replace(measured().work, task_row_s=heavy)), Question(objective_s=5.0, most=20)
    )
    assert found.needed is None
    assert found.why_not is not None
    assert found.why_not.startswith("one key group alone is too heavy for that; more key groups help only if several ")
    assert "--key-groups 16 (in place of 8)" in found.why_not
    assert "No number of executors up to 20 is enough" in " ".join(answer_sentences(found))


def test_a_backlog_is_worked_off_by_what_is_left_over() -> None:
    """2 slots take 250 rows/s, 100 arrive: 30,000 rows are gone after 200 s."""
    course = backlog(measured(lag_rows=30_000.0), 2, 100.0)
    assert course.gone_s == pytest.approx(200.0)
    assert course.course[0] == (300.0, 0.0)
    assert backlog_sentence(course) == "With 2 executors 30,000 rows wait, gone after 3m20s."


def test_a_backlog_grows_by_what_is_too_much() -> None:
    course = backlog(measured(lag_rows=1000.0), 1, 225.0)
    assert course.gone_s is None
    assert course.course[0] == (300.0, pytest.approx(31_000.0))
    assert "more and more of them: 31,000 after 5m" in backlog_sentence(course)


def test_a_backlog_of_rows_that_take_no_time_does_not_grow() -> None:
    free = measured(work=dataclasses.replace(measured().work, task_row_s=np.zeros(GROUPS)), lag_rows=1000.0)
    assert backlog_sentence(backlog(free, 1, 100.0)) == "With 1 executor 1,000 rows wait; rows take no time."


@pytest.mark.parametrize(("lag_rows", "waits"), [(1000.0, "1,000 rows wait"), (0.0, "nothing waits yet")])
def test_at_the_most_that_tasks_could_take_batches_get_longer_and_longer(lag_rows: float, waits: str) -> None:
    """One slot, 125 rows/s: T = 0.5 + 0.008 R, and 125 T rows come meanwhile: half a second more than T to take."""
    of = measured(lag_rows=lag_rows)
    course = backlog(of, 1, 125.0)
    assert course.gone_s is None
    assert predicted(of, 1, 125.0).batch_s is None
    assert backlog_sentence(course) == (
        f"With 1 executor {waits}, but each batch is longer than the one before: "
        "tasks alone take all of the time in which as many rows arrive."
    )


def test_without_a_lag_nobody_says_that_nothing_waits() -> None:
    assert "no source tells" in backlog_sentence(backlog(measured(lag_rows=None), 2, 100.0))


def test_without_a_trigger_what_is_kept_up_with_is_asked() -> None:
    found = answer(measured(trigger_s=None), Question(rate=Rate(rows=300.0)))
    assert found.objective_s is None
    assert found.needed == 3


def test_without_batches_nothing_is_answered() -> None:
    world = World(loads=[20.0] * 4, owners=["a"] * 4, executors={"a": "ready"}, rates={"batches": 0})
    with pytest.raises(Unanswerable, match="no batch ended within the window"):
        of_snapshot(world.observe(1000.0, 10.0), Memory())
