"""How often the status is written, and how long a failure is waited out."""

from __future__ import annotations

import dataclasses

import pytest
from bare_status import bare_status

from streamjob_agent.kube.pacing import HEARTBEAT_S, REST_S, Backoff, WritePace, heartbeat_s
from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus, Unusual

STATUS = bare_status(
    agent_version="0.1.0",
    spark_version="4.3.0",
    application_id="app",
    now_s=100.0,
    generation_applied=1,
    queries=(QueryStatus(query_id="q", run_id="r", name=None, batch_id=1, owners={0: ("0", "1")}),),
)
NEXT_BATCH = dataclasses.replace(
    STATUS, now_s=101.0, errors_total=3, queries=(dataclasses.replace(STATUS.queries[0], batch_id=2),)
)
NEWS = Unusual(batch_id=2, ended_at_s=99.0, seconds=9.0, low_s=1.0, high_s=2.0)
UNUSUAL = dataclasses.replace(NEXT_BATCH, queries=(dataclasses.replace(NEXT_BATCH.queries[0], unusual=NEWS),))
APPLIED = dataclasses.replace(STATUS, generation_applied=2)


def moving(**moves: int) -> AgentStatus:
    return dataclasses.replace(STATUS, queries=(dataclasses.replace(STATUS.queries[0], **moves),))


def with_executor(state: str) -> AgentStatus:
    one = ExecutorStatus(executor_id="1", host="h", cores=1, state=state, groups=0)
    return dataclasses.replace(STATUS, executors=(one,))


UNDER_WAY = {
    "moves": moving(moves_pending=1),
    "moves to executors that come": moving(moves_awaiting=1),
    "a plan that is refused": dataclasses.replace(STATUS, refused="StaleApplication: x"),
    "an executor that is drained": with_executor("draining"),
    "an executor that leaves": with_executor("leaving"),
    "the agent's start": dataclasses.replace(STATUS, actuation="off", reason="Starting"),
}
AT_REST = {
    "nothing": STATUS,
    "moves that were made": moving(moves_done=3, moves_failed=1),
    "a batch out of the usual": UNUSUAL,
    "an executor that is ready": with_executor("ready"),
    "one that is gone": with_executor("dead"),
    "actuation that is off for good": dataclasses.replace(STATUS, actuation="off", reason="SelfTestFailed"),
}


def test_the_first_status_is_written_at_once() -> None:
    assert WritePace().due(STATUS, 0.0)


@pytest.mark.parametrize(
    ("status", "waited_s", "due"),
    [
        (STATUS, REST_S - 0.1, False),
        (STATUS, REST_S, True),
        (NEXT_BATCH, REST_S - 0.1, False),  # a batch more is no news
        (UNUSUAL, 1.0, True),  # two that took longer than usual are
        (APPLIED, 0.5, False),
        (APPLIED, 1.0, True),
    ],
)
def test_news_go_out_within_a_second_the_rest_as_heartbeat(status: AgentStatus, waited_s: float, due: bool) -> None:
    pace = WritePace()
    pace.wrote(STATUS, 1000, 50.0)
    assert pace.due(status, 50.0 + waited_s) is due


@pytest.mark.parametrize("status", UNDER_WAY.values(), ids=UNDER_WAY)
def test_what_is_under_way_is_told_often(status: AgentStatus) -> None:
    pace = WritePace()
    pace.wrote(status, 1000, 50.0)
    assert (pace.due(status, 50.0 + HEARTBEAT_S - 0.1), pace.due(status, 50.0 + HEARTBEAT_S)) == (False, True)
    assert heartbeat_s(status) == HEARTBEAT_S


@pytest.mark.parametrize("status", AT_REST.values(), ids=AT_REST)
def test_rest_is_told_seldom(status: AgentStatus) -> None:
    assert heartbeat_s(status) == REST_S


def test_a_large_status_is_written_less_often() -> None:
    pace = WritePace()
    pace.wrote(STATUS, 20 * 64 * 1024, 0.0)
    assert not pace.due(APPLIED, 19.9)
    assert pace.due(APPLIED, 20.0)


def test_waits_double_up_to_half_a_minute_and_start_over() -> None:
    backoff = Backoff(chance=lambda: 1.0)
    assert [backoff.failed(None) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    backoff.worked()
    assert backoff.failed(None) == 0.5


def test_what_the_server_asks_for_is_waited_but_not_for_ever() -> None:
    assert Backoff(chance=lambda: 0.0).failed(7.0) == 7.0
    assert Backoff(chance=lambda: 0.0).failed(86400.0) == 60.0
    assert Backoff(chance=lambda: 0.0).failed(0.0) == 0.25
