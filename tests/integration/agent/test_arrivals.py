"""An executor that was asked for runs its share in the first batch that begins after it is ready, on real Spark."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from streamjob_agent.wire import AgentStatus, Assignment, Pace, assignment_to_json

ON_TWO = ("0", "1") * 4
SHARE = (None, None, 1, 1, 1, None, None, None)  # partitions 2 to 4 go to the first one that comes


def assign(driver: Any, generation: int, **fields: Any) -> None:
    status = driver.status()
    query_id = status.queries[0].query_id
    assignment = Assignment(generation=generation, application_id=status.application_id, query_id=query_id, **fields)
    driver.call("/v1/assignment", assignment_to_json(assignment))


def ready(status: AgentStatus) -> set[str]:
    return {one.executor_id for one in status.executors if one.state == "ready"}


def batch_of(status: AgentStatus) -> int:
    found = status.queries[0].batch_id
    return -1 if found is None else found


def first_batch_after(driver: Any, came: AgentStatus) -> AgentStatus:
    """The status after the first batch that begins once the agent has seen an executor: what ran meanwhile ends first.

    Files are written one by one, each when the agent has seen the end of the batch before.
    """
    assert batch_of(came) >= 0
    quiet = wait(driver, driver.files - 1)
    driver.write()
    return wait(driver, batch_of(quiet) + 1)


def wait(driver: Any, batch: int) -> AgentStatus:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        status: AgentStatus = driver.status()
        if batch_of(status) >= batch:
            return status
        time.sleep(0.1)
    raise AssertionError(f"batch {batch} has not ended")


@pytest.mark.spark
def test_an_executor_that_comes_runs_its_share_at_once(drivers: Callable[[int], Any]) -> None:
    driver = drivers(3)
    driver.write()
    driver.until("a first batch", lambda now: now.queries and now.queries[0].batch_id is not None)
    assign(driver, 1, owners={0: ON_TWO}, marked_for_removal=("2",), executors_target=2)
    driver.until("executor 2 is empty", lambda now: now.queries[0].owners == {0: ON_TWO})
    assign(driver, 2, marked_for_removal=("2",), remove=("2",), executors_target=2)
    driver.until(
        "executor 2 is gone", lambda now: {one.state for one in now.executors if one.executor_id == "2"} == {"dead"}
    )

    stay = tuple(None if place else owner for owner, place in zip(ON_TWO, SHARE, strict=True))
    assign(
        driver,
        3,
        owners={0: stay},
        arrivals={0: SHARE},
        known_executors=("0", "1", "2"),
        executors_target=3,
        pace=Pace(max_cost_s=1.0),
    )
    waiting = driver.until("the share waits", lambda now: now.generation_applied == 3)
    assert (waiting.queries[0].moves_pending, waiting.queries[0].moves_awaiting) == (0, 3)
    came = driver.until("a new executor", lambda now: ready(now) - {"0", "1"})
    status = first_batch_after(driver, came)
    fresh = next(iter(ready(came) - {"0", "1"}))
    wanted = tuple(fresh if place else owner for owner, place in zip(ON_TWO, SHARE, strict=True))
    assert status.queries[0].owners == {0: wanted}
    assert status.queries[0].arrived == (fresh,)
    assert (status.queries[0].moves_pending, status.queries[0].moves_awaiting, status.queries[0].moves_failed) == (
        0,
    ) * 3
    result = driver.finish()
    assert result["failed_tasks"] == 0
    assert result["totals"] == driver.expected()
