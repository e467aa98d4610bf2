"""What says less than what was there before can be written: server-side apply makes null of an emptied object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bare_status import bare_status
from kubectl import Kubectl

from streamjob_agent.kube.access import from_kubeconfig
from streamjob_agent.kube.api import HttpMapApi
from streamjob_agent.map_form import status_to_map
from streamjob_agent.wire import AgentStatus, Assignment, ExecutorStatus, GroupKey, QueryStatus
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.job.writing import write_status
from streamjob_operator.kube.models.driver import DriverStatus
from streamjob_operator.kube.models.status import Handled, Status
from streamjob_operator.kube.partition_map.maps import Maps

JOB: dict[str, Any] = {
    "apiVersion": "streamjob.dev/v1alpha1",
    "kind": "StreamJob",
    "metadata": {"name": "orders"},
    "spec": {
        "applicationRef": {"kind": "Pod", "apiVersion": "v1", "name": "driver"},
        "executors": {"min": 1, "max": 4},
    },
}


class Written:
    """The job, as it is on the API server."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self.api = KubeApi.from_kubeconfig(kubeconfig)
        self.namespace = namespace

    def job(self) -> dict[str, Any]:
        found = self.api.get(STREAM_JOBS, "orders", self.namespace)
        assert found is not None
        return found


@pytest.fixture
def written(api_server: Path, namespace: str, kubectl: Kubectl) -> Written:
    kubectl.apply(JOB)
    return Written(api_server, namespace)


def test_of_a_job_whose_driver_is_gone(written: Written) -> None:
    uid = written.job()["metadata"]["uid"]
    full = Status(
        uid=uid,
        driver=DriverStatus(pod="driver", application_id="app-1"),
        handled=Handled(stop="1"),
    )
    write_status(written.api, written.job(), full)
    write_status(written.api, written.job(), Status(uid=uid, driver=DriverStatus(), handled=Handled()))
    assert written.job()["status"].keys() & {"driver", "handled"} == set()


def test_of_a_plan_that_moves_nothing(written: Written) -> None:
    maps = Maps(written.api, written.job())
    moves = Assignment(
        generation=1,
        application_id="app-1",
        query_id="q",
        owners={0: ("1", "2")},
        arrivals={0: (None, 1)},
        next_start={0: (1, None)},
        move_order=(GroupKey(operator=0, partition=1),),
    )
    maps.write([moves], maps.ensure())
    maps.write([Assignment(generation=2, application_id="app-1", query_id="q", executors_target=3)], maps.ensure())
    (plan,) = maps.ensure().readable_plan()
    assert (plan.generation, plan.owners, plan.executors_target) == (2, {}, 3)


def test_of_an_agent_that_has_just_begun(written: Written, api_server: Path) -> None:
    Maps(written.api, written.job()).ensure()
    api = HttpMapApi(lambda: from_kubeconfig(str(api_server)), written.namespace, "orders")
    bare = bare_status(
        agent_version="1",
        spark_version="4.3.0",
        application_id="app-1",
        now_s=1.0,
        actuation="off",
        reason="Starting",
        queries=(query({}),),
    )
    full = {
        "executors": (ExecutorStatus(executor_id="1", host="h", cores=1, state="ready", groups=2),),
        "queries": (query({0: ("1", "1")}),),
        "self_test": {"version": "ok"},
    }
    api.write_status(status_to_map(AgentStatus(**{**{one: getattr(bare, one) for one in bare.__slots__}, **full})))
    status = api.write_status(status_to_map(bare))["status"]
    assert (status["reason"], status["queries"][0]["queryId"]) == ("Starting", "q")


def query(owners: dict[int, tuple[str, ...]]) -> QueryStatus:
    return QueryStatus(
        query_id="q", run_id="r", name=None, batch_id=1, owners=owners, moves_pending=0, moves_done=0, moves_failed=0
    )
