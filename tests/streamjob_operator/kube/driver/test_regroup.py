"""Another number of key groups between two drivers, decision after decision. No clock, no cluster."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from driver_jobs import job_facts

from streamjob_operator.kube.driver.decide import decide
from streamjob_operator.kube.driver.monitoring import Monitor, Monitoring
from streamjob_operator.kube.driver.pod import driver_manifest
from streamjob_operator.kube.driver.regroup import START_DEADLINE_S, UNDO, begun, made, refused
from streamjob_operator.kube.driver.regroup_pod import change_manifest
from streamjob_operator.kube.driver.remembering import change_to_status, from_status, to_status
from streamjob_operator.kube.driver.values import Action, Change, Decision, DriverMemory, DriverPod, PodPhase, Step
from streamjob_operator.kube.names import APPLICATION_HASH, KubeReason, Phase

HASH, NOW_S = "hash-1", 10_000.0
JOB = job_facts({"checkpoint": "s3a://b/c"}, key_groups=8, key_groups_asked=True)
DRIVER = DriverPod(
    name="orders-driver", uid="driver-1", phase=PodPhase.RUNNING, application_hash=HASH, ready=True, started_at_s=NOW_S
)


def operation(phase: PodPhase = PodPhase.RUNNING, what: str = "key-groups-8", **fields: Any) -> DriverPod:
    given = {"name": "orders-key-groups", "uid": f"pod-{what}", "started_at_s": NOW_S, **fields}
    return DriverPod(phase=phase, application_hash=what, **given)


GONE = "application.checkpoint is not there any more, so nothing can be done to it."
FINISHED = operation(PodPhase.SUCCEEDED, exit_code=0)


class Course:
    """Decisions that follow each other; the memory goes through the status."""

    def __init__(self, memory: DriverMemory | None = None) -> None:
        self.memory = memory or DriverMemory()
        self.now_s = NOW_S

    def step(self, driver: DriverPod | None, pod: DriverPod | None = None, **changes: Any) -> Decision:
        self.now_s += 2.0
        decision = decide(dataclasses.replace(JOB, **changes), HASH, driver, self.memory, self.now_s, pod)
        memory = decision.memory
        self.memory = from_status(to_status(memory, None), change_to_status(memory.change))
        return decision


@pytest.fixture
def course() -> Course:
    course = Course()
    assert course.step(DRIVER).action is Action.STOP
    assert course.step(dataclasses.replace(DRIVER, deleting=True)).action is Action.NOTHING
    assert course.step(None).action is Action.CHANGE
    return course


def driver_starts(course: Course, pod: DriverPod | None) -> None:
    """The operation's pod goes, then the driver comes, without a wait; and it is not stopped for the same again."""
    if pod is not None:
        assert course.step(None, pod).action is Action.STOP_CHANGE
    assert course.step(None).action is Action.NOTHING
    assert course.step(None).action is Action.CREATE
    assert course.step(DRIVER).reason is KubeReason.DRIVER_RUNNING


def test_the_driver_stops_the_state_is_changed_the_driver_starts(course: Course) -> None:
    decision = course.step(None, operation())
    assert (decision.action, decision.reason, decision.phase) == (
        Action.NOTHING,
        KubeReason.KEY_GROUPS_CHANGING,
        Phase.SUBMITTING,
    )
    assert course.step(None, FINISHED).action is Action.NOTHING
    driver_starts(course, FINISHED)
    assert course.memory.change.failure is None


def test_what_is_refused_is_told_once_and_the_driver_goes_on(course: Course) -> None:
    refused = operation(PodPhase.FAILED, exit_code=2, last_words="Batch 7 was begun and not finished")
    course.step(None, refused)
    driver_starts(course, refused)
    assert course.memory.change.failure == "Batch 7 was begun and not finished"
    assert course.step(DRIVER, key_groups=16).action is Action.STOP


@pytest.mark.parametrize(
    "killed",
    [
        operation(PodPhase.FAILED, exit_code=137, why="OOMKilled"),
        operation(PodPhase.FAILED, exit_code=0, disrupted=True, why="Evicted"),
    ],
)
def test_one_that_was_killed_is_sent_back_by_another_pod(course: Course, killed: DriverPod) -> None:
    course.step(None, killed)
    assert course.step(None, killed).action is Action.STOP_CHANGE
    decision = course.step(None)
    assert (decision.action, decision.memory.change.step) == (Action.CHANGE, Step.UNDO)
    back = operation(PodPhase.SUCCEEDED, UNDO, exit_code=0)
    course.step(None, back)
    driver_starts(course, back)
    assert str(killed.why) in str(course.memory.change.failure)


def test_one_that_was_taken_away_is_sent_back(course: Course) -> None:
    course.step(None, operation())
    assert course.step(None).action is Action.NOTHING
    assert course.step(None).action is Action.CHANGE
    assert course.memory.change.step is Step.UNDO
    gone = operation(PodPhase.FAILED, UNDO, exit_code=1)
    course.step(None, gone)
    driver_starts(course, gone)
    assert "could not be sent back either" in str(course.memory.change.failure)


def test_a_pod_that_does_not_begin_does_not_keep_the_driver(course: Course) -> None:
    waiting = operation(PodPhase.PENDING, started_at_s=None, unschedulable="no node")
    course.step(None, waiting)
    course.now_s += START_DEADLINE_S
    course.step(None, waiting)
    driver_starts(course, waiting)
    assert "no node" in str(course.memory.change.failure)


def test_a_suspended_job_ends_the_operation_and_a_resumed_one_asks_for_it_again(course: Course) -> None:
    suspended = job_facts({"checkpoint": "s3a://b/c"}, spec={"suspend": True})
    course.step(None, operation())
    decision = course.step(None, operation(), spec=suspended.spec)
    assert (decision.action, decision.gone, decision.phase) == (Action.STOP_CHANGE, False, Phase.SUSPENDED)
    assert course.step(None, operation(deleting=True), spec=suspended.spec).gone is False
    assert course.step(None, spec=suspended.spec).gone is True
    assert course.step(None).action is Action.CHANGE


def test_a_deleted_job_waits_for_the_operation_to_end(course: Course) -> None:
    course.step(None, operation())
    assert course.step(None, operation(), deleted_at_s=NOW_S).gone is False
    assert course.step(None, deleted_at_s=NOW_S).gone is True


def test_a_failure_is_forgotten_with_the_wish() -> None:
    course = Course(DriverMemory(change=Change(tried=f"8:{HASH}", failure="No.")))
    assert course.step(DRIVER).action is Action.NOTHING
    course.step(DRIVER, key_groups=None)
    assert course.memory.change.failure == "No.", "what was measured may come and go"
    course.step(DRIVER, key_groups=None, key_groups_asked=False)
    assert course.memory.change == Change()
    assert course.step(DRIVER).action is Action.STOP


def test_its_pod_is_the_driver_s_with_another_command_and_no_executors() -> None:
    made = change_manifest(JOB, Change(step=Step.CHANGE, wanted=8))
    driver = driver_manifest(JOB)
    container = made["spec"]["containers"][0]
    assert container["command"][-1] == "repartition"
    assert container["args"] == ["s3a://b/c", "--key-groups", "8"]
    assert change_manifest(JOB, Change(step=Step.UNDO, wanted=8))["spec"]["containers"][0]["args"][-1] == "--undo"
    (arguments,) = (one["value"] for one in container["env"] if one["name"] == "PYSPARK_SUBMIT_ARGS")
    assert "--conf spark.master=local[*]" in arguments
    assert {"name": "STREAMJOB_LAST_WORDS", "value": "/dev/termination-log"} in container["env"]
    assert "readinessProbe" not in container
    assert made["metadata"]["labels"]["spark-role"] == "key-groups"
    for name in ("volumes", "serviceAccountName", "securityContext"):
        assert made["spec"][name] == driver["spec"][name]
    assert made["metadata"]["ownerReferences"] == driver["metadata"]["ownerReferences"]


def sentences(course: Course, *pods: DriverPod | None) -> list[str]:
    return [course.step(None, one).sentence for one in pods]


def test_each_step_says_what_is_being_done() -> None:
    course = Course()
    assert "stops between two batches" in course.step(DRIVER).sentence
    waiting = operation(PodPhase.PENDING, started_at_s=None, trouble="The image is pulled.")
    killed = operation(PodPhase.FAILED, exit_code=137, why="OOMKilled")
    back = operation(PodPhase.RUNNING, UNDO)
    name = "The pod orders-key-groups"
    assert sentences(course, None, waiting, operation(), killed, killed, None, back) == [
        "The state of the stopped query is spread over 8 key groups.",
        f"{name}, which makes 8 key groups, does not run yet. The image is pulled.",
        f"{name} makes 8 key groups; its log says how far it is.",
        "Its pod ended with exit code 137 (OOMKilled): It said nothing. The checkpoint is sent back.",
        f"{name} makes way for the next.",
        "The state of the stopped query is sent back.",
        f"{name} sends the checkpoint back; its log says how far it is.",
    ]


def test_a_pod_that_waits_without_a_word_is_told_without_one_and_given_up_after_its_time(course: Course) -> None:
    waiting = operation(PodPhase.PENDING, started_at_s=None)
    assert course.step(None, waiting).sentence.endswith("which makes 8 key groups, does not run yet.")
    since_s = course.memory.change.since_s
    assert since_s == course.now_s
    course.now_s = since_s + START_DEADLINE_S - 2.0
    assert course.step(None, waiting).memory.change.step is Step.CHANGE
    course.step(None, waiting)
    assert course.memory.change.step is Step.END
    assert course.memory.change.failure == "Its pod did not begin: nobody says why."


@pytest.mark.parametrize("code", [1, -1, 3])
def test_only_the_exit_code_of_a_refusal_says_that_the_query_is_as_it_was(course: Course, code: int) -> None:
    course.step(None, operation(PodPhase.FAILED, exit_code=code, last_words="It broke."))
    assert course.memory.change.step is Step.UNDO
    assert course.memory.change.failure == f"Its pod ended with exit code {code} (no reason): It broke."


def test_a_refusal_of_the_way_back_is_no_refusal_of_the_change(course: Course) -> None:
    course.step(None, operation(PodPhase.FAILED, exit_code=137))
    course.step(None, operation(PodPhase.FAILED, UNDO, exit_code=2, last_words="No way back."))
    assert str(course.memory.change.failure).endswith("exit code 2 (no reason): No way back.")
    assert "could not be sent back either" in str(course.memory.change.failure)


@pytest.mark.parametrize("deleting", [False, True])
def test_a_pod_that_goes_already_is_not_deleted_again(course: Course, deleting: bool) -> None:
    expected = Action.NOTHING if deleting else Action.STOP_CHANGE
    assert course.step(None, operation(what="key-groups-16", deleting=deleting)).action is expected
    course.step(None, FINISHED)
    assert course.step(None, dataclasses.replace(FINISHED, deleting=deleting)).action is expected


def test_a_pod_of_the_wanted_change_that_is_being_deleted_is_waited_for(course: Course) -> None:
    decision = course.step(None, operation(deleting=True))
    assert (decision.action, decision.memory.change.pod_uid) == (Action.NOTHING, None)


def test_a_change_that_is_under_way_is_looked_at_again_soon(course: Course) -> None:
    assert course.step(None, operation()).next_look_s == 2.0


def test_what_was_never_asked_for_leaves_the_memory_of_the_driver_as_it_is() -> None:
    memory = DriverMemory(pod_uid="driver-1", restarts=3)
    asks_not = dataclasses.replace(JOB, key_groups_asked=False)
    assert begun(asks_not, HASH, memory) is memory
    assert begun(dataclasses.replace(JOB, key_groups=None), HASH, memory) is memory


def test_a_pod_that_the_cluster_refuses_ends_the_change() -> None:
    change = refused(Change(step=Step.CHANGE, wanted=8, tried="8:hash-1"), "too large")
    assert (change.step, change.failure) == (Step.END, "Its pod was refused: too large")


def test_what_it_says_goes_where_the_user_s_template_has_it_read() -> None:
    elsewhere = {"spec": {"containers": [{"name": "driver", "terminationMessagePath": "/tmp/words"}]}}
    job = job_facts({"checkpoint": "s3a://b/c", "driver": {"podTemplate": elsewhere}})
    container = change_manifest(job, Change(step=Step.CHANGE, wanted=8))["spec"]["containers"][0]
    assert {"name": "STREAMJOB_LAST_WORDS", "value": "/tmp/words"} in container["env"]


@pytest.mark.parametrize("annotations", [{"team": "orders"}, None])
def test_its_pod_is_annotated_as_the_driver_is_but_no_prometheus_is_sent_there(
    annotations: dict[str, str] | None,
) -> None:
    """Nothing answers at the agent's port. What the user's template has may be what lets a pod into the cluster."""
    template = {"metadata": {"annotations": annotations}}
    monitoring = Monitoring(monitor=Monitor.ANNOTATIONS)
    job = job_facts({"checkpoint": "s3a://b/c", "driver": {"podTemplate": template}}, monitoring=monitoring)
    assert "prometheus.io/scrape" in driver_manifest(job)["metadata"]["annotations"]
    made = change_manifest(job, Change(step=Step.CHANGE, wanted=8))
    assert made["metadata"]["annotations"] == {**(annotations or {}), APPLICATION_HASH: "key-groups-8"}


@pytest.mark.parametrize("begun_too", [False, True])
def test_a_checkpoint_that_is_taken_out_of_the_spec_meanwhile_leaves_no_job_without_a_driver(begun_too: bool) -> None:
    """No pod can be made then; the driver is to come all the same."""
    course = Course()
    course.step(DRIVER)
    if begun_too:
        course.step(None)
        course.step(None, operation())
    without = job_facts({}).application
    for _ in range(5):
        decision = course.step(None, application=without, key_groups=None, key_groups_asked=False)
        assert decision.action in (Action.NOTHING, Action.CREATE)
        if decision.action is Action.CREATE:
            break
    assert decision.action is Action.CREATE
    assert course.memory.change.failure == GONE


def test_a_checkpoint_that_is_taken_out_before_it_was_sent_back_leaves_what_was_told_of_the_change(
    course: Course,
) -> None:
    killed = operation(PodPhase.FAILED, exit_code=137, why="OOMKilled", last_words="It broke.")
    course.step(None, killed)
    assert course.step(None, killed).action is Action.STOP_CHANGE
    course.step(None, application=job_facts({}).application)
    assert course.memory.change.failure == f"Its pod ended with exit code 137 (OOMKilled): It broke. {GONE}"


def test_what_was_made_is_known_at_its_end(course: Course) -> None:
    """Nothing has measured it yet, and the application may be edited meanwhile: it would be done once more."""
    told = []
    for pod in (FINISHED, FINISHED, None):
        before = course.memory.change
        course.step(None, pod)
        told.append(made(before, course.memory.change))
    assert told == [None, None, 8]


def test_what_was_refused_is_not_made(course: Course) -> None:
    refusing = operation(PodPhase.FAILED, exit_code=2, last_words="No.")
    for pod in (refusing, refusing, None):
        before = course.memory.change
        course.step(None, pod)
        assert made(before, course.memory.change) is None
