"""A real API server for the tests of this folder; without its binary they are skipped, with one line that says why."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# importlib mode puts no folder on the path: `e2e` lies at the root, helpers beside the tests.
sys.path[:0] = [str(Path(__file__).parent), str(ROOT)]

from e2e.cluster import binary  # noqa: E402
from e2e.cluster.controlplane import ControlPlane  # noqa: E402
from e2e.cluster.kubectl import ESTABLISHED  # noqa: E402
from e2e.cluster.left_out import NeedsProgram  # noqa: E402
from kubectl import Kubectl, eventually, program  # noqa: E402 - needs the path above
from owned_driver import operator  # noqa: E402, F401 - a fixture
from prometheus_fixture import prometheus  # noqa: E402, F401 - a fixture
from stage import stage  # noqa: E402, F401 - a fixture

ESTABLISHED_S = 30.0


def pytest_configure(config: pytest.Config) -> None:
    """See NeedsProgram."""
    config.pluginmanager.register(NeedsProgram(Path(__file__).parent, "kube", binary.find, binary.HOW_TO_GET))


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """etcd, API server and controller manager, with our CRDs; no nodes."""
    kube = binary.find()
    assert kube is not None, binary.HOW_TO_GET
    with ControlPlane(kube) as plane:
        _apply_crds(Kubectl(program(), plane.kubeconfig))
        yield plane


@pytest.fixture(scope="session")
def api_server(control_plane: ControlPlane) -> Path:
    """Path of an administrator's kubeconfig."""
    return control_plane.kubeconfig


@pytest.fixture
def namespace(api_server: Path) -> Iterator[str]:
    """A namespace of the test's own, with its default service account; deleted afterwards."""
    kubectl, name = Kubectl(program(), api_server), f"test-{uuid.uuid4().hex[:8]}"
    kubectl("create", "namespace", name)
    eventually(lambda: kubectl.run("--namespace", name, "get", "serviceaccount", "default").returncode == 0)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def kubectl(api_server: Path, namespace: str) -> Kubectl:
    """The real kubectl in the test's namespace."""
    return Kubectl(program(), api_server, namespace)


def _apply_crds(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", f"--filename={ROOT / 'crds'}")
    kubectl("wait", ESTABLISHED, f"--timeout={ESTABLISHED_S:.0f}s", "crd", "--all")
