"""The driver's pod as Kubernetes shows it: its own container is judged, whatever stands beside it."""

from __future__ import annotations

from typing import Any

import pytest

from streamjob_operator.kube.driver.observe import LONGEST_WORDS_BYTES, driver_pod
from streamjob_operator.kube.driver.values import DriverPod

RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
ENDED = {
    "terminated": {
        "exitCode": 137,
        "reason": "OOMKilled",
        "message": "last line\n",
        "startedAt": "2026-01-01T00:00:00Z",
    }
}


def pod(driver: dict[str, Any] | None, sidecar: dict[str, Any] | None = None, **status: Any) -> DriverPod:
    """A pod with a sidecar, listed first in the status as the kubelet sorts by name."""
    containers = [one for one in (("agent-of-a-mesh", sidecar), ("driver", driver)) if one[1] is not None]
    told = [{"name": name, "ready": True, **(state or {})} for name, state in containers]
    return driver_pod(
        {
            "metadata": {"name": "orders-driver", "uid": "u"},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "driver"}, {"name": "agent-of-a-mesh"}]},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": told, **status},
        }
    )


def test_a_driver_beside_a_sidecar_has_ended_when_its_own_container_has() -> None:
    found = pod({"state": ENDED}, {"state": RUNNING})
    assert found.ended
    assert (found.exit_code, found.why, found.last_words) == (137, "OOMKilled", "last line")


def test_a_sidecar_that_ended_is_no_end() -> None:
    found = pod({"state": RUNNING}, {"state": ENDED})
    assert not found.ended
    assert found.ready


def test_a_driver_is_ready_though_a_sidecar_is_not() -> None:
    unready = [{"type": "Ready", "status": "False"}]
    assert pod({"state": RUNNING}, {"state": RUNNING, "ready": False}, conditions=unready).ready
    assert not pod({"state": RUNNING, "ready": False}, {"state": RUNNING}).ready


def test_a_sidecar_without_an_image_does_not_keep_a_running_driver_from_starting() -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}, "ready": False}
    assert pod({"state": RUNNING, "ready": False}, waiting).trouble is None
    assert pod({"state": {"waiting": {"reason": "ContainerCreating"}}}, waiting).trouble is not None


@pytest.mark.parametrize("own", ["driver", "spark-kubernetes-driver"])
def test_a_driver_behind_a_sidecar_that_a_webhook_put_first_is_the_one_that_is_judged(own: str) -> None:
    """As Istio does it with holdApplicationUntilProxyStarts; the driver is ours, or one that Spark has made."""
    told = [{"name": "istio-proxy", "ready": True, "state": RUNNING}, {"name": own, "ready": False, "state": ENDED}]
    found = driver_pod(
        {
            "metadata": {"name": "orders-driver", "uid": "u"},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "istio-proxy"}, {"name": own}]},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": told},
        }
    )
    assert (found.ended, found.ready, found.exit_code) == (True, False, 137)


def test_a_container_that_its_pod_starts_again_has_not_ended() -> None:
    """As in a pod of somebody else's that restarts its containers."""
    document = {
        "metadata": {"name": "d", "uid": "u"},
        "spec": {"containers": [{"name": "driver"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "driver", "state": ENDED}]},
    }
    assert not driver_pod(document).ended


@pytest.mark.parametrize(
    "status",
    [
        {"reason": "Evicted", "message": "The node was low on resource: memory."},
        {"reason": "NodeAffinity"},
        {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]},
    ],
)
def test_what_happened_to_the_pod_is_told_apart_from_what_its_driver_did(status: dict[str, Any]) -> None:
    found = pod({"state": ENDED}, phase="Failed", **status)
    assert found.disrupted
    assert found.why is not None
    assert next(iter(status.values())) == status.get("reason") or "PreemptionByScheduler" in found.why


def test_a_driver_that_could_not_be_started_never_ran() -> None:
    never = {"exitCode": 128, "reason": "StartError", "startedAt": "1970-01-01T00:00:00Z"}
    found = pod({"state": {"terminated": {**never, "finishedAt": "2026-01-01T00:00:00Z"}}}, phase="Failed")
    assert (found.started_at_s, found.exit_code, found.why) == (None, 128, "StartError")
    assert not found.disrupted


@pytest.mark.parametrize(("reason", "code"), [("ContainerStatusUnknown", 137), ("Unknown", 255)])
def test_an_end_that_nobody_saw_is_not_the_drivers_own(reason: str, code: int) -> None:
    """As after a restart of its node: the kubelet or containerd makes the exit code up."""
    told = {"exitCode": code, "reason": reason, "message": "The container could not be located"}
    found = pod({"state": {"terminated": told}}, phase="Failed")
    assert found.ended
    assert (found.disrupted, found.last_words) == (True, None)
    assert found.why == f"{reason}: The container could not be located"


def test_a_drivers_words_steer_nobodys_terminal() -> None:
    said = "Traceback:\r\n\tat Main\n\x1b[31mValueError\x1b[0m \x9b2J"
    words = pod({"state": {"terminated": {"exitCode": 1, "message": said}}}).last_words
    assert words == "Traceback:\n    at Main\n\ufffd[31mValueError\ufffd[0m \ufffd2J"
    waiting = {"reason": "ImagePullBackOff", "message": "no such image\n\x1b]0;mine\x07"}
    told = pod({"name": "driver", "state": {"waiting": waiting}}).trouble
    assert told == "container driver: ImagePullBackOff: no such image \ufffd]0;mine\ufffd"


def test_the_last_words_are_the_last_ones() -> None:
    text = "\n".join(f"lïne {number}" for number in range(1000))
    words = pod({"state": {"terminated": {"exitCode": 1, "message": text}}}).last_words
    assert words is not None
    assert words.endswith("lïne 999")
    assert LONGEST_WORDS_BYTES - 20 < len(words.encode()) <= LONGEST_WORDS_BYTES
    assert words.startswith("lïne ")
