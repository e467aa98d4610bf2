"""A StreamJob that was copied under another name, its checkpoint with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from driver_jobs import APPLICATION, job_facts
from fake_api import FakeApi

from streamjob_operator.kube.api.kinds import PODS, STREAM_JOBS
from streamjob_operator.kube.driver import DriverMemory, DriverState, reconcile_driver
from streamjob_operator.kube.driver.sharing import holder
from streamjob_operator.kube.names import KubeReason, Phase

HERE = "s3a://bucket/orders"
OURS = {"metadata": {"name": "orders", "namespace": "streams", "uid": "uid-1", "creationTimestamp": "2026-01-02"}}


def other(
    checkpoint: str | None = HERE,
    *,
    made: str = "2026-01-01",
    pod: str | None = None,
    step: str | None = None,
    args: Sequence[str] = APPLICATION["args"],
    **spec: Any,
) -> dict[str, Any]:
    metadata = {"name": "payments", "namespace": "streams", "uid": "uid-2", "creationTimestamp": made}
    status = {"driver": {"pod": pod} if pod else {}, "keyGroups": {"step": step} if step else {}}
    return {
        "metadata": metadata,
        "spec": {
            "application": {"mainFile": APPLICATION["mainFile"], "args": [*args], "checkpoint": checkpoint},
            **spec,
        },
        "status": status,
    }


def step(api: Any, memory: DriverMemory) -> DriverState:
    return reconcile_driver(api, job_facts({"checkpoint": HERE}, owner=OURS), memory, 1_000.0)


def test_a_copy_waits_for_the_job_that_it_was_made_from_and_starts_once_that_is_gone() -> None:
    api: Any = FakeApi()
    api.put(STREAM_JOBS, other(pod="payments-driver"))
    memory = DriverMemory(restarts=2)
    state = step(api, memory)
    assert (state.phase, state.reason, state.stalled) == (Phase.PENDING, KubeReason.CHECKPOINT_IN_USE, True)
    assert "application.checkpoint is that of StreamJob payments, too" in state.sentence
    assert state.memory == memory
    assert not [one for one in api.objects if one[0] == PODS.plural]
    api.delete(STREAM_JOBS, "payments", "streams")
    assert step(api, state.memory).reason is KubeReason.DRIVER_STARTING
    assert [one for one in api.objects if one[0] == PODS.plural]


@pytest.mark.parametrize("pod", ["payments-driver", "payments-key-groups"])
def test_a_pod_counts_before_its_jobs_status_tells_of_it(pod: str) -> None:
    """The turn that makes a pod is over before that is told, and the operator may end in between."""
    api: Any = FakeApi()
    api.put(STREAM_JOBS, other(made="2026-01-03"))
    api.put(PODS, {"metadata": {"name": pod, "namespace": "streams"}})
    assert step(api, DriverMemory()).reason is KubeReason.CHECKPOINT_IN_USE


def test_a_driver_that_runs_is_not_stopped_for_a_copy() -> None:
    api: Any = FakeApi()
    memory = step(api, DriverMemory()).memory
    api.put(STREAM_JOBS, other(pod="payments-driver"))
    assert step(api, memory).reason is KubeReason.DRIVER_STARTING


@pytest.mark.parametrize(
    ("one", "first"),
    [
        (other(), True),
        (other("s3a://bucket/orders/"), True),
        (other(made="2026-01-03"), False),
        (other(made="2026-01-02"), False),  # by the uid
        (other(made="2026-01-03", pod="payments-driver"), True),
        (other(suspend=True), False),
        (other(suspend=True, pod="payments-driver"), True),  # it still stops
        (other(made="2026-01-03", step="Change"), True),  # a pod works on the checkpoint in its driver's place
        (other(suspend=True, step="Undo"), True),  # and is not done with it
        (other("s3a://bucket/payments"), False),
        (other(None), False),
        (other(args=("--topic", "payments")), False),  # its checkpoint may be a folder below
        ({**other(), "spec": {"applicationRef": {"name": "x"}}}, False),
    ],
)
def test_one_of_two_goes_first_and_never_both(one: dict[str, Any], first: bool) -> None:
    job = job_facts({"checkpoint": HERE}, owner=OURS)
    assert (holder(job, [OURS, one]) == "payments") == first


@pytest.mark.parametrize("place", ["/checkpoints/orders", "file:///checkpoints/orders", "local:///orders"])
def test_a_path_of_the_pods_own_may_be_written_alike_in_two_jobs(place: str) -> None:
    api: Any = FakeApi()
    api.put(STREAM_JOBS, other(place, pod="payments-driver"))
    job = job_facts({"checkpoint": place}, owner=OURS)
    assert reconcile_driver(api, job, DriverMemory(), 1_000.0).reason is KubeReason.DRIVER_STARTING
