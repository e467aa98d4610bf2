"""The proxy that plays a sick API server passes everything on but for what its rules say."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy, Rule
from kubectl import Kubectl, program
from kubernetes import client, config, watch
from urllib3.exceptions import HTTPError


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    with FaultProxy(control_plane) as proxy:
        yield proxy


@pytest.fixture
def core(proxy: FaultProxy) -> client.CoreV1Api:
    settings = client.Configuration()
    config.load_kube_config(str(proxy.kubeconfig), client_configuration=settings)
    settings.retries = False
    return client.CoreV1Api(client.ApiClient(settings))


def config_map(name: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name))


def names(core: client.CoreV1Api, namespace: str) -> set[str]:
    return {one.metadata.name for one in core.list_namespaced_config_map(namespace).items}


def test_without_rules_it_is_the_server(proxy: FaultProxy, namespace: str) -> None:
    through = Kubectl(program(), proxy.kubeconfig, namespace)
    through("create", "configmap", "a", "--from-literal=x=1")
    assert through("get", "configmap", "a", "--output=jsonpath={.data.x}") == "1"
    assert ("GET", f"/api/v1/namespaces/{namespace}/configmaps/a") in proxy.requests


def test_a_status_in_the_servers_place(proxy: FaultProxy, core: client.CoreV1Api, namespace: str) -> None:
    rule = proxy.add(Rule(method="POST", path=".*/configmaps", times=1, status=429, retry_after_s=7))
    with pytest.raises(client.ApiException) as caught:
        core.create_namespaced_config_map(namespace, config_map("a"))
    assert (caught.value.status, caught.value.headers["Retry-After"], rule.applied) == (429, "7", 1)
    assert "a" not in names(core, namespace)
    core.create_namespaced_config_map(namespace, config_map("a"))
    assert "a" in names(core, namespace)


def test_done_and_not_told(proxy: FaultProxy, core: client.CoreV1Api, namespace: str) -> None:
    proxy.add(Rule(method="POST", path=".*/configmaps", times=1, status=500, after=True))
    with pytest.raises(client.ApiException) as caught:
        core.create_namespaced_config_map(namespace, config_map("a"))
    assert caught.value.status == 500
    assert "a" in names(core, namespace)


def test_silence(proxy: FaultProxy, core: client.CoreV1Api, namespace: str) -> None:
    with proxy.faulty(Rule(method="GET", hang_s=0.2)), pytest.raises(HTTPError):
        core.list_namespaced_config_map(namespace)
    assert names(core, namespace)


def test_a_watch_is_cut_and_can_be_taken_up_again(proxy: FaultProxy, core: client.CoreV1Api, namespace: str) -> None:
    rule = proxy.add(Rule(watch=True, cut_after_s=0.5, times=1))
    version = core.list_namespaced_config_map(namespace).metadata.resource_version
    begun_s = time.monotonic()
    with pytest.raises(HTTPError):
        for _ in watch.Watch().stream(
            core.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=60
        ):
            pass
    assert rule.applied == 1
    assert time.monotonic() - begun_s < 30
    core.create_namespaced_config_map(namespace, config_map("b"))
    again = watch.Watch()
    for event in again.stream(core.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=60):
        if event["object"].metadata.name == "b":
            again.stop()
    assert "b" in names(core, namespace)
