"""Pods that are tried before they are made, accounts of the user's, and drivers that are not alone in their pod."""

from __future__ import annotations

from kubectl import Kubectl, eventually
from owned_driver import Operator, change, container, running

from streamjob_operator.kube.driver import executor_refusal
from streamjob_operator.kube.names import KubeReason, Phase


def test_a_mistake_in_the_executors_template_is_told_before_a_driver_is_made(
    operator: Operator, kubectl: Kubectl
) -> None:
    change(kubectl, {"application": {"executor": {"podTemplate": {"spec": {"volumes": [{"emptyDir": {}}]}}}}})
    state = operator.step()
    assert (state.reason, state.stalled) == (KubeReason.INVALID_SPEC, True)
    assert "application.executor: its pod is refused" in state.sentence
    assert "volumes[0].name" in state.sentence
    assert operator.pod() is None
    change(kubectl, {"application": {"executor": {"podTemplate": {"spec": {"volumes": None}}}}})
    assert operator.step().phase is Phase.SUBMITTING


def test_a_running_driver_is_not_stopped_for_one_that_cannot_be_made(operator: Operator, kubectl: Kubectl) -> None:
    operator.step()
    operator.say(running(ready=True))
    change(kubectl, {"application": {"driver": {"podTemplate": {"spec": {"tolerations": [{"operator": "Never"}]}}}}})
    state = operator.step()
    assert (state.reason, state.stalled) == (KubeReason.INVALID_SPEC, True)
    assert "application.driver: its pod is refused" in state.sentence
    pod = operator.pod()
    assert pod is not None
    assert "deletionTimestamp" not in pod["metadata"]


SIZES = {"requests.cpu": "10", "requests.memory": "20Gi", "limits.memory": "20Gi"}
BOUNDS = {"type": "Container", "max": {"memory": "8Gi"}}


def test_an_executor_is_tried_with_the_size_that_spark_will_give_it(operator: Operator, kubectl: Kubectl) -> None:
    """A quota of sizes takes no container that states none: no driver was made in such a namespace."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "sizes"}, "spec": {"hard": SIZES}}
    kubectl.apply(quota)
    eventually(lambda: kubectl.get("resourcequota", "sizes").get("status", {}).get("hard") == SIZES)
    state = operator.step()
    assert state.phase is Phase.SUBMITTING, state.sentence
    bounds = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "bounds"}, "spec": {"limits": [BOUNDS]}}
    kubectl.apply(bounds)
    change(kubectl, {"application": {"executor": {"memory": "7g"}}})  # and two fifths of it beside the heap
    state = operator.step()
    assert (state.reason, state.stalled) == (KubeReason.DRIVER_REFUSED, True)
    assert "application.executor: its pod is refused" in state.sentence
    assert "maximum memory usage per Container is 8Gi" in state.sentence


def test_a_quota_that_has_no_room_for_an_executor_is_told_in_its_words(operator: Operator, kubectl: Kubectl) -> None:
    hard = {"pods": "1"}
    kubectl.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"}, "spec": {"hard": hard}})
    eventually(lambda: kubectl.get("resourcequota", "one").get("status", {}).get("hard") == hard)
    assert executor_refusal(operator.api, operator.facts()) is None
    operator.step()
    assert operator.pod() is not None
    assert "exceeded quota: one" in str(executor_refusal(operator.api, operator.facts()))


def test_an_account_of_the_users_gets_the_rights(operator: Operator, kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "s3-writer")
    change(kubectl, {"application": {"driver": {"podTemplate": {"spec": {"serviceAccountName": "s3-writer"}}}}})
    assert operator.step().phase is Phase.SUBMITTING
    pod = operator.pod()
    assert pod is not None
    assert pod["spec"]["serviceAccountName"] == "s3-writer"
    account = f"--as=system:serviceaccount:{operator.namespace}:s3-writer"
    eventually(lambda: kubectl.run("auth", "can-i", "create", "pods", account).stdout.strip() == "yes")
    assert kubectl.run("auth", "can-i", "get", "secrets", account).stdout.strip() == "no"


def test_a_driver_that_ended_beside_a_sidecar_is_started_again(operator: Operator) -> None:
    operator.step()
    ended = {"exitCode": 137, "reason": "OOMKilled", "message": "last line", "startedAt": "2001-09-09T01:46:40Z"}
    ended["finishedAt"] = "2001-09-09T01:46:45Z"
    beside = [container("driver", {"terminated": ended}), container("mesh", {"running": {}})]
    operator.say({"phase": "Running", "containerStatuses": beside})
    state = operator.step()
    assert state.reason is KubeReason.DRIVER_BACKOFF
    assert "OOMKilled" in state.sentence
    assert "last line" in state.sentence
    operator.step(wait_s=11.0)
    assert operator.gone()
