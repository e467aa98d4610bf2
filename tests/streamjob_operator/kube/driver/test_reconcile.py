"""One job's driver on an API server that is a dictionary: what is tried first, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from driver_jobs import job_facts
from fake_api import FakeApi

from streamjob_operator.kube.api.kinds import PODS, SERVICE_ACCOUNTS
from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.driver import DriverMemory, DriverState, JobFacts, reconcile_driver
from streamjob_operator.kube.driver.monitoring import Monitor, Monitoring
from streamjob_operator.kube.driver.values import Change, Step
from streamjob_operator.kube.names import KubeReason, Phase

POD = ("pods", "streams", "orders-driver")
EXECUTOR = "orders-executor-trial"


class Cluster:
    """The driver of one job."""

    def __init__(self) -> None:
        self.api: Any = FakeApi()
        self.memory = DriverMemory()

    def step(self, job: JobFacts | None = None) -> DriverState:
        state = reconcile_driver(self.api, job or job_facts(), self.memory, 1_000.0)
        self.memory = state.memory
        return state

    @property
    def made(self) -> bool:
        return POD in self.api.objects


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def refusing(name: str, status: int, message: str) -> Callable[[str], None]:
    def refuse(asked: str) -> None:
        if asked == name:
            raise Refused(status, "Invalid", message)

    return refuse


def test_a_mistake_in_the_executors_template_is_told_before_a_driver_is_made(cluster: Cluster) -> None:
    cluster.api.before["try"] = refusing(EXECUTOR, 422, "spec.volumes[0].name: Required value")
    state = cluster.step()
    assert (state.phase, state.reason, state.stalled) == (Phase.FAILED, KubeReason.INVALID_SPEC, True)
    assert "application.executor: its pod is refused: spec.volumes[0].name" in state.sentence
    assert not cluster.made


def test_a_driver_that_runs_is_not_stopped_for_one_that_cannot_be_made(cluster: Cluster) -> None:
    cluster.step()
    cluster.api.before["try"] = refusing("orders-driver-trial", 422, "unknown")
    state = cluster.step(job_facts({"args": ["other"]}))
    assert state.reason is KubeReason.INVALID_SPEC
    assert cluster.made
    cluster.api.before.clear()
    assert cluster.step(job_facts({"args": ["other"]})).reason is KubeReason.DRIVER_RESTARTING
    assert not cluster.made


@pytest.mark.parametrize(
    ("status", "message"),
    [(403, "exceeded quota: small"), (400, "webhook does not support dry run"), (429, "too many requests")],
)
def test_what_passes_by_itself_does_not_keep_a_driver_from_being_made(
    cluster: Cluster, status: int, message: str
) -> None:
    cluster.api.before["try"] = refusing(EXECUTOR, status, message)
    cluster.step()
    assert cluster.made


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (422, "spec.volumes[0].name: Required value", KubeReason.INVALID_SPEC),
        (403, 'violates PodSecurity "restricted:latest"', KubeReason.DRIVER_REFUSED),
        (403, "exceeded quota: small", KubeReason.DRIVER_REFUSED),
    ],
)
def test_who_says_no_to_a_drivers_pod_is_told_apart(
    cluster: Cluster, status: int, message: str, reason: KubeReason
) -> None:
    """A spec that is right is not called wrong for want of room or rights."""
    cluster.api.before["create"] = refusing(POD[2], status, message)
    state = cluster.step()
    assert (state.phase, state.reason, state.stalled) == (Phase.FAILED, reason, True)
    assert message in state.sentence
    cluster.api.before.clear()
    cluster.step()
    assert cluster.made


def busy_quota(_: str) -> None:
    raise Conflict(409, "Conflict", 'Operation cannot be fulfilled on resourcequotas "q": the object has been modified')


@pytest.mark.parametrize("changing", [False, True])
def test_who_was_slower_than_another_is_not_refused(cluster: Cluster, changing: bool) -> None:
    """A quota that counts at this moment, or a pod that is another one by now: the next turn sees. A change of key
    groups that was given up for it would not be tried again."""
    job = job_facts({"checkpoint": "s3a://b/c"})
    if changing:
        cluster.memory = DriverMemory(change=Change(step=Step.CHANGE, wanted=8, tried="8:x"))
    cluster.api.before["apply"] = busy_quota
    with pytest.raises(Conflict):
        cluster.step(job)
    cluster.api.before.clear()
    cluster.step(job)
    assert cluster.memory.change.failure is None
    assert cluster.made != changing


def test_nothing_is_tried_for_a_driver_that_runs(cluster: Cluster) -> None:
    cluster.step()
    cluster.api.calls.clear()
    cluster.step()
    assert ("try", PODS.plural) not in cluster.api.calls


def test_another_way_of_scraping_takes_the_place_of_the_one_before(cluster: Cluster) -> None:
    cluster.step()
    assert ("podmonitors", *POD[1:]) in cluster.api.objects
    for way, left in ((Monitor.SERVICE_MONITOR, {"servicemonitors"}), (Monitor.OFF, set())):
        job = job_facts(monitoring=Monitoring(monitor=way))
        reconcile_driver(cluster.api, job, cluster.memory, 1_000.0, repair=True)
        assert {plural for plural, *_ in cluster.api.objects if plural.endswith("monitors")} == left


def test_an_account_of_the_users_is_not_touched(cluster: Cluster) -> None:
    cluster.api.put(SERVICE_ACCOUNTS, {"metadata": {"name": "s3-writer", "namespace": "streams"}})
    before = dict(cluster.api.objects)
    state = cluster.step(job_facts({"driver": {"podTemplate": {"spec": {"serviceAccountName": "s3-writer"}}}}))
    assert state.phase is Phase.SUBMITTING
    accounts = [key for key in cluster.api.objects if key[0] == "serviceaccounts"]
    assert accounts == [key for key in before if key[0] == "serviceaccounts"]


def lose_owners(api: Any) -> None:
    """As a backup's tool restores objects, and `kubectl delete --cascade=orphan` leaves them."""
    for one in api.objects.values():
        one["metadata"].pop("ownerReferences", None)


def test_what_lost_its_owner_gets_it_back_and_a_driver_without_one_makes_way(cluster: Cluster) -> None:
    cluster.step()
    former = cluster.api.objects[POD]["metadata"]["uid"]
    lose_owners(cluster.api)
    cluster.memory = DriverMemory()  # the StreamJob is another one, too
    waiting = cluster.step()
    assert (waiting.phase, waiting.stalled) == (Phase.PENDING, False)
    assert "Pod orders-driver" in waiting.sentence
    assert not cluster.made
    assert cluster.step().reason is KubeReason.DRIVER_STARTING
    assert cluster.api.objects[POD]["metadata"]["uid"] != former
    owners = {key: one["metadata"].get("ownerReferences") for key, one in cluster.api.objects.items()}
    assert [key for key, found in owners.items() if not found] == []


def test_a_driver_without_an_owner_ends_though_none_is_wanted(cluster: Cluster) -> None:
    cluster.step()
    lose_owners(cluster.api)
    cluster.step(job_facts(spec={"suspend": True}))
    assert not cluster.made
    assert cluster.step(job_facts(spec={"suspend": True})).phase is Phase.SUSPENDED


def test_a_monitor_that_lost_its_owner_goes_when_another_way_of_scraping_is_chosen(cluster: Cluster) -> None:
    cluster.step()
    for key, one in cluster.api.objects.items():
        if key[0] == "podmonitors":
            one["metadata"].pop("ownerReferences")
    job = job_facts(monitoring=Monitoring(monitor=Monitor.OFF))
    reconcile_driver(cluster.api, job, cluster.memory, 1_000.0, repair=True)
    assert not [one for one, *_ in cluster.api.objects if one == "podmonitors"]


@pytest.mark.parametrize("labels", [{}, {"streamjob.dev/job": "payments"}])
def test_a_pod_without_an_owner_that_is_not_labelled_as_ours_is_left_alone(
    cluster: Cluster, labels: dict[str, str]
) -> None:
    cluster.api.put(PODS, {"metadata": {"name": POD[2], "namespace": POD[1], "labels": labels}})
    assert cluster.step().reason is KubeReason.DRIVER_REFUSED
    assert cluster.made
