"""The agent on its PartitionMap, on a real API server, under the account that the operator makes for its driver."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bare_status import bare_status
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy, Rule
from kubectl import Kubectl, eventually, program

from streamjob_agent.guard import Guard
from streamjob_agent.kube import api as agent_api
from streamjob_agent.kube.access import Access, from_kubeconfig, in_cluster
from streamjob_agent.kube.api import ApiFailure, HttpMapApi
from streamjob_agent.kube.client import MapClient
from streamjob_agent.memory import AssignmentMemory, hinted_owners
from streamjob_agent.wire import AgentStatus, Assignment, ExecutorStatus, GroupKey, QueryStatus
from streamjob_operator.kube import names
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, STREAM_JOBS
from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.api.refusals import Conflict
from streamjob_operator.kube.driver import JobFacts
from streamjob_operator.kube.driver.reconcile import apply_support
from streamjob_operator.kube.partition_map.maps import Maps, MapView

JOB = {
    "apiVersion": "streamjob.dev/v1alpha1",
    "kind": "StreamJob",
    "metadata": {"name": "orders"},
    "spec": {
        "application": {"image": "i", "mainFile": "local:///job.py"},
        "executors": {"min": 1, "max": 4},
    },
}
MAP = "/apis/streamjob.dev/v1alpha1/namespaces/.*/partitionmaps.*"


class Desk:
    """Takes what is for its application and applies it at once."""

    address = "127.0.0.1:4711"

    def __init__(self, application: str = "app-1") -> None:
        self.application = application
        self.taken: list[Assignment] = []
        self.refused: str | None = None
        self.large: AgentStatus | None = None
        self.message = ""

    def submit(self, assignment: Assignment) -> str | None:
        stale = assignment.application_id != self.application
        self.refused = f"StaleApplication: for {assignment.application_id}" if stale else None
        if self.refused is None:
            self.taken.append(assignment)
        return self.refused

    def status(self) -> AgentStatus:
        applied = self.taken[-1].generation if self.taken else None
        if self.large is not None:
            return dataclasses.replace(self.large, generation_applied=applied)
        return bare_status(
            agent_version="0.1.0",
            spark_version="4.3.0",
            application_id=self.application,
            now_s=1.0,
            message=self.message,
            generation_applied=applied,
            refused=self.refused,
        )


class Rig:
    """The operator's side of the map, and agents that are started on the other."""

    def __init__(self, api: KubeApi, namespace: str, folder: Path) -> None:
        self.api = api
        self.namespace = namespace
        self.folder = folder
        self.guard = Guard()
        self.clients: list[MapClient] = []

    @property
    def job(self) -> dict[str, Any]:
        """The StreamJob as it is now."""
        document = self.api.get(STREAM_JOBS, "orders", self.namespace)
        assert document is not None
        return document

    @property
    def maps(self) -> Maps:
        """Its PartitionMap."""
        return Maps(self.api, self.job)

    def support(self) -> None:
        document = self.job
        job = read_job(document).job
        assert job is not None
        assert job.spec.application is not None
        facts = JobFacts(
            name="orders",
            namespace=self.namespace,
            generation=1,
            owner=document,
            spec=job.spec,
            application=job.spec.application,
            executors=1,
        )
        apply_support(self.api, facts)

    def agent(self, access: Access, desk: Desk, memory: Path | None = None) -> MapClient:
        api = HttpMapApi(lambda: access, self.namespace, "orders")
        client = MapClient(desk, api, self.guard, AssignmentMemory(str(memory) if memory else None), tick_s=0.05)
        self.clients.append(client)
        client.start()
        return client

    def view(self) -> MapView:
        seen = self.maps.read()
        assert seen is not None
        return seen

    def write(self, **fields: Any) -> None:
        given = {"generation": 1, "application_id": "app-1", "query_id": "q", **fields}
        eventually(lambda: self.written(Assignment(**given)))

    def written(self, *plan: Assignment) -> bool:
        """False when the agent's status came between looking and writing."""
        try:
            self.maps.write(plan, self.view())
        except Conflict:
            return False
        return True

    def applied(self) -> int | None:
        agent = self.view().agent
        return None if agent is None else agent.generation_applied


@pytest.fixture
def rig(api_server: Path, namespace: str, kubectl: Kubectl, tmp_path: Path) -> Iterator[Rig]:
    kubectl.apply(JOB)
    made = Rig(KubeApi.from_kubeconfig(api_server), namespace, tmp_path)
    made.support()
    yield made
    for client in made.clients:
        client.stop()


@pytest.fixture
def account(control_plane: ControlPlane, kubectl: Kubectl, tmp_path: Path) -> Access:
    """As in the driver's pod: the account's token and the authority's certificate are files."""
    (tmp_path / "token").write_text(kubectl("create", "token", "orders-driver"), encoding="ascii")
    (tmp_path / "ca.crt").write_bytes(control_plane.authority.pair.certificate.read_bytes())
    host, _, port = control_plane.server.removeprefix("https://").partition(":")
    return in_cluster({"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}, tmp_path)


def test_both_sides_use_the_same_names() -> None:
    assert f"{names.GROUP}/{names.VERSION}" == agent_api.API_VERSION
    assert (names.MAP_KIND, names.MAP_PLURAL) == (agent_api.KIND, agent_api.PLURAL)
    assert names.AGENT_FIELD_MANAGER == agent_api.FIELD_MANAGER


def test_plans_reach_the_agent_and_its_status_comes_back(rig: Rig, account: Access) -> None:
    desk = Desk()
    rig.agent(account, desk)
    eventually(lambda: rig.view().agent is not None)
    for generation in (1, 2, 3):
        rig.write(generation=generation, owners={0: ("1", None, "2")})
        eventually(lambda generation=generation: rig.applied() == generation)
    assert [one.generation for one in desk.taken] == [1, 2, 3]
    assert desk.taken[-1].owners == {0: ("1", None, "2")}
    assert rig.view().agent_port == 4711
    assert rig.guard.errors() == {}


def test_each_query_of_a_driver_gets_its_own_from_one_map(rig: Rig, account: Access) -> None:
    desk = Desk()
    rig.agent(account, desk)
    eventually(lambda: rig.view().agent is not None)
    plan = [
        Assignment(generation=1, application_id="app-1", query_id=name, executors_target=2, owners={0: owners})
        for name, owners in (("clicks", ("1", "2")), ("orders", ("2",)))
    ]
    eventually(lambda: rig.written(*plan))
    eventually(lambda: len(desk.taken) == 2)
    assert desk.taken == plan
    assert rig.view().plan() == tuple(plan)


def test_the_account_sees_its_own_map_alone_and_writes_its_status_alone(
    rig: Rig, control_plane: ControlPlane, kubectl: Kubectl
) -> None:
    token = kubectl("create", "token", "orders-driver").strip()
    driver = Kubectl(program(), control_plane.kubeconfig_for("driver", token), rig.namespace)
    other = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "PartitionMap", "metadata": {"name": "payments"}}
    kubectl.apply({**other, "spec": {}})
    assert driver.run("get", "partitionmap", "orders").returncode == 0
    forbidden = [
        ("get", "partitionmap", "payments"),
        ("get", "partitionmaps"),
        ("patch", "partitionmap", "orders", "--type=merge", "-p", '{"spec":{"generation":9}}'),
        ("patch", "partitionmap", "payments", "--subresource=status", "--type=merge", "-p", '{"status":{}}'),
        ("delete", "partitionmap", "orders"),
        ("get", "streamjobs"),
        ("get", "secrets"),
        ("create", "token", "orders-driver"),
    ]
    for arguments in forbidden:
        assert "forbidden" in driver.run(*arguments).stderr.lower(), arguments


def test_a_kubeconfig_will_do_outside_a_pod(rig: Rig, api_server: Path) -> None:
    rig.agent(from_kubeconfig(str(api_server)), Desk())
    rig.write()
    eventually(lambda: rig.applied() == 1)


def test_a_plan_for_another_driver_is_refused_and_told_until_a_new_one_comes(rig: Rig, account: Access) -> None:
    rig.write(application_id="app-0")
    rig.agent(account, Desk())
    eventually(lambda: rig.view().agent is not None and rig.view().agent.refused == "StaleApplication: for app-0")
    rig.write(generation=2)
    eventually(lambda: rig.applied() == 2)
    agent = rig.view().agent
    assert agent is not None
    assert agent.refused is None


def test_a_new_driver_takes_the_map_as_a_hint(rig: Rig, account: Access, tmp_path: Path) -> None:
    rig.write(application_id="app-0", owners={0: ("7", "7", "9")}, next_start={0: (2, 1, 1)})
    memory = tmp_path / "memory"
    rig.agent(account, Desk("app-1"), memory)
    found = eventually(lambda: AssignmentMemory(str(memory)).load("q"))
    assert found.owners == {0: ("7", "7", "9")}
    assert hinted_owners(found) == {0: ("2", "1", "1")}


def test_a_map_made_anew_is_followed(rig: Rig, account: Access, kubectl: Kubectl) -> None:
    rig.agent(account, Desk())
    rig.write(generation=5)
    eventually(lambda: rig.applied() == 5)
    kubectl("delete", "partitionmap", "orders")
    rig.support()
    rig.write(generation=6)
    eventually(lambda: rig.applied() == 6)


def test_the_operators_fields_and_the_agents_stay_apart(rig: Rig, account: Access) -> None:
    rig.agent(account, Desk())
    rig.write()
    eventually(lambda: rig.applied() == 1)
    rig.write(generation=2)
    assert rig.view().agent is not None  # the operator's write has left the status alone
    eventually(lambda: rig.applied() == 2)
    assert rig.view().spec["generation"] == 2


SICK: dict[str, Callable[[], list[Rule]]] = {
    "conflicts": lambda: [Rule(method="PATCH", path=MAP, status=409, times=3)],
    "too many requests": lambda: [Rule(path=MAP, status=429, retry_after_s=0, times=3)],
    "errors": lambda: [Rule(path=MAP, status=500, times=4)],
    "done and not told": lambda: [Rule(method="PATCH", path=MAP, status=500, after=True, times=2)],
    "silence": lambda: [Rule(path=MAP, hang_s=0.3, times=3)],
    "watches cut": lambda: [Rule(watch=True, cut_after_s=0.2)],
    "versions too old": lambda: [Rule(watch=True, status=410, times=5)],
    "no watch ever": lambda: [Rule(watch=True, status=403)],
}


@pytest.mark.parametrize("name", sorted(SICK))
def test_a_sick_api_server_delays_plans_and_does_no_more(rig: Rig, control_plane: ControlPlane, name: str) -> None:
    desk = Desk()
    with FaultProxy(control_plane) as proxy:
        rules = [proxy.add(rule) for rule in SICK[name]()]
        rig.agent(from_kubeconfig(str(proxy.kubeconfig)), desk)
        for generation in (1, 2):
            rig.write(generation=generation)
            eventually(lambda generation=generation: rig.applied() == generation, timeout_s=60)
        eventually(lambda: all(rule.applied for rule in rules))
        rig.clients[-1].stop()
    assert [one.generation for one in desk.taken] == [1, 2]  # each once


def test_an_api_server_that_is_away_for_a_while_is_come_back_to(rig: Rig, control_plane: ControlPlane) -> None:
    desk = Desk()
    with FaultProxy(control_plane) as proxy:
        rig.agent(from_kubeconfig(str(proxy.kubeconfig)), desk)
        rig.write(generation=1)
        eventually(lambda: rig.applied() == 1)
        with proxy.faulty(Rule(path=MAP, status=503)):
            desk.message = "There is something to tell."  # at rest it would be half a minute before it noticed
            eventually(lambda: sum(rig.guard.errors().values()) >= 3)
            assert desk.taken[-1].generation == 1  # the last plan stays in force
        rig.write(generation=2)
        eventually(lambda: rig.applied() == 2, timeout_s=60)
        rig.clients[-1].stop()


def test_a_version_that_etcd_has_forgotten_is_gone_and_survived(rig: Rig, account: Access) -> None:
    api = HttpMapApi(lambda: account, rig.namespace, "orders")
    with pytest.raises(ApiFailure) as caught:
        list(api.watch("1"))
    assert caught.value.code == agent_api.GONE


def test_a_hundred_thousand_key_groups_pass_through_etcd(rig: Rig, account: Access) -> None:
    """Worst case: owners, order and costs of every key group at random, on a thousand executors."""
    chance = random.Random(3)
    keys = [GroupKey(operator=operator, partition=partition) for operator in (0, 1) for partition in range(50_000)]

    def owners() -> dict[int, tuple[str, ...]]:
        return {operator: tuple(str(chance.randrange(1000)) for _ in range(50_000)) for operator in (0, 1)}

    desk = Desk()
    executors = tuple(
        ExecutorStatus(executor_id=str(one), host=f"10.0.{one // 250}.{one % 250}", cores=4, state="ready", groups=100)
        for one in range(1000)
    )
    query = QueryStatus(query_id="q", run_id="r", name=None, batch_id=1, owners=owners())
    desk.large = dataclasses.replace(desk.status(), executors=executors, queries=(query,))
    rig.agent(account, desk)
    wanted = owners()
    order = tuple(chance.sample(keys, len(keys)))
    costs = {key: float(f"{chance.uniform(0, 10):.3g}") for key in keys}
    rig.write(owners=wanted, move_order=order, move_cost_s=costs)
    eventually(lambda: rig.applied() == 1, timeout_s=90)
    assert desk.taken[-1].owners == wanted
    assert (desk.taken[-1].move_order, desk.taken[-1].move_cost_s) == (order, costs)
    agent = rig.view().agent
    assert agent is not None
    assert agent.queries[0].owners == query.owners
    whole = HttpMapApi(lambda: account, rig.namespace, "orders").read()
    assert len(json.dumps(whole, separators=(",", ":"))) < 0.8 * 1.5 * 2**20


def test_the_report_of_a_newer_agent_is_taken_and_read(rig: Rig, api_server: Path) -> None:
    """Server-side apply refuses a field that the definition does not know; an agent's image is the user's to choose."""
    later = {"applicationId": "app-9", "nowSeconds": 1.0, "agentVersion": "9", "sparkVersion": "9", "actuation": "on"}
    later |= {"reason": "Ok", "message": "", "selfTest": {}, "ofTheNextVersion": {"deep": [1]}}
    later |= {"executors": [{"id": "0", "host": "h", "cores": 1, "state": "ready", "groups": 1, "numaNode": 3}]}
    later |= {"queries": [{"queryId": "q", "runId": "r", "owners": {}, "movesPending": 0, "watermark": "x"}]}
    address = {"name": "orders", "namespace": rig.namespace}
    newer = KubeApi.from_kubeconfig(api_server, manager="streamjob-agent")
    newer.apply(PARTITION_MAPS, {"metadata": address, "status": later}, subresource="status")
    agent = rig.view().agent
    assert agent is not None
    assert (agent.application_id, agent.executors[0].executor_id) == ("app-9", "0")
