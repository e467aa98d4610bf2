"""One decision after another about the driver's pod: starts, ends, backoff, changes, stops. No clock, no cluster."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from driver_jobs import job_facts

from streamjob_operator.kube.driver.decide import DELETION_MARGIN_S, decide
from streamjob_operator.kube.driver.observe import driver_pod
from streamjob_operator.kube.driver.overdue import SILENT_S
from streamjob_operator.kube.driver.remembering import from_status, to_status
from streamjob_operator.kube.driver.values import (
    Action,
    Change,
    Decision,
    DriverMemory,
    DriverPod,
    JobFacts,
    PodPhase,
    Step,
)
from streamjob_operator.kube.names import APPLICATION_HASH, KubeReason, Phase

JOB = job_facts()
HASH = "hash-1"
NOW_S = 10_000.0
HEALTHY_S = 120.0


def pod(phase: PodPhase = PodPhase.RUNNING, **fields: Any) -> DriverPod:
    return DriverPod(**{"name": "orders-driver", "uid": "pod-1", "phase": phase, "application_hash": HASH, **fields})


def decided(
    seen: DriverPod | None, memory: DriverMemory | None = None, *, job: JobFacts = JOB, now_s: float = NOW_S
) -> Decision:
    decision = decide(job, HASH, seen, memory or DriverMemory(), now_s)
    remembered = from_status(to_status(decision.memory, None))  # through the status, as in real life
    return dataclasses.replace(decision, memory=remembered)


def policy(name: str) -> JobFacts:
    return job_facts({"restart": {"policy": name, "backoff": {"initial": "10s", "max": "2m"}}})


def suspended() -> JobFacts:
    return job_facts(spec={"suspend": True})


def ended(exit_code: int | None = 1, **fields: Any) -> DriverPod:
    phase = PodPhase.SUCCEEDED if exit_code == 0 else PodPhase.FAILED
    return pod(phase, **{"exit_code": exit_code, "started_at_s": NOW_S - 5, "ended_at_s": NOW_S, **fields})


def test_a_driver_is_made_where_there_is_none() -> None:
    decision = decided(None)
    assert (decision.action, decision.phase) == (Action.CREATE, Phase.SUBMITTING)


def test_a_ready_driver_is_left_alone() -> None:
    decision = decided(pod(ready=True, started_at_s=NOW_S - 5))
    assert (decision.action, decision.phase, decision.reason) == (
        Action.NOTHING,
        Phase.RUNNING,
        KubeReason.DRIVER_RUNNING,
    )


STARTING = {
    "just made": (pod(PodPhase.PENDING), KubeReason.DRIVER_STARTING, "it is not running yet", False),
    "session to come": (pod(), KubeReason.DRIVER_STARTING, "its agent does not answer yet", False),
    "no room": (
        pod(PodPhase.PENDING, unschedulable="0/3 nodes are available"),
        KubeReason.DRIVER_UNSCHEDULABLE,
        "No node has room for the driver's pod orders-driver: 0/3 nodes are available",
        False,
    ),
    "no image": (
        pod(PodPhase.PENDING, trouble="container driver: ErrImagePull: not found"),
        KubeReason.DRIVER_STARTING,
        "does not start: container driver: ErrImagePull: not found",
        True,
    ),
}


@pytest.mark.parametrize("name", sorted(STARTING))
def test_a_starting_driver_is_waited_for_with_a_reason(name: str) -> None:
    seen, reason, sentence, stalled = STARTING[name]
    decision = decided(seen)
    assert (decision.action, decision.phase, decision.reason) == (Action.NOTHING, Phase.SUBMITTING, reason)
    assert sentence in decision.sentence
    assert decision.stalled is stalled
    assert decision.next_look_s is not None


def test_waits_double_between_restarts_up_to_the_longest() -> None:
    memory, now_s, waits = DriverMemory(), NOW_S, []
    for number in range(7):
        end = ended(uid=f"pod-{number}", started_at_s=now_s - 5, ended_at_s=now_s)
        decision = decided(end, memory, now_s=now_s)
        assert (decision.action, decision.reason) == (Action.NOTHING, KubeReason.DRIVER_BACKOFF)
        assert decision.next_look_s is not None
        waits.append(decision.next_look_s)
        now_s += decision.next_look_s
        decision = decided(end, decision.memory, now_s=now_s)
        assert decision.action is Action.STOP  # the ended pod makes way
        decision = decided(None, decision.memory, now_s=now_s + 1)
        assert decision.action is Action.CREATE
        memory, now_s = decision.memory, now_s + 1
    assert waits == [10, 20, 40, 80, 120, 120, 120]
    assert memory.restarts == 7


def test_one_end_is_counted_once_however_often_it_is_seen() -> None:
    memory = DriverMemory()
    for now_s in (NOW_S, NOW_S + 1, NOW_S + 2):
        memory = decided(ended(), memory, now_s=now_s).memory
    assert (memory.restarts, memory.restart_at_s) == (1, NOW_S + 10)


@pytest.mark.parametrize("ahead_s", [0.0, 3600.0, -3600.0])
def test_a_healthy_time_starts_the_waits_over_whatever_the_nodes_clock_says(ahead_s: float) -> None:
    running = pod(ready=True, started_at_s=NOW_S + ahead_s)
    memory = decided(running, DriverMemory(restarts=5)).memory
    memory = decided(running, memory, now_s=NOW_S + HEALTHY_S - 1).memory
    assert memory.restarts == 5
    memory = decided(running, memory, now_s=NOW_S + HEALTHY_S).memory
    assert memory.restarts == 0
    unseen = ended(started_at_s=NOW_S + ahead_s - HEALTHY_S, ended_at_s=NOW_S + ahead_s)  # it ended before we looked
    assert decided(unseen, DriverMemory(restarts=5)).next_look_s == 10


def test_another_drivers_healthy_time_does_not_count() -> None:
    memory = decided(pod(ready=True, started_at_s=NOW_S), DriverMemory(restarts=5)).memory
    other = pod(ready=True, uid="pod-2", started_at_s=NOW_S)
    assert decided(other, memory, now_s=NOW_S + HEALTHY_S).memory.restarts == 5


@pytest.mark.parametrize(
    ("name", "exit_code", "reason"),
    [
        ("Never", 0, KubeReason.DRIVER_ENDED),
        ("Never", 1, KubeReason.DRIVER_FAILED),
        ("OnFailure", 0, KubeReason.DRIVER_ENDED),
        ("OnFailure", 137, KubeReason.DRIVER_BACKOFF),
        ("Always", 0, KubeReason.DRIVER_BACKOFF),
        ("Always", None, KubeReason.DRIVER_BACKOFF),
        ("OnFailure", None, KubeReason.DRIVER_BACKOFF),
        ("Never", None, KubeReason.DRIVER_BACKOFF),  # no container has an exit code: it did not end by itself
    ],
)
def test_the_policy_says_whether_an_ended_driver_is_started_again(
    name: str, exit_code: int | None, reason: KubeReason
) -> None:
    job = policy(name)
    decision = decided(ended(exit_code), job=job)
    assert (decision.phase, decision.reason) == (Phase.FAILED, reason)
    later = decided(ended(exit_code), decision.memory, job=job, now_s=NOW_S + 3600)
    assert later.action is (Action.STOP if reason is KubeReason.DRIVER_BACKOFF else Action.NOTHING)


@pytest.mark.parametrize("name", ["Never", "OnFailure", "Always", None])
def test_a_pod_that_somebody_took_away_is_made_again_whatever_the_policy(name: str | None) -> None:
    """`kubectl drain` is no end of a streaming job."""
    job = job_facts({"restart": {}}) if name is None else policy(name)
    memory = decided(pod(ready=True, started_at_s=NOW_S - 5), job=job).memory
    decision = decided(None, memory, job=job)
    assert decision.action is Action.NOTHING
    assert "taken away" in decision.sentence
    assert decision.reason is KubeReason.DRIVER_BACKOFF
    later = decided(None, decision.memory, job=job, now_s=NOW_S + 11)
    assert later.action is Action.CREATE


@pytest.mark.parametrize("name", ["Never", "OnFailure", "Always", None])
def test_an_evicted_driver_is_made_again_whatever_the_policy(name: str | None) -> None:
    """Its container may have an exit code: what ended it was not the job."""
    job = job_facts({"restart": {}}) if name is None else policy(name)
    evicted = ended(137, disrupted=True, why="Evicted: The node was low on resource: memory")
    decision = decided(evicted, job=job)
    assert decision.reason is KubeReason.DRIVER_BACKOFF
    assert "Evicted: The node was low on resource: memory" in decision.sentence
    assert decided(evicted, decision.memory, job=job, now_s=NOW_S + 11).action is Action.STOP


@pytest.mark.parametrize("code", [0, 1])
def test_without_a_policy_an_ended_driver_is_started_again(code: int) -> None:
    assert decided(ended(code), job=job_facts({"restart": {}})).reason is KubeReason.DRIVER_BACKOFF


def test_a_driver_that_ended_beside_a_sidecar_has_ended() -> None:
    """The pod's phase stays Running as long as any of its containers runs."""
    beside = pod(PodPhase.RUNNING, exited=True, exit_code=1, started_at_s=NOW_S - 5, ended_at_s=NOW_S)
    decision = decided(beside)
    assert (decision.phase, decision.reason) == (Phase.FAILED, KubeReason.DRIVER_BACKOFF)
    assert decided(beside, decision.memory, now_s=NOW_S + 11).action is Action.STOP


def test_what_a_driver_said_last_is_told_and_outlives_its_pod() -> None:
    job = policy("Never")
    decision = decided(ended(1, why="Error", last_words="ValueError: no such topic"), job=job)
    assert "exit code 1 (Error)" in decision.sentence
    assert "ValueError: no such topic" in decision.sentence
    assert "Pod orders-driver is kept, and its log says more" in decision.sentence
    later = decided(None, decision.memory, job=job)
    assert "ValueError: no such topic" in later.sentence
    assert "log says more" not in later.sentence  # nobody has it any more


def test_a_driver_that_was_killed_for_its_memory_is_told_what_to_do() -> None:
    decision = decided(ended(137, why="OOMKilled"))
    assert "OOMKilled" in decision.sentence
    assert "application.driver.memory" in decision.sentence


def test_a_driver_that_ended_for_good_stays_so_when_its_pod_is_cleaned_up_until_the_application_changes() -> None:
    memory = decided(ended(0), job=policy("Never")).memory
    assert decided(None, memory, job=policy("Never")).reason is KubeReason.DRIVER_ENDED
    assert decide(policy("Never"), "hash-2", None, memory, NOW_S).action is Action.CREATE


def test_a_changed_application_stops_the_old_driver_first() -> None:
    old = pod(ready=True, application_hash="hash-0")
    decision = decided(old, DriverMemory(restarts=3))
    assert (decision.action, decision.reason) == (Action.STOP, KubeReason.DRIVER_RESTARTING)
    going = decided(dataclasses.replace(old, deleting=True), decision.memory)
    assert (going.action, going.reason) == (Action.NOTHING, KubeReason.DRIVER_STOPPING)
    gone = decided(None, going.memory)
    assert (gone.action, gone.memory.restarts) == (Action.CREATE, 0)


def test_a_failed_driver_with_a_new_application_does_not_wait() -> None:
    memory = decided(ended(application_hash="hash-0"), DriverMemory(restarts=5)).memory
    assert decided(None, memory).action is Action.CREATE


def test_suspending_stops_the_driver_and_resuming_starts_it_without_a_wait() -> None:
    decision = decided(pod(ready=True), DriverMemory(restarts=4), job=suspended())
    assert (decision.action, decision.phase) == (Action.STOP, Phase.SUSPENDED)
    decision = decided(pod(deleting=True), decision.memory, job=suspended())
    assert (decision.action, decision.reason) == (Action.NOTHING, KubeReason.DRIVER_STOPPING)
    decision = decided(None, decision.memory, job=suspended())
    assert (decision.action, decision.reason, decision.gone) == (Action.NOTHING, KubeReason.SUSPENDED, True)
    assert decided(None, decision.memory).action is Action.CREATE


def test_an_ended_driver_of_a_suspended_job_is_cleaned_up() -> None:
    assert decided(ended(), job=suspended()).action is Action.STOP


def test_a_deletion_waits_for_the_driver_but_not_for_ever() -> None:
    job = dataclasses.replace(JOB, deleted_at_s=NOW_S)
    assert decided(pod(ready=True), job=job).action is Action.STOP
    going = pod(deleting=True, grace_s=60.0)
    assert not decided(going, job=job, now_s=NOW_S + 60 + DELETION_MARGIN_S).gone
    assert decided(going, job=job, now_s=NOW_S + 61 + DELETION_MARGIN_S).gone
    assert decided(None, job=job).gone


def test_a_suspension_never_gives_up_on_a_pod_so_that_two_drivers_never_run() -> None:
    assert not decided(pod(deleting=True), job=suspended(), now_s=NOW_S + 1e6).gone


@pytest.mark.parametrize("ahead_s", [500.0, -500.0, -86_400.0])
def test_the_nodes_clock_has_no_say_in_the_restart(ahead_s: float) -> None:
    end = ended(started_at_s=NOW_S + ahead_s - 5, ended_at_s=NOW_S + ahead_s)
    decision = decided(end, DriverMemory(restarts=2))
    assert (decision.reason, decision.next_look_s) == (KubeReason.DRIVER_BACKOFF, 40)
    assert decision.memory.restarts == 3


def limited(**restart: Any) -> JobFacts:
    return job_facts({"restart": {"backoff": {"initial": "10s", "max": "2m"}, **restart}})


def test_restarts_in_a_row_end_at_the_most_that_are_allowed() -> None:
    job, memory, now_s = limited(maxRestarts=2), DriverMemory(), NOW_S
    for life in (1, 2):
        decision = decided(ended(uid=f"pod-{life}"), memory, job=job, now_s=now_s)
        assert decision.reason is KubeReason.DRIVER_BACKOFF, life
        memory, now_s = decision.memory, now_s + 200
        assert decided(None, memory, job=job, now_s=now_s).action is Action.CREATE
    last = decided(ended(uid="pod-3"), memory, job=job, now_s=now_s)
    assert (last.action, last.reason, last.stalled) == (Action.NOTHING, KubeReason.RESTARTS_EXHAUSTED, True)
    assert "restart.maxRestarts is 2" in last.sentence
    assert last.memory.restart_at_s is None
    assert decided(None, last.memory, job=job, now_s=now_s + 999).reason is KubeReason.RESTARTS_EXHAUSTED
    more = limited(maxRestarts=3)
    assert decided(ended(uid="pod-3"), last.memory, job=more, now_s=now_s + 999).action is Action.STOP


def unstartable(uid: str) -> DriverPod:
    """Its image lacks the command, as containerd tells of it."""
    never = {"exitCode": 128, "reason": "StartError", "startedAt": "1970-01-01T00:00:00Z"}
    state = {"terminated": {**never, "finishedAt": "2026-01-01T00:00:00Z"}}
    return driver_pod(
        {
            "metadata": {"name": "orders-driver", "uid": uid, "annotations": {APPLICATION_HASH: HASH}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "driver"}]},
            "status": {"phase": "Failed", "containerStatuses": [{"name": "driver", "state": state}]},
        }
    )


def test_a_driver_that_cannot_be_started_waits_longer_each_time_and_is_given_up() -> None:
    job = limited(maxRestarts=2)
    first = decided(unstartable("pod-1"), job=job)
    second = decided(unstartable("pod-2"), first.memory, job=job, now_s=NOW_S + 100)
    assert (first.next_look_s, second.next_look_s) == (10, 20)
    third = decided(unstartable("pod-3"), second.memory, job=job, now_s=NOW_S + 200)
    assert third.reason is KubeReason.RESTARTS_EXHAUSTED


def test_a_healthy_driver_whose_end_nobody_saw_is_made_again_as_after_a_healthy_time() -> None:
    """After a restart of its node nobody tells when it began, or how it ended."""
    running = decided(pod(ready=True, started_at_s=NOW_S), DriverMemory(restarts=4), job=limited(maxRestarts=0))
    unseen = pod(PodPhase.FAILED, exited=True, exit_code=137, disrupted=True, why="ContainerStatusUnknown: gone")
    decision = decided(unseen, running.memory, job=limited(maxRestarts=0), now_s=NOW_S + HEALTHY_S)
    assert (decision.reason, decision.next_look_s) == (KubeReason.DRIVER_BACKOFF, 10)


def test_a_healthy_run_starts_the_count_over_and_disruptions_are_not_counted() -> None:
    job = limited(maxRestarts=1)
    spent = DriverMemory(pod_uid="pod-1", application_hash=HASH, restarts=1, own_ends=1, ended_uid="pod-0")
    drained = ended(137, disrupted=True, why="Evicted: drain")
    assert decided(drained, spent, job=job).memory.own_ends == 1
    assert decided(drained, spent, job=job).reason is KubeReason.DRIVER_BACKOFF
    long_run = ended(started_at_s=NOW_S - HEALTHY_S, ended_at_s=NOW_S)
    assert decided(long_run, spent, job=job).memory.own_ends == 1
    assert decided(ended(), spent, job=job).reason is KubeReason.RESTARTS_EXHAUSTED
    ready = decided(pod(ready=True, started_at_s=1.0), spent, job=job, now_s=NOW_S)
    later = decided(pod(ready=True, started_at_s=1.0), ready.memory, job=job, now_s=NOW_S + HEALTHY_S)
    assert later.memory.own_ends == 0


def test_no_restart_at_all_may_be_allowed() -> None:
    assert decided(ended(), job=limited(maxRestarts=0)).reason is KubeReason.RESTARTS_EXHAUSTED


def test_a_driver_that_is_not_ready_in_time_is_stopped_and_counts_as_failed() -> None:
    job, waiting = limited(startDeadline="5m", maxRestarts=0), pod(PodPhase.PENDING, unschedulable="0/3 nodes fit")
    first = decided(waiting, job=job)
    assert first.reason is KubeReason.DRIVER_UNSCHEDULABLE
    patient = decided(waiting, first.memory, job=job, now_s=NOW_S + 300)
    assert patient.action is Action.NOTHING
    late = decided(waiting, patient.memory, job=job, now_s=NOW_S + 301)
    assert (late.action, late.reason) == (Action.STOP, KubeReason.DRIVER_LATE)
    assert "restart.startDeadline: 0/3 nodes fit" in late.sentence
    over = decided(None, late.memory, job=job, now_s=NOW_S + 310)
    assert over.reason is KubeReason.RESTARTS_EXHAUSTED
    again = decided(None, late.memory, job=limited(startDeadline="5m"), now_s=NOW_S + 400)
    assert again.action is Action.CREATE


def test_the_start_deadline_is_for_the_first_answer_of_each_pod() -> None:
    job = limited(startDeadline="5m")
    ready = decided(pod(ready=True), decided(pod(), job=job).memory, job=job)
    assert decided(pod(), ready.memory, job=job, now_s=NOW_S + 9999).action is Action.NOTHING
    slow = decided(pod(), job=job)
    following = decided(pod(uid="pod-2"), slow.memory, job=job, now_s=NOW_S + 299)
    assert decided(pod(uid="pod-2"), following.memory, job=job, now_s=NOW_S + 500).action is Action.NOTHING


@pytest.mark.parametrize("job", [JOB, suspended()], ids=["wanted", "suspended"])
def test_a_pod_that_does_not_end_is_told_and_nothing_is_started_beside_it(job: JobFacts) -> None:
    """As on a node that is gone: for hours there was a driver that "stops between two batches"."""
    seen = pod(deleting=True, grace_s=120.0)
    decision = decided(seen, job=job)
    assert (decision.stalled, decision.reason) == (False, KubeReason.DRIVER_STOPPING)
    decision = decided(seen, decision.memory, job=job, now_s=NOW_S + 120 + SILENT_S)
    assert not decision.stalled
    late = decided(seen, decision.memory, job=job, now_s=NOW_S + 121 + SILENT_S)
    assert (late.action, late.reason, late.stalled) == (Action.NOTHING, KubeReason.DRIVER_NOT_ENDING, True)
    assert "was to end by 1970-01-01T02:48:40Z and is still there" in late.sentence
    again = decided(seen, late.memory, job=job, now_s=NOW_S + 9_000)
    assert again.sentence == late.sentence  # a status that says the same is not written anew
    gone = decided(None, again.memory, job=job, now_s=NOW_S + 9_060)
    assert gone.memory.ending_since_s is None
    assert (gone.action is Action.CREATE) == (job is JOB)


def test_a_pod_that_changes_key_groups_and_does_not_end_is_told() -> None:
    memory = DriverMemory(change=Change(step=Step.CHANGE, wanted=8, tried="8:x"))
    changing = pod(deleting=True, application_hash="key-groups-8")
    decision = decide(JOB, HASH, None, memory, NOW_S, changing)
    late = decide(JOB, HASH, None, decision.memory, NOW_S + 31 + SILENT_S, changing)
    assert (late.action, late.reason, late.stalled) == (Action.NOTHING, KubeReason.DRIVER_NOT_ENDING, True)
    assert late.memory.change.step is Step.CHANGE


def test_a_deletion_of_the_job_still_ends_beside_a_pod_that_does_not() -> None:
    job = dataclasses.replace(JOB, deleted_at_s=NOW_S)
    seen = pod(deleting=True)
    memory = decided(seen, job=job).memory
    assert decided(seen, memory, job=job, now_s=NOW_S + 31 + SILENT_S).gone


@pytest.mark.parametrize("gone", [False, True])
def test_a_wait_is_never_longer_than_the_spec_has_it_now(gone: bool) -> None:
    """It was lowered meanwhile, or the operator that wrote the time had another clock, on another node."""
    seen = ended()
    memory = dataclasses.replace(decided(seen).memory, restart_at_s=NOW_S + 86_400)
    there = None if gone else seen
    decision = decided(there, memory)
    assert (decision.reason, decision.next_look_s) == (KubeReason.DRIVER_BACKOFF, 10.0)
    assert decided(there, decision.memory, now_s=NOW_S + 9.0).reason is KubeReason.DRIVER_BACKOFF
    assert decided(there, decision.memory, now_s=NOW_S + 10.0).reason is KubeReason.DRIVER_STARTING
