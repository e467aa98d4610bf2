"""What the agent's newer report says that the older one did not."""

from __future__ import annotations

import pytest
from small_reports import NEWS, RISE, executor, query, status

from streamjob_agent.wire import AgentStatus
from streamjob_operator.events import EventKind
from streamjob_operator.waking.reports import reported

BEFORE = status()


def kinds(now: AgentStatus, before: AgentStatus = BEFORE) -> list[EventKind]:
    return [one.kind for one in reported(before, now)]


@pytest.mark.parametrize(
    ("now", "kind", "sentence"),
    [
        (status(executor("0"), executor("1"), executor("2")), EventKind.EXECUTOR_READY, "Executor 2 is ready."),
        (status(executor("0"), executor("1", "dead")), EventKind.EXECUTOR_GONE, "Executor 1 is gone."),
        (status(executor("0")), EventKind.EXECUTOR_GONE, "Executor 1 is gone."),
        (
            status(executor("0"), executor("1", "draining", 0)),
            EventKind.EXECUTOR_EMPTY,
            "Executor 1 is drained, and empty.",
        ),
        (
            status(executor("0"), executor("1", "draining", 1)),
            EventKind.EXECUTOR_HOLDS,
            "Executor 1 is being drained, and no more key groups move away.",
        ),
        (status(application_id="app-2", executors=()), EventKind.DRIVER_CHANGED, "The driver is app-2 now."),
        (
            status(refused="StalePlan: the plan is old."),
            EventKind.ASSIGNMENT_REFUSED,
            "The agent refuses the newest assignment: StalePlan: the plan is old.",
        ),
        (
            status(actuation="off", message="set_owner: five failures"),
            EventKind.ACTUATION_CHANGED,
            "The agent's actuation is off now: set_owner: five failures.",
        ),
        (
            status(queries=(query(unusual=NEWS),)),
            EventKind.BATCH_OUT_OF_RANGE,
            "Batch 41 and the one before it were out of their range: 9.25 s, usual were 3 to 5.5 s.",
        ),
        (
            status(queries=(query(risen=RISE),)),
            EventKind.ROWS_ROSE,
            "Batch 42, which runs, and the one before it have more rows than usual: 52,000, usual were 24,000 at most.",
        ),
    ],
)
def test_each_event_has_a_sentence(now: AgentStatus, kind: EventKind, sentence: str) -> None:
    (event,) = reported(BEFORE, now)
    assert (event.kind, event.sentence) == (kind, sentence)


@pytest.mark.parametrize(
    "now",
    [
        BEFORE,
        status(now_s=6.0, errors_total=2, queries=(query(batch_id=8, moves_done=2),)),
        status(executor("0", groups=2), executor("1", groups=6)),
        status(executor("0"), executor("1", "draining", 4)),
        status(executor("0"), executor("1", "draining", 1), queries=(query(moves_pending=1),)),
        status(executor("0"), executor("1", "draining", 1), queries=(query(moves_awaiting=1),)),
        status(generation_applied=4),
    ],
    ids=["nothing", "a batch", "moves", "a mark", "a drain", "moves to executors to come", "an assignment applied"],
)
def test_what_goes_its_way_is_no_event(now: AgentStatus) -> None:
    assert kinds(now) == []


def test_one_that_leaves_as_it_was_told_to_is_no_event_and_one_that_dies_with_groups_is() -> None:
    after = status(executor("0"))
    assert kinds(after, status(executor("0"), executor("1", "draining", 0))) == []
    assert kinds(after, status(executor("0"), executor("1", "draining", 3))) == [EventKind.EXECUTOR_GONE]


def test_news_of_the_same_batch_are_told_once() -> None:
    known = status(queries=(query(unusual=NEWS, risen=RISE),))
    assert kinds(status(queries=(query(batch_id=50, unusual=NEWS, risen=RISE),)), known) == []
    assert kinds(status(), known) == []


def test_many_executors_are_counted_few_are_named() -> None:
    few = tuple(executor(str(one)) for one in range(5))
    many = tuple(executor(str(one)) for one in range(40))
    assert [one.sentence for one in reported(BEFORE, status(*few))] == ["Executors 2, 3 and 4 are ready."]
    assert [one.sentence for one in reported(BEFORE, status(*many))] == ["38 executors are ready."]
