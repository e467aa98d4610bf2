"""The ladder for times without measurements, on a cluster: what is seen, and what a person is told."""

from __future__ import annotations

import dataclasses
import io

import pytest
from agent_reports import agent
from rich.console import Console
from worlds import World, even, job, warm

from streamjob_agent.wire import QueryStatus, Unusual
from streamjob_operator.agent_sight import sight_of
from streamjob_operator.kube.job.cycling import unmeasured
from streamjob_operator.kube.job.heartbeat import Heartbeat
from streamjob_operator.kube.kubectl.views import explain_view
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.names import Condition, KubeReason, Phase
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.kube.report.compose import compose
from streamjob_operator.kube.report.facts import Cycle, DriverFacts, Facts
from streamjob_operator.kube.report.tellings import tellings
from streamjob_operator.ports import Unavailable
from streamjob_operator.values import CycleRecord

SAFE = job(("executorTimeout: 60s}", "executorTimeout: 60s, failSafe: {outAfter: 20s, floorAfter: 40s, floor: 4}}"))
RUNNING = DriverFacts(phase=Phase.RUNNING, reason=KubeReason.DRIVER_RUNNING, message="It runs.")


def facts(record: CycleRecord | None = None, heard_s: float | None = 1000.0) -> Facts:
    seen = MapView(generation=0, resource_version="1", spec={"applicationId": "app-1"}, agent=agent(), agent_port=None)
    return Facts(
        now_s=1000.0,
        uid="uid-j",
        generation=2,
        job=SAFE,
        driver=RUNNING,
        map=seen,
        agent_heard_s=heard_s,
        memory=None if record is None else record.memory,
        cycle=None if record is None else Cycle(id="c1", record=record, seconds=0.5),
    )


def outage() -> tuple[World, list[Status], list[list[str]]]:
    """The status after each cycle of an outage, and the reasons of its events."""
    world, before = warm(even(2, 6, 10.0), SAFE), Status()
    statuses: list[Status] = []
    events: list[list[str]] = []
    for at in range(7):
        world.observe_error = None if at == 0 else Unavailable("Prometheus does not answer.")
        told = facts(world.turn(SAFE))
        after = compose(before, told, None)
        events.append([one.reason for one in tellings(before, after, told)])
        statuses.append(after)
        before = after
    return world, statuses, events


def found(status: Status, kind: Condition) -> str:
    one = next(one for one in status.conditions if one.type == kind.value)
    return f"{one.status}/{one.reason}"


def test_each_step_has_its_condition_and_is_told_once() -> None:
    _, statuses, events = outage()
    assert [found(one, Condition.FAIL_SAFE) for one in statuses] == [
        "False/NothingMissing",
        *["False/MetricsUnavailable"] * 2,
        *["True/FailSafeOut"] * 2,
        *["True/FailSafeFloor"] * 2,
    ]
    assert {found(one, Condition.METRICS_AVAILABLE) for one in statuses[1:]} == {"False/MetricsUnavailable"}
    assert [one for told in events[1:] for one in told if one.startswith(("Metrics", "FailSafe"))] == [
        "MetricsUnavailable",
        "FailSafeOut",
        "FailSafeFloor",
        "FailSafeFloor",
        "MetricsUnavailable",
    ]


def test_the_step_shows_in_the_column_in_the_history_and_in_explain() -> None:
    _, statuses, _ = outage()
    status = statuses[5]
    assert status.why == "FailSafeFloor"
    assert status.last_action is not None
    assert status.last_action.reason == "FailSafeFloor"
    console = Console(width=300, file=io.StringIO())
    console.print(explain_view("small", status))
    assert "4 executors in place of 2, as failSafe.floor is 4." in console.file.getvalue()
    assert "bring the measurements back" in console.file.getvalue()


def test_measurements_that_are_back_end_it_after_a_period() -> None:
    world, statuses, _ = outage()
    world.observe_error, before = None, statuses[-1]
    shown: list[tuple[str, str]] = []
    for _ in range(3):
        before = compose(before, facts(world.turn(SAFE)), None)
        shown.append((found(before, Condition.METRICS_AVAILABLE), found(before, Condition.FAIL_SAFE)))
    assert shown == [
        ("True/MetricsFound", "True/FailSafeFloor"),
        ("True/MetricsFound", "False/NothingMissing"),
        ("True/MetricsFound", "False/NothingMissing"),
    ]


@pytest.mark.parametrize("heard_s", [None, 900.0])
def test_an_agent_that_is_silent_shows_nothing(heard_s: float | None) -> None:
    assert unmeasured(facts(heard_s=heard_s)) is None
    assert unmeasured(facts()) is not None


def test_a_report_of_nobody_knows_when_shows_nothing() -> None:
    """As after a restart of the operator: executors were asked for by batches of before."""
    heart, told = Heartbeat(), agent()
    first = dataclasses.replace(facts(heard_s=heart.heard_s(told, 1000.0)), agent_certain=heart.certain)
    assert unmeasured(first) is None
    heard_s = heart.heard_s(dataclasses.replace(told, now_s=told.now_s + 10.0), 1010.0)
    again = dataclasses.replace(first, agent_heard_s=heard_s, agent_certain=heart.certain)
    assert (heard_s, heart.certain, unmeasured(again) is not None) == (1010.0, True, True)


def test_what_the_agent_says_of_itself() -> None:
    odd = Unusual(batch_id=7, ended_at_s=990.0, seconds=8.0, low_s=1.0, high_s=4.0)
    usual = dataclasses.replace(odd, seconds=0.5)
    second = QueryStatus(
        query_id="query-2", run_id="r2", name="late", batch_id=1, owners={0: ("0", None), 1: ("1",)}, unusual=usual
    )
    first = dataclasses.replace(agent(pending=2).queries[0], unusual=odd)
    seen = sight_of(agent(queries=(second, first), generation_applied=3), 1000.0)
    assert seen is not None
    snapshot = seen.snapshot
    assert (snapshot.query_id, snapshot.moves_pending, snapshot.generation_applied) == ("query-1", 2, 3)
    assert [(one.query_id, one.first_operator, one.operators) for one in snapshot.queries] == [
        ("query-1", 0, 1),
        ("query-2", 1, 2),
    ]
    assert [(one.operator, one.partition) for one in snapshot.group_ids[11:]] == [(0, 11), (1, 0), (1, 1), (2, 0)]
    assert snapshot.owners[11:] == ("0", "0", None, "1")
    assert seen.longer is not None
    assert (seen.longer.ratio, seen.longer.ended_at_s) == (4.0, 990.0)
    assert sight_of(agent(queries=()), 1000.0) is None
