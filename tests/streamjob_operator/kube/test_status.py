"""From what a turn found to the status: conditions, sections, decisions, events."""

from __future__ import annotations

import dataclasses
import io
import re
from typing import Any

import click
import numpy as np
import pytest
from agent_reports import agent
from fake_api import FakeApi
from rich.console import Console
from worlds import World, even, job, warm

from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.times import rfc3339, rfc3339_micro, seconds
from streamjob_operator.kube.kubectl.cli import called
from streamjob_operator.kube.kubectl.views import explain_view
from streamjob_operator.kube.models.driver import DriverStatus
from streamjob_operator.kube.models.status import MOST_HISTORY, ApprovablePlan, Decision, Handled, SinglesStatus, Status
from streamjob_operator.kube.names import Condition, KubeReason, Phase
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.kube.report.compose import compose, read_status, to_document
from streamjob_operator.kube.report.conditions import Finding, code, merge
from streamjob_operator.kube.report.decisions import history_of
from streamjob_operator.kube.report.events import Events, Telling, event_name
from streamjob_operator.kube.report.facts import Cycle, DriverFacts, Facts, MetricsTrouble
from streamjob_operator.kube.report.sections import batch_summary
from streamjob_operator.kube.report.tellings import tellings
from streamjob_operator.ports import Unavailable
from streamjob_operator.series import BatchTimes
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Memory, PendingPlan, Reason

RUNNING = DriverFacts(phase=Phase.RUNNING, reason=KubeReason.DRIVER_RUNNING, message="It runs.")
AUTO = job()


def facts(record: CycleRecord | None = None, of: StreamJob | None = AUTO, **changes: Any) -> Facts:
    seen = MapView(
        generation=0,
        resource_version="1",
        spec=changes.pop("spec", {"applicationId": "app-1"}),
        agent=changes.pop("agent", agent()),
        agent_port=None,
        heartbeat_s=changes.pop("heartbeat_s", None),
    )
    trouble, note = changes.pop("trouble", None), changes.pop("note", None)
    values: dict[str, Any] = {
        "now_s": 1000.0,
        "uid": "uid-j",
        "generation": 2,
        "job": of,
        "driver": RUNNING,
        "map": seen,
        "agent_heard_s": 1000.0,
        "memory": Memory(executors_target=2) if record is None else record.memory,
        "cycle": None if record is None else Cycle(id="c1", record=record, seconds=0.5, trouble=trouble, note=note),
    }
    return Facts(**{**values, **changes})


def status_of(told: Facts, before: Status | None = None) -> Status:
    return compose(before or Status(), told, None)


def found(status: Status, kind: Condition) -> str:
    one = next(one for one in status.conditions if one.type == kind.value)
    return f"{one.status}/{one.reason}"


def skewed(of: StreamJob = AUTO) -> World:
    world = warm(even(2, 6, 5.0), of)
    world.loads[0] = 60.0
    return world


def test_an_idle_job() -> None:
    two = job(("min: 1", "min: 2"))
    world = warm(even(2, 6, 9.0), two)
    world.loads, world.rates = [0.0] * 12, {"batches": 0, "idle_since_s": 900.0}
    status = status_of(facts(world.turn(two)))
    assert (found(status, Condition.BALANCED), found(status, Condition.METRICS_AVAILABLE)) == (
        "True/Idle",
        "True/MetricsFound",
    )


def test_a_balanced_job() -> None:
    status = status_of(facts(warm(even(2, 6, 9.0), AUTO).turn(AUTO)))
    assert status.phase is Phase.RUNNING
    expected = {
        Condition.READY: "True/DriverRunning",
        Condition.RECONCILING: "False/NothingUnderWay",
        Condition.STALLED: "False/NothingStalled",
        Condition.ACCEPTED: "True/SpecAccepted",
        Condition.METRICS_AVAILABLE: "True/MetricsFound",
        Condition.FAIL_SAFE: "False/NothingMissing",
        Condition.ACTUATION_AVAILABLE: "True/ActuationOn",
        Condition.EXECUTORS_AVAILABLE: "True/ExecutorsReady",
        Condition.BATCHES_PREDICTED: "True/PredictionsHold",
        Condition.BALANCED: "True/Balanced",
        Condition.AWAITING_APPROVAL: "False/NoPlanWaits",
        Condition.MORE_KEY_GROUPS: "False/KeyGroupsEnough",
    }
    assert {kind: found(status, kind) for kind in Condition} == expected
    assert {one.observed_generation for one in status.conditions} == {2}
    assert status.executors is not None
    assert status.executors.summary == "2/2"
    assert status.last_action is None


@pytest.mark.parametrize(("done", "summary"), [(3, "3/3"), (0, None)])
def test_the_column_of_moves_is_empty_where_the_newest_plan_has_none(done: int, summary: str | None) -> None:
    status = status_of(facts(agent=agent(done=done)))
    assert status.migrations is not None
    assert status.migrations.summary == summary


def test_what_load_is_survived_is_told_and_explained() -> None:
    """Two executors with 54 of 100 points each, in one stage."""
    status = status_of(facts(warm(even(2, 6, 9.0), AUTO).turn(AUTO)))
    assert status.load is not None
    assert status.load.survived_alike == pytest.approx(100 / 54, abs=0.01)
    assert status.load.survived_any is None
    told = "Survives 1.9 x today's load if all of it grows alike; executor 0 is full first."
    assert status.load.survived == told
    console = Console(width=200, file=io.StringIO())
    console.print(explain_view("small", status))
    assert told in console.file.getvalue()


def test_how_far_single_batches_were_off_is_told() -> None:
    record = skewed().turn(AUTO)
    assert status_of(facts(record)).batch.singles is None  # type: ignore[union-attr]
    times = BatchTimes(
        ended_at_s=np.array([10.0, 20.0]), measured_s=np.array([4.0, 5.0]), predicted_s=np.array([4.4, 5.0])
    )
    status = status_of(facts(dataclasses.replace(record, batch_times=times)))
    assert status.batch is not None
    assert status.batch.singles == SinglesStatus(batches=2, median_percent=5.0, most_percent=9.0)
    console = Console(width=200, file=io.StringIO())
    console.print(explain_view("small", status))
    assert "half were off by 5 percent at most, nine of ten by 9" in console.file.getvalue()


def test_batches_that_have_too_many_parts_to_be_predicted_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamjob_operator.steps.batching.MOST_CELLS", 1)  # two executors are too many
    record = skewed().turn(AUTO)
    status = status_of(facts(record))
    assert found(status, Condition.BATCHES_PREDICTED) == "False/BatchesTooLarge"
    assert found(status, Condition.BALANCED) == "False/LoadDistance"
    assert status.last_cycle is not None
    told = "Batches are not predicted: 1 levels of stages on 2 executors are more than 1 together, so the load distance"
    assert told in (status.last_cycle.message or "")
    assert told in next(one.message for one in status.conditions if one.type == Condition.BATCHES_PREDICTED)


def test_moves_that_were_just_asked_for() -> None:
    status = status_of(facts(skewed().turn(AUTO)))
    assert found(status, Condition.BALANCED) == "False/BatchTime"
    assert status.last_plan is not None
    assert (status.last_plan.decision, status.last_plan.moves) == ("Applied", 4)
    assert status.last_action is not None
    assert status.last_action.reason == "BatchTime"


def test_what_came_of_a_plan_is_measured_once() -> None:
    world = skewed()
    status = status_of(facts(world.turn(AUTO)))
    for _ in range(3):
        status = status_of(facts(world.turn(AUTO)), status)
    assert status.last_plan is not None
    assert status.last_plan.observed is not None
    assert status.last_plan.predicted is not None
    assert status.last_plan.observed.distance == pytest.approx(status.last_plan.predicted.distance)


@pytest.mark.parametrize(
    ("change", "kind", "expected"),
    [
        ({"agent": agent(pending=4)}, Condition.RECONCILING, "True/MovesPending"),
        ({"agent": agent(executors={"0": "ready"})}, Condition.RECONCILING, "True/WaitingForExecutors"),
        ({"agent": agent(executors={"0": "ready"})}, Condition.EXECUTORS_AVAILABLE, "False/WaitingForExecutors"),
        ({"agent_heard_s": 939.0}, Condition.READY, "False/AgentSilent"),
        ({"agent_heard_s": 939.0, "heartbeat_s": 10.0}, Condition.READY, "False/AgentSilent"),
        ({"agent_heard_s": 911.0, "heartbeat_s": 30.0}, Condition.READY, "True/DriverRunning"),
        ({"agent_heard_s": 909.0, "heartbeat_s": 30.0}, Condition.READY, "False/AgentSilent"),
        ({"agent_heard_s": 879.0, "heartbeat_s": 1e9}, Condition.READY, "False/AgentSilent"),
        ({"agent": None, "agent_heard_s": None}, Condition.READY, "False/AgentSilent"),
        (
            {"agent": agent(actuation="off", reason="SelfTestFailed")},
            Condition.ACTUATION_AVAILABLE,
            "False/SelfTestFailed",
        ),
        *(
            ({"agent": agent(actuation="off", reason=reason)}, Condition.ACTUATION_AVAILABLE, f"Unknown/{reason}")
            for reason in ("NotAttached", "Attaching", "Starting")
        ),
        ({"agent": agent(refused="Stale: x")}, Condition.ACTUATION_AVAILABLE, "False/AgentRefused"),
        (
            {"agent": agent(refused="StaleApplication: x"), "spec": {"applicationId": "the driver before"}},
            Condition.ACTUATION_AVAILABLE,
            "True/ActuationOn",
        ),
        (
            {"driver": dataclasses.replace(RUNNING, limits="No scaling.")},
            Condition.ACTUATION_AVAILABLE,
            "False/AdoptedWithLimits",
        ),
        (
            {"driver": dataclasses.replace(RUNNING, overridden="spark.x")},
            Condition.ACCEPTED,
            "True/SettingsOverridden",
        ),
        (
            {"driver": DriverFacts(phase=Phase.FAILED, reason="DriverFailed", message="", stalled=True)},
            Condition.STALLED,
            "True/DriverFailed",
        ),
        (
            {"driver": DriverFacts(phase=Phase.SUBMITTING, reason="DriverStarting", message="")},
            Condition.RECONCILING,
            "True/DriverStarting",
        ),
        (
            {"memory": Memory(executors_target=2, retreat_until_s=1060.0)},
            Condition.EXECUTORS_AVAILABLE,
            "False/ExecutorsTimedOut",
        ),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], kind: Condition, expected: str) -> None:
    assert found(status_of(facts(**change)), kind) == expected


def test_a_driver_whose_agent_has_not_reported_is_not_said_to_be_gone() -> None:
    told = {one.type: one.message for one in status_of(facts(agent=None, agent_heard_s=None)).conditions}
    assert (told["Ready"], told["ExecutorsAvailable"]) == ("The agent has not reported yet.",) * 2


@pytest.mark.parametrize(
    ("phase", "reason"),
    [
        (Phase.SUSPENDED, KubeReason.SUSPENDED),
        (Phase.FAILED, KubeReason.DRIVER_FAILED),
        (Phase.SUBMITTING, KubeReason.DRIVER_STARTING),
    ],
)
def test_nothing_is_told_of_a_driver_that_is_gone(phase: Phase, reason: KubeReason) -> None:
    """Its last report is still in the PartitionMap: executors, key groups that leave, moves."""
    of = job(("mode: Auto", "mode: Approve"))
    last = agent(executors={"0": "ready", "1": "draining"}, pending=4)
    before = status_of(facts(skewed(of).turn(of), of, agent=last))
    assert found(before, Condition.AWAITING_APPROVAL) == "True/AwaitingApproval"
    assert before.executors is not None
    assert before.executors.ready == 2
    gone = DriverFacts(phase=phase, reason=reason, message="It is gone.")
    told = facts(driver=gone, agent=last, memory=Memory(executors_target=2, marked=("1",)))
    status = status_of(told, before)
    assert status.phase is phase
    shown = to_document(status)
    assert "migrations" not in shown
    assert (shown["executors"]["ready"], shown["executors"]["admitted"], shown["executors"]["summary"]) == (0, 0, "0/2")
    assert not shown["executors"]["markedForRemoval"]
    unknown = (
        Condition.METRICS_AVAILABLE,
        Condition.ACTUATION_AVAILABLE,
        Condition.EXECUTORS_AVAILABLE,
        Condition.BALANCED,
        Condition.AWAITING_APPROVAL,
    )
    assert {found(status, kind) for kind in unknown} == {f"Unknown/{reason}"}
    under_way = f"True/{reason}" if phase is Phase.SUBMITTING else "False/NothingUnderWay"
    assert found(status, Condition.RECONCILING) == under_way


def test_a_pod_that_no_node_has_room_for_is_said() -> None:
    driver = dataclasses.replace(RUNNING, executors_trouble="0/3 nodes are available.")
    status = status_of(facts(driver=driver, agent=agent(executors={"0": "ready"})))
    assert found(status, Condition.EXECUTORS_AVAILABLE) == "False/ExecutorUnschedulable"
    assert any("0/3 nodes" in one.message for one in status.conditions)


@pytest.mark.parametrize(
    ("memory", "executors", "pending", "phase"),
    [
        (Memory(executors_target=1, marked=("1",)), {"0": "ready", "1": "draining"}, 2, Phase.DRAINING),
        (Memory(executors_target=3), {"0": "ready", "1": "ready"}, 0, Phase.SCALING),
        (Memory(executors_target=2), {"0": "ready", "1": "ready"}, 2, Phase.REBALANCING),
    ],
)
def test_phases_of_a_running_job(memory: Memory, executors: dict[str, str], pending: int, phase: Phase) -> None:
    told = facts(memory=memory, agent=agent(executors=executors, pending=pending))
    assert status_of(told).phase is phase


def test_a_drain_shows_executor_pod_and_what_is_left() -> None:
    driver = dataclasses.replace(RUNNING, pods={"1": "pod-1"}, executors_admitted=2)
    told = facts(
        driver=driver,
        memory=Memory(executors_target=1, marked=("1",)),
        agent=agent(executors={"0": "ready", "1": "draining"}),
    )
    shown = to_document(status_of(told))["executors"]
    assert shown["markedForRemoval"] == [{"id": "1", "pod": "pod-1", "groupsLeft": 6}]
    assert (shown["target"], shown["ready"], shown["admitted"], shown["summary"]) == (1, 2, 2, "2/1")


def test_a_bad_spec_is_stalled_with_its_sentence_and_what_was_known_stays() -> None:
    before = status_of(facts(skewed().turn(AUTO)))
    status = status_of(facts(of=None, mistakes=("spec.x: no.",), driver=None, map=None, memory=None), before)
    assert found(status, Condition.STALLED) == "True/InvalidSpec"
    assert found(status, Condition.ACCEPTED) == "False/InvalidSpec"
    assert (status.memory, status.last_plan) == (before.memory, before.last_plan)


def test_missing_measurements_say_what_and_since_when() -> None:
    world = warm(even(2, 6, 9.0), AUTO)
    world.observe_error = Unavailable("nothing")
    trouble = MetricsTrouble(reason="TargetMissing", message="No target.", since_s=0.0)
    status = status_of(facts(world.turn(AUTO), trouble=trouble))
    assert found(status, Condition.METRICS_AVAILABLE) == "False/TargetMissing"
    assert any("Since 1970-01-01T00:00:00Z" in one.message for one in status.conditions)
    assert found(status, Condition.BALANCED) == "Unknown/MetricsUnavailable"


def test_what_a_person_should_know_of_measurements_is_told_with_them() -> None:
    status = status_of(facts(warm(even(2, 6, 9.0), AUTO).turn(AUTO), note="Few pages are kept."))
    assert found(status, Condition.METRICS_AVAILABLE) == "True/MetricsFound"
    assert "Measurements are there and fresh. Few pages are kept." in [one.message for one in status.conditions]


def test_no_batch_since_the_last_decision_is_no_lack_of_measurements() -> None:
    world = skewed()
    status = status_of(facts(world.turn(AUTO)))
    world.measured_ago_s = 60.0
    record = world.turn(AUTO)
    assert record.verdict.reason is Reason.METRICS_STALE
    again = status_of(facts(record), status)
    assert found(again, Condition.METRICS_AVAILABLE) in ("True/MetricsFound", "False/MetricsStale")


def test_times_of_conditions_change_with_their_status_alone() -> None:
    def at(now_s: float, holds: bool | None, reason: str, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return merge(before, [Finding(type=Condition.READY, holds=holds, reason=reason, message=reason)], 1, now_s)

    first = at(10.0, True, "A", [])
    second = at(20.0, True, "B", first)
    third = at(30.0, None, "C", second)
    assert [one[0]["lastTransitionTime"] for one in (first, second, third)] == [rfc3339(at) for at in (10, 10, 30)]
    assert third[0]["status"] == "Unknown"
    assert merge(third, [], 2, 40.0) == third


@pytest.mark.parametrize(("given", "clean"), [("A b-c", "Abc"), ("1x", "Reason1x"), ("", "Reason"), ("Ok_1", "Ok_1")])
def test_reasons_are_what_the_api_server_takes(given: str, clean: str) -> None:
    assert code(given) == clean


def test_no_two_conditions_of_a_job_at_rest_have_the_same_reason() -> None:
    """Or whoever looks for one of them by its reason finds another."""
    status = status_of(facts(warm(even(2, 6, 9.0), AUTO).turn(AUTO)))
    reasons = [one.reason for one in status.conditions]
    assert len(reasons) == len(set(reasons)) == len(Condition)


def test_the_hours_of_a_job_with_rare_cycles_are_counted_too() -> None:
    """They are counted at cycles, which come once in a statistics period, of up to a day."""
    rare, status = job(("statisticsPeriod: 10s", "statisticsPeriod: 6h")), Status()
    record = warm(even(2, 6, 9.0), AUTO).turn(AUTO)
    for at in range(3):
        told = dataclasses.replace(facts(record), job=rare, now_s=1_000_000.0 + at * 6 * 3600.0)
        status = status_of(told, status)
    assert status.savings is not None
    assert [one.hours for one in status.savings.months] == [12.0]


def test_times_read_back() -> None:
    assert seconds(rfc3339(1e9)) == 1e9
    assert seconds(rfc3339_micro(1e9 + 0.25)) == 1e9 + 0.25


def decision(reason: str, kind: str = "Held") -> Decision:
    return Decision(at=rfc3339(0), decision=kind, reason=reason, message="m")


def test_the_history_counts_what_repeats_and_keeps_the_newest() -> None:
    history: tuple[Decision, ...] = ()
    for reason in ["A", "A", "A", "B", "A"]:
        history = history_of(history, decision(reason))
    assert [(one.reason, one.count) for one in history] == [("A", 3), ("B", None), ("A", None)]
    for number in range(50):
        history = history_of(history, decision(f"R{number}"))
    assert (len(history), history[-1].reason) == (MOST_HISTORY, "R49")
    twice = history_of((decision("X", "Acted"),), decision("X", "Acted"))
    assert len(twice) == 2


def test_a_status_of_another_version_is_read_as_far_as_it_is_known() -> None:
    document = {"status": {"memory": "m", "new": 1, "load": {"distance": "far"}, "phase": "Running"}}
    status = read_status(document)
    assert (status.memory, status.phase, status.load) == ("m", Phase.RUNNING, None)
    assert read_status({}) == Status()


def test_each_decision_is_told_once_and_a_reason_not_to_act_when_it_is_new() -> None:
    world, told, status = skewed(), [], Status()
    for _ in range(5):
        record = world.turn(AUTO)
        after = status_of(facts(record), status)
        told += [one.reason for one in tellings(status, after, facts(record))]
        status = after
    assert told == ["DriverRunning", "BatchTime", "BatchTime", "Balanced"]


def test_what_becomes_wrong_is_told_once_with_one_event_for_one_reason() -> None:
    good = status_of(facts())
    bad = status_of(
        facts(driver=DriverFacts(phase=Phase.FAILED, reason="DriverFailed", message="x", stalled=True)), good
    )
    told = list(tellings(good, bad, facts()))
    assert [(one.reason, one.warning) for one in told] == [("DriverFailed", True)]
    assert list(tellings(bad, bad, facts())) == []


def ends(reason: str, message: str, before: Status) -> tuple[Status, list[Telling]]:
    driver = DriverFacts(phase=Phase.FAILED, reason=reason, message=message)
    after = status_of(facts(driver=driver), before)
    return after, list(tellings(before, after, facts(driver=driver)))


def test_another_sentence_for_the_same_reason_is_another_event_and_the_same_with_other_numbers_is_counted() -> None:
    """An event's note never changes: the second end of a driver would be told in the words of the first."""
    api: Any = FakeApi()
    events, running = Events(api), status_of(facts())
    job = api.put(STREAM_JOBS, {"metadata": {"name": "j", "namespace": "n"}, "kind": "StreamJob", "apiVersion": "v"})
    for at, message in enumerate(
        (
            "The driver ended with exit code 1; restart 1 follows in 10s.",
            "The driver ended with exit code 1; restart 2 follows in 20s.",
            "The driver ended with exit code 137 (OOMKilled), it needs more memory; restart 3 follows in 40s.",
        )
    ):
        for telling in ends("DriverBackoff", message, running)[1]:
            events.tell(job, telling, 1000.0 + at)
    told = [one for (plural, _, _), one in api.objects.items() if plural == "events"]
    assert [one.get("series", {}).get("count", 1) for one in told] == [2, 1]
    assert "OOMKilled" in told[1]["note"]


def test_an_agent_whose_reason_changes_with_each_report_makes_one_event() -> None:
    api: Any = FakeApi()
    events, before = Events(api), status_of(facts())
    job = api.put(STREAM_JOBS, {"metadata": {"name": "j", "namespace": "n"}, "kind": "StreamJob", "apiVersion": "v"})
    for at in range(3):
        after = status_of(facts(agent=agent(actuation="off", reason=f"Broken{at}")), before)
        for telling in tellings(before, after, facts()):
            events.tell(job, telling, 1000.0 + at)
        before = after
    (told,) = [one for (plural, _, _), one in api.objects.items() if plural == "events"]
    assert (told["reason"], told["series"]["count"]) == ("ActuationOff", 3)


def test_another_mistake_in_a_spec_that_was_wrong_already_is_told() -> None:
    def wrong(message: str, generation: int, before: Status) -> tuple[Status, list[str]]:
        found = Facts(now_s=0.0, uid="u", generation=generation, job=None, mistakes=(message,))
        after = status_of(found, before)
        return after, [one.note for one in tellings(before, after, found)]

    first, told = wrong("executors.min: 5 given.", 2, status_of(facts()))
    assert told == ["executors.min: 5 given."]
    assert wrong("executors.min: 5 given.", 2, first)[1] == []
    assert wrong("application.image: nothing given.", 3, first)[1] == ["application.image: nothing given."]


def test_a_stop_that_is_followed_is_told_once() -> None:
    def handled(stop: str | None) -> Status:
        return compose(Status(), facts(), Handled(refresh="r", stop=stop))

    def told(before: Status, after: Status) -> list[tuple[str, str]]:
        return [(one.reason, one.key) for one in tellings(before, after, facts())]

    assert told(handled(None), handled("1")) == [("Stopped", "1")]
    assert told(handled("1"), handled("1")) == []
    assert told(handled("1"), handled("2")) == [("Stopped", "2")]  # another event, not the same one again


def test_a_job_that_is_resumed_is_told_once() -> None:
    def status(phase: Phase, reason: str) -> Status:
        return status_of(facts(driver=DriverFacts(phase=phase, reason=reason, message="x")))

    suspended = status(Phase.SUSPENDED, KubeReason.SUSPENDED)
    starting = status(Phase.SUBMITTING, KubeReason.DRIVER_STARTING)
    told = [
        [one.reason for one in tellings(before, after, facts())]
        for before, after in (
            (starting, suspended),
            (suspended, suspended),
            (suspended, starting),
            (starting, starting),
        )
    ]
    assert told == [["Suspended"], [], ["Resumed", "DriverStarting"], []]


def test_the_same_event_is_counted_and_another_key_is_another_event() -> None:
    api = FakeApi()
    events = Events(api)  # type: ignore[arg-type]
    document = api.put(
        STREAM_JOBS, {"metadata": {"name": "j", "namespace": "n"}, "kind": "StreamJob", "apiVersion": "v"}
    )
    for at_s in (1000.0, 1001.0, 1002.0, 1002.0):  # the last is one whose answer was lost, and that was posted again
        events.tell(document, Telling(reason="Balanced", note="x" * 5000, action="Plan"), at_s)
    events.tell(document, Telling(reason="Balanced", note="", action="Plan", key="2"), 1000.0)
    posted = [one for (plural, _, _), one in api.objects.items() if plural == "events"]
    assert sorted(one.get("series", {}).get("count", 1) for one in posted) == [1, 3]
    assert all(len(one["note"]) <= 1024 for one in posted)
    other = {**document, "metadata": {**document["metadata"], "uid": "another"}}
    telling = Telling(reason="Balanced", note="", action="Plan")
    assert event_name(document, telling) != event_name(other, telling)


def test_one_word_says_why() -> None:
    told = status_of(facts(warm(even(2, 6, 5.0), AUTO).turn(AUTO)))
    assert told.last_cycle is not None
    assert told.why == told.last_cycle.reason
    stuck = DriverFacts(phase=Phase.SUBMITTING, reason=KubeReason.DRIVER_UNSCHEDULABLE, message="No room.")
    assert status_of(facts(driver=stuck), told).why == "DriverUnschedulable"
    assert status_of(facts()).why == "DriverRunning"


@pytest.mark.parametrize(
    ("measured_s", "objective_s", "shown"),
    [(3.2149, 5.0, "3.21s/5s"), (0.5, None, "500ms"), (83.44, 90.0, "1m23.4s/1m30s"), (None, 5.0, None)],
)
def test_a_batch_is_shown_beside_what_is_wanted(
    measured_s: float | None, objective_s: float | None, shown: str | None
) -> None:
    assert batch_summary(measured_s, objective_s) == shown


def test_plans_that_may_be_approved_are_listed_with_the_time_that_is_left() -> None:
    record = skewed().turn(AUTO)
    assert record.memory is not None
    newest = PendingPlan(
        plan_hash="new",
        made_at_s=20.0,
        application_id="app-1",
        moves={"0/1": ("0", "1")},
        executors_wanted=4,
        marked=(),
    )
    before = dataclasses.replace(newest, plan_hash="old", executors_wanted=3, replaced_at_s=record.at_s - 60.0)
    long_ago = dataclasses.replace(before, plan_hash="older", replaced_at_s=record.at_s - 900.0)
    memory = dataclasses.replace(record.memory, pending=newest, shown=(before, long_ago))
    status = status_of(facts(dataclasses.replace(record, memory=memory)))
    told = [(one.hash, one.executors, one.moves, one.until) for one in status.approvable]
    assert told == [("new", 4, 1, None), ("old", 3, 1, rfc3339(record.at_s + 840.0))]


def plan(name: str, until: str | None = None) -> ApprovablePlan:
    return ApprovablePlan(hash=name, computed_at=rfc3339(1.0), executors=3, moves=2, until=until)


NEWEST, EARLIER, LATE = plan("new"), plan("old", rfc3339(50.0)), plan("old", rfc3339(30.0))


@pytest.mark.parametrize(("meant", "found"), [(None, "new"), ("new", "new"), ("old", "old")])
def test_the_plugin_approves_the_newest_plan_or_the_one_that_is_named(meant: str | None, found: str) -> None:
    assert called((NEWEST, EARLIER), "small", meant, 40.0).hash == found


@pytest.mark.parametrize(
    ("plans", "meant", "said"),
    [
        ((NEWEST, LATE), "old", "Plan old cannot be approved; what can be: new."),
        ((NEWEST,), "typo", "Plan typo cannot be approved; what can be: new."),
        ((EARLIER,), None, "No plan waits now; what can be: old."),
        ((LATE,), None, "No plan of small waits for approval."),
        ((), "typo", "No plan of small waits for approval."),
    ],
)
def test_the_plugin_says_what_may_be_approved(plans: tuple[ApprovablePlan, ...], meant: str | None, said: str) -> None:
    with pytest.raises(click.ClickException, match=re.escape(said)):
        called(plans, "small", meant, 40.0)


def test_a_section_that_says_nothing_is_left_out() -> None:
    """An empty object in the place of one with fields is null to server-side apply, and refused with all the rest."""
    assert to_document(Status(uid="u", driver=DriverStatus(), handled=Handled(stop="1"))).keys() == {
        "uid",
        "handled",
        *to_document(Status()).keys(),
    }
