"""Many drivers on paper in one process: pages for Prometheus, and a PartitionMap's status for each.

Counters grow with the time, so that a page costs little; an assignment is obeyed at once. Loads of some jobs change now
and then, so that the operator has plans to make.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_agent.map_form import assignment_from_spec, status_to_map
from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS
from streamjob_operator.ports import Unavailable

HEARTBEAT_S = 10.0
BATCH_S = 5.0
CORES = 2
MEAN_LOAD = 0.55
"""Busy share of all task slots."""


class SyntheticJob:
    """One query of one operator. `load[k]` is the busy time of group k in each second."""

    def __init__(self, name: str, groups: int, executors: int, rng: np.random.Generator) -> None:
        self.name = name
        self._executors = executors
        self._rng = rng
        self._begun_s = self._at_s = time.time()
        self._lock = threading.Lock()
        self._busy_s = np.zeros(groups)
        self.owners = [str(at % executors) for at in range(groups)]
        self.generation: int | None = None
        self.change()

    def change(self) -> None:
        """Other loads from now on: lognormal, the same in sum."""
        with self._lock:
            self._grow()
            load = self._rng.lognormal(0.0, 0.6, self._busy_s.size)
            self.load = load / load.sum() * MEAN_LOAD * CORES * self._executors

    def _grow(self) -> None:
        now_s = time.time()
        if hasattr(self, "load"):
            self._busy_s += self.load * (now_s - self._at_s)
        self._at_s = now_s

    def page(self) -> str:
        """Its metrics page."""
        with self._lock:
            self._grow()
            busy_s, elapsed_s = self._busy_s.tolist(), self._at_s - self._begun_s
        batches = int(elapsed_s / BATCH_S)
        return "".join(self._lines(busy_s, elapsed_s, batches))

    def _lines(self, busy_s: list[float], elapsed_s: float, batches: int) -> Iterator[str]:
        yield f'{names.AGENT_INFO}{{agent_version="1",spark_version="4",application="{self.name}"}} 1\n'
        yield f'{names.QUERY_INFO}{{query="q",name="",run="run-{self.name}"}} 1\n'
        for at, one in enumerate(busy_s):
            labels = f'{{query="q",operator="0",partition="{at}"}}'
            yield f"{names.GROUP_BUSY_SECONDS}{labels} {one}\n{names.GROUP_CPU_SECONDS}{labels} {one / 2}\n"
            yield f"{names.GROUP_RECORDS}{labels} {round(100 * one)}\n{names.GROUP_STATE_BYTES}{labels} 1000000\n"
        for name, value in (
            (names.QUERY_BATCHES, batches),
            (names.QUERY_BATCH_SECONDS, batches * BATCH_S * 0.6),
            (names.QUERY_INPUT_ROWS, round(1000 * elapsed_s)),
            (names.QUERY_OTHER_BUSY_SECONDS, 0.0),
            (names.QUERY_LAST_BATCH_SECONDS, BATCH_S * 0.6),
            (names.QUERY_TRIGGER_SECONDS, BATCH_S),
        ):
            yield f'{name}{{query="q"}} {value}\n'

    def status(self) -> AgentStatus:
        """What its agent would say."""
        held = {str(at): 0 for at in range(self._executors)}
        for owner in self.owners:
            held[owner] += 1
        executors = tuple(
            ExecutorStatus(executor_id=one, host=f"10.0.0.{one}", cores=CORES, state="ready", groups=count)
            for one, count in held.items()
        )
        query = QueryStatus(
            query_id="q", run_id=f"run-{self.name}", name=None, batch_id=None, owners={0: tuple(self.owners)}
        )
        return AgentStatus(
            agent_version="1",
            spark_version="4",
            application_id=self.name,
            now_s=time.time(),
            actuation="on",
            reason="Ok",
            message="",
            generation_applied=self.generation,
            refused=None,
            executors=executors,
            queries=(query,),
        )

    def obey(self, spec: dict[str, Any]) -> bool:
        """Take a newer assignment over at once; whether there was one."""
        if not spec.get("generation") or spec["generation"] == self.generation:
            return False
        assignment = assignment_from_spec(spec)
        for at, owner in enumerate(assignment.owners.get(0, ())):
            self.owners[at] = owner or self.owners[at]
        self.generation = assignment.generation
        return True


class SyntheticFleet:
    """Serves all pages, and writes all statuses every ten seconds. A context manager."""

    def __init__(self, api: KubeApi, namespace: str, jobs: list[SyntheticJob]) -> None:
        self._api = api
        self._namespace = namespace
        self._jobs = jobs
        self._stop = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"jobs": jobs}))
        self._http.daemon_threads = True
        self.address = f"127.0.0.1:{self._http.server_address[1]}"
        self._threads = [
            threading.Thread(target=self._http.serve_forever, daemon=True),
            threading.Thread(target=self._beat, daemon=True),
        ]

    def __enter__(self) -> SyntheticFleet:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()
        for thread in self._threads:
            thread.join(20.0)

    def _beat(self) -> None:
        with ThreadPoolExecutor(4) as pool:
            while not self._stop.is_set():
                begun_s = time.monotonic()
                list(pool.map(self._report, self._jobs))
                self._stop.wait(max(0.0, HEARTBEAT_S - (time.monotonic() - begun_s)))

    def _report(self, job: SyntheticJob) -> None:
        if self._stop.is_set():
            return
        try:
            while job.obey(self._write(job).get("spec") or {}):
                pass  # what was taken over is told at once
        except Unavailable:
            return  # before the map is made, and when the API server is busy: the next heartbeat

    def _write(self, job: SyntheticJob) -> dict[str, Any]:
        metadata = {"name": job.name, "namespace": self._namespace}
        if self._api.get(PARTITION_MAPS, job.name, self._namespace) is None:
            return {}
        document = {"metadata": metadata, "status": status_to_map(job.status())}
        return self._api.apply(PARTITION_MAPS, document, subresource="status", force=True)


class _Handler(BaseHTTPRequestHandler):
    jobs: list[SyntheticJob]

    def do_GET(self) -> None:
        body = self.jobs[int(self.path.strip("/"))].page().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""
