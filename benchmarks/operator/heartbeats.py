"""CPU of a real API server and its etcd for one heartbeat of an agent, by the way it is written.

    STREAMJOB_KUBE=... python -m benchmarks.operator.heartbeats --maps 200 --rounds 5

A PartitionMap for each job of 200 key groups on ten executors; each way writes all of them in turn, again and again,
and what both processes need while nobody writes is taken off. Ways take turns, and the least of their rounds counts: a
busy machine only ever adds. `whole` is all of the status, `changed` what a heartbeat changes of it; `as agents do it`
is the agent's own code, with as many connections as there are maps, which it keeps.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.client
import itertools
import json
import os
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from benchmarks.operator.synthetic import SyntheticJob
from e2e.cluster import binary
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.kubectl import ESTABLISHED, Kubectl

from streamjob_agent.kube.access import Access, from_kubeconfig
from streamjob_agent.kube.api import HttpMapApi
from streamjob_agent.map_form import assignment_to_spec, status_to_map
from streamjob_agent.wire import Assignment
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE, GROUPS, EXECUTORS = "default", 200, 10
FOLDER = f"/apis/{PARTITION_MAPS.api_version}/namespaces/{NAMESPACE}/{PARTITION_MAPS.plural}"
IDLE_S = 10.0
APPLY, MERGE, JSON_PATCH = (
    "application/apply-patch+yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
)
Beat = Callable[["Client", str, dict[str, Any], float], None]


class Client:
    """Requests one after the other, on one connection or on one each."""

    def __init__(self, access: Access, *, keep: bool) -> None:
        self._at, self._context, self._keep = urlsplit(access.server), access.context, keep
        self._connection: http.client.HTTPSConnection | None = None

    def ask(self, method: str, path: str, kind: str, body: object) -> None:
        """Raises RuntimeError for any answer but success."""
        connection = self._connected()
        connection.request(
            method, path, json.dumps(body).encode(), {"Content-Type": kind, "Accept": "application/json"}
        )
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        if not self._keep:
            self.close()

    def close(self) -> None:
        """The next request has a connection of its own."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> http.client.HTTPSConnection:
        if self._connection is None:
            context = self._context or ssl.create_default_context()
            host, port = self._at.hostname or "", self._at.port
            self._connection = http.client.HTTPSConnection(host, port, context=context, timeout=30.0)
        return self._connection


def applied(client: Client, name: str, status: dict[str, Any], now_s: float) -> None:
    """Server-side apply of the whole status."""
    fields = {"apiVersion": PARTITION_MAPS.api_version, "kind": PARTITION_MAPS.kind, "metadata": {"name": name}}
    path = f"{FOLDER}/{name}/status?fieldManager=streamjob-agent&force=true"
    client.ask("PATCH", path, APPLY, {**fields, "status": {**status, "nowSeconds": now_s}})


def merged(client: Client, name: str, status: Mapping[str, Any], now_s: float) -> None:
    """A merge patch of these fields of the status."""
    path = f"{FOLDER}/{name}/status?fieldManager=streamjob-agent"
    client.ask("PATCH", path, MERGE, {"status": {**status, "nowSeconds": now_s}})


def replaced(client: Client, name: str, _: dict[str, Any], now_s: float) -> None:
    """A JSON patch of the time alone."""
    path = f"{FOLDER}/{name}/status?fieldManager=streamjob-agent"
    client.ask("PATCH", path, JSON_PATCH, [{"op": "replace", "path": "/status/nowSeconds", "value": now_s}])


def read(client: Client, name: str, _: dict[str, Any], now_s: float) -> None:
    """No write at all: what a request costs anyway."""
    client.ask("GET", f"{FOLDER}/{name}", MERGE, None)


def reported(agents: Mapping[str, HttpMapApi], _: Client, name: str, status: dict[str, Any], now_s: float) -> None:
    """By the agent's own code."""
    agents[name].write_status({**status, "nowSeconds": now_s})


def changed(status: dict[str, Any]) -> dict[str, Any]:
    """What a batch more changes: the queries, in one list."""
    return {"queries": status["queries"], "errorsTotal": 0}


WAYS: dict[str, tuple[bool, Beat]] = {
    "server-side apply, whole": (True, applied),
    "server-side apply, whole, a connection each": (False, applied),
    "merge patch, whole": (True, merged),
    "merge patch, changed": (True, lambda client, name, status, now_s: merged(client, name, changed(status), now_s)),
    "merge patch, changed, a connection each": (
        False,
        lambda client, name, status, now_s: merged(client, name, changed(status), now_s),
    ),
    "merge patch, the time alone": (True, lambda client, name, _, now_s: merged(client, name, {}, now_s)),
    "JSON patch, the time alone": (True, replaced),
    "a read, for comparison": (True, read),
}


def measure(plane: ControlPlane, maps: int, rounds: int) -> dict[str, Any]:
    """CPU milliseconds of one heartbeat by way: API server, etcd."""
    api, access = KubeApi.from_kubeconfig(plane.kubeconfig), from_kubeconfig(str(plane.kubeconfig))
    statuses = dict(_made(api, at) for at in range(maps))
    first = Client(access, keep=True)
    for name, status in statuses.items():
        applied(first, name, status, time.time())
    first.close()
    agents = {name: HttpMapApi(lambda: access, NAMESPACE, name) for name in statuses}
    ways = {**WAYS, "as agents do it": (True, functools.partial(reported, agents))}
    idle = _idle(plane)
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _, (way, (keep, beat)) in itertools.product(range(rounds), ways.items()):
        client = Client(access, keep=keep)
        begun, begun_s = _cpu_s(plane), time.monotonic()
        for name, status in statuses.items():
            beat(client, name, status, time.time())
        took_s = time.monotonic() - begun_s
        spent = _cpu_s(plane) - begun - idle * took_s
        client.close()
        found[way].append(tuple((1000 * spent / maps).tolist()))
    kept = {way: np.array(one) for way, one in found.items()}
    return {
        way: {
            "API server, ms": round(float(one[:, 0].min()), 2),
            "API server, mean, ms": round(float(one[:, 0].mean()), 2),
            "etcd, ms": round(float(one[:, 1].mean()), 2),
        }
        for way, one in kept.items()
    }


def _made(api: KubeApi, at: int) -> tuple[str, dict[str, Any]]:
    """A map with a plan in it, and what its agent reports."""
    job = SyntheticJob(f"job-{at}", GROUPS, EXECUTORS, np.random.default_rng(at))
    assignment = Assignment(
        generation=1,
        application_id=job.name,
        query_id=job.query_id,
        owners={0: tuple(job.owners)},
        executors_target=EXECUTORS,
    )
    metadata = {"name": job.name, "namespace": NAMESPACE}
    api.create(
        PARTITION_MAPS,
        {
            "apiVersion": PARTITION_MAPS.api_version,
            "kind": PARTITION_MAPS.kind,
            "metadata": metadata,
            "spec": assignment_to_spec(assignment),
        },
    )
    return job.name, status_to_map(job.status())


def _idle(plane: ControlPlane) -> np.ndarray[Any, np.dtype[np.float64]]:
    begun = _cpu_s(plane)
    time.sleep(IDLE_S)
    return (_cpu_s(plane) - begun) / IDLE_S


def _cpu_s(plane: ControlPlane) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of the API server and of etcd, seconds since they began."""
    return np.array([_spent_s(one.pid or 0) for one in (plane.api_server, plane.etcd)])


def _spent_s(pid: int) -> float:
    """Whole ticks of a hundredth: hundreds of heartbeats are seconds."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / float(os.sysconf("SC_CLK_TCK"))


def main() -> int:
    """Start a control plane, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(binary.get()))
        kubectl = Kubectl(plane.kubeconfig)
        for file in sorted((ROOT / "crds").glob("*.yaml")):
            kubectl("apply", "--server-side", f"--filename={file}")
        kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", "--all")
        kubectl.wait_for_account()
        found = measure(plane, options.maps, options.rounds)
    for way, one in found.items():
        print(f"{way:<46} {one}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
