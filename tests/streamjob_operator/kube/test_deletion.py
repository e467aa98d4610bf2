"""A StreamJob that is to go always goes: whatever becomes of its driver, the finalizer comes off in time."""

from __future__ import annotations

import contextlib

import pytest
from fake_api import FakeApi, once

from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.api.times import rfc3339
from streamjob_operator.kube.job.drivers import KubeDrivers
from streamjob_operator.kube.job.keeper import LONGEST_END_S, Keeper
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.names import FINALIZER
from streamjob_operator.kube.report.events import Events
from streamjob_operator.ports import Unavailable

DELETED_S = 1_700_000_000.0
KIND = {"apiVersion": STREAM_JOBS.api_version, "kind": STREAM_JOBS.kind}
JOB = ("streamjobs", "n", "j")
POD = ("pods", "n", "j-driver")


class Deleting:
    """A job whose driver's pod was made, on a clock of the test's."""

    def __init__(self) -> None:
        self.api = FakeApi()
        self.now_s = DELETED_S - 60.0
        events = Events(self.api)  # type: ignore[arg-type]
        tools = Tools(
            api=self.api,  # type: ignore[arg-type]
            drivers=KubeDrivers(self.api, events),  # type: ignore[arg-type]
            events=events,
            clock=lambda: self.now_s,
        )
        self.keeper = Keeper(tools, "n", "j")
        application = {"mainFile": "local:///job.py", "image": "image:1"}
        spec = {"application": application, "executors": {"min": 1, "max": 2}}
        metadata = {"name": "j", "namespace": "n", "generation": 1}
        self.api.put(STREAM_JOBS, {**KIND, "metadata": metadata, "spec": spec})

    def delete(self) -> None:
        """A person deletes it: the API server waits for the finalizers."""
        self.keeper.turn()
        assert self.held
        assert POD in self.api.objects
        document = self.api.objects[JOB]
        metadata = {**document["metadata"], "deletionTimestamp": rfc3339(DELETED_S)}
        self.api.put(STREAM_JOBS, {**document, "metadata": metadata})

    def turn_at(self, since_s: float) -> None:
        """A turn so long after the deletion; as in the operator, one that fails is not the last."""
        self.now_s = DELETED_S + since_s
        with contextlib.suppress(Unavailable, Refused):
            self.keeper.turn()

    @property
    def held(self) -> bool:
        """Whether our finalizer is on it."""
        return FINALIZER in (self.api.objects.get(JOB, {}).get("metadata", {}).get("finalizers") or ())


@pytest.fixture
def deleting() -> Deleting:
    return Deleting()


def test_it_goes_once_its_driver_has_gone(deleting: Deleting) -> None:
    deleting.delete()
    deleting.turn_at(1.0)  # asks the pod to stop; on paper it goes at once
    assert POD not in deleting.api.objects
    assert deleting.held
    deleting.turn_at(2.0)
    assert not deleting.held


def test_it_goes_though_its_pod_can_never_be_deleted(deleting: Deleting) -> None:
    asked: list[float] = []

    def down(_: str) -> None:
        asked.append(deleting.now_s)
        raise Unavailable("down")

    deleting.delete()
    deleting.api.before["delete"] = down
    for since_s in (1.0, 60.0, 179.0):
        deleting.turn_at(since_s)
        assert deleting.held
    assert len(asked) == 3  # it did try
    deleting.turn_at(181.0)
    assert not deleting.held


def test_it_waits_for_a_driver_that_may_take_longer_to_stop(deleting: Deleting) -> None:
    """A copy of it under another name has its checkpoint, and starts once it has gone."""

    def down(_: str) -> None:
        raise Unavailable("down")

    document = deleting.api.objects[JOB]
    document["spec"]["application"]["driver"] = {"podTemplate": {"spec": {"terminationGracePeriodSeconds": 600}}}
    deleting.delete()
    deleting.api.before["delete"] = down
    deleting.turn_at(659.0)
    assert deleting.held
    deleting.turn_at(661.0)
    assert not deleting.held


def test_it_goes_in_time_though_the_api_servers_clock_is_ahead(deleting: Deleting) -> None:
    def down(_: str) -> None:
        raise Unavailable("down")

    deleting.delete()
    deleting.api.before["delete"] = down
    deleting.turn_at(-36_000.0)
    deleting.turn_at(-36_000.0 + LONGEST_END_S - 1.0)
    assert deleting.held
    deleting.turn_at(-36_000.0 + LONGEST_END_S + 1.0)
    assert not deleting.held


def test_a_finalizer_that_somebody_else_applied_comes_off_and_no_other_does(deleting: Deleting) -> None:
    """As after a restore from a backup: our finalizer is the backup tool's field."""
    document = deleting.api.objects[JOB]
    metadata = {**document["metadata"], "finalizers": ["theirs", FINALIZER]}
    deleting.api.put(STREAM_JOBS, {**document, "metadata": metadata})
    deleting.delete()
    deleting.turn_at(1.0)
    deleting.turn_at(2.0)
    assert deleting.api.objects[JOB]["metadata"]["finalizers"] == ["theirs"]


def test_it_goes_though_it_changes_while_its_finalizer_is_taken_off(deleting: Deleting) -> None:
    deleting.delete()
    deleting.turn_at(1.0)
    there = deleting.api.objects[JOB]
    deleting.api.before["patch"] = once(lambda: deleting.api.put(STREAM_JOBS, there))
    deleting.turn_at(2.0)
    assert JOB not in deleting.api.objects


def test_it_goes_though_nothing_of_its_driver_can_be_read(deleting: Deleting) -> None:
    def down(name: str) -> None:
        if name != "j":
            raise Unavailable("down")

    deleting.delete()
    deleting.api.before["get"] = down
    deleting.turn_at(179.0)
    assert deleting.held
    deleting.turn_at(181.0)
    assert not deleting.held
