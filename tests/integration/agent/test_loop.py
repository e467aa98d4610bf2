"""An unchanged job under `python -m streamjob_agent run`: moved, drained, scaled in and restarted, over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from streamjob_agent import metric_names
from streamjob_agent.wire import AgentStatus, Assignment, Pace, assignment_to_json

OUR_OWN = ("0", "0", "1", "1", "0", "0", "1", "1")  # not what a round robin gives


def assign(driver: Any, generation: int, **fields: Any) -> None:
    status = driver.status()
    assignment = Assignment(
        generation=generation,
        application_id=status.application_id,
        query_id=status.queries[0].query_id,
        owners={0: OUR_OWN},
        pace=Pace(max_moves=3),
        **fields,
    )
    driver.call("/v1/assignment", assignment_to_json(assignment))


def on(status: AgentStatus) -> dict[str, int]:
    return {executor.executor_id: executor.groups for executor in status.executors if executor.state != "dead"}


@pytest.mark.spark
def test_moved_drained_scaled_in_and_restarted(drivers: Callable[[int], Any]) -> None:
    first = drivers(3)
    first.write()
    status = first.until("a first batch", lambda now: now.queries and now.queries[0].batch_id is not None)
    assert (status.actuation, status.reason) == ("on", "Ok"), status
    assert sorted(on(status).values()) == [2, 3, 3]  # even before the first batch

    assign(first, 1, marked_for_removal=("2",), executors_target=2)
    status = first.until(
        "every group moved", lambda now: now.generation_applied == 1 and now.queries[0].owners == {0: OUR_OWN}
    )
    status = first.until("no move pending", lambda now: now.queries[0].moves_pending == 0)
    assert status.queries[0].moves_failed == 0
    assert {executor.executor_id: executor.state for executor in status.executors}["2"] == "draining"

    assign(first, 2, marked_for_removal=("2",), remove=("2",), executors_target=2)
    first.until("executor 2 gone", lambda now: on(now) == {"0": 4, "1": 4})
    page = first.call("/metrics")
    assert len(re.findall(rf"^{metric_names.GROUP_BUSY_SECONDS}{{", page, re.MULTILINE)) == 8
    assert len(re.findall(rf"^{metric_names.GROUP_STATE_BYTES}{{", page, re.MULTILINE)) == 8
    assert re.search(rf'^{metric_names.AGENT_MOVES}{{result="failed"}} 0.0$', page, re.MULTILINE)
    errors = re.findall(rf"^{metric_names.AGENT_ERRORS}{{.*", page, re.MULTILINE)
    assert errors == [], errors
    result = first.finish()
    assert result["failed_tasks"] == 0
    assert result["totals"] == first.expected()

    second = drivers(2)
    second.write()
    status = second.until("a batch of the new driver", lambda now: now.queries and now.queries[0].batch_id is not None)
    assert status.queries[0].owners == {0: OUR_OWN}  # where they were, under the new driver's executors
    elsewhere = (1, 2, 2, 1, 1, 2, 2, 1)
    assign(second, 3, next_start={0: elsewhere})
    second.until("it is taken", lambda now: now.generation_applied == 3)
    second.finish()

    third = drivers(2)
    third.write()
    status = third.until("a batch of the third driver", lambda now: now.queries and now.queries[0].batch_id is not None)
    assert status.queries[0].owners == {0: tuple(str(place - 1) for place in elsewhere)}
    result = third.finish()
    assert result["totals"] == third.expected()
