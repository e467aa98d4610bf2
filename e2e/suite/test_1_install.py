"""The chart on an empty cluster."""

from __future__ import annotations

from e2e.suite.evidence import Sayer
from e2e.suite.world import RELEASE, SYSTEM, World


def test_helm_installs_the_operator_into_a_restricted_namespace(installed: World, say: Sayer) -> None:
    kubectl = installed.kubectl(SYSTEM)
    pods = kubectl.list("pods", "--selector=app.kubernetes.io/name=streamjob-operator")
    assert len(pods) == 1
    container = pods[0]["status"]["containerStatuses"][0]
    assert container["ready"]
    assert container["restartCount"] == 0
    served = kubectl("api-resources", "--api-group=streamjob.dev", "--output=name").split()
    assert sorted(served) == ["partitionmaps.streamjob.dev", "streamjobs.streamjob.dev"]
    say(installed.images.operator)


def test_helm_test_passes(installed: World) -> None:
    assert "Phase:          Succeeded" in installed.helm("test", RELEASE, "--timeout=100s")
