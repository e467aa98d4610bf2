"""Many drivers on paper in one process: pages for Prometheus, and what each one's agent would report.

Counters grow with the time, so that a page costs little; an assignment is obeyed at once. Loads of some jobs change now
and then, so that the operator has plans to make.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import numpy as np
from e2e.loopback import OnLoopback

from streamjob_agent import metric_names as names
from streamjob_agent.wire import AgentStatus, Assignment, ExecutorStatus, QueryStatus

BATCH_S = 5.0
CORES = 2
MEAN_LOAD = 0.55
"""Busy share of all task slots."""


class SyntheticJob:
    """One query of one operator. `load[k]` is the busy time of group k in each second.

    Towards its PartitionMap it is an agent (`streamjob_agent.kube.client.MapDesk`) that does not listen.
    """

    address: str | None = None

    def __init__(self, name: str, groups: int, executors: int, rng: np.random.Generator) -> None:
        self.name = name
        self.query_id = f"q-{name}"  # each query has an id of its own: for a Prometheus that is a label's value
        self._executors = executors
        self._rng = rng
        self._begun_s = self._at_s = time.time()
        self._lock = threading.Lock()
        self._busy_s = np.zeros(groups)
        self.owners = [str(at % executors) for at in range(groups)]
        self.generation: int | None = None
        self._said = self._says()
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
        yield f'{names.QUERY_INFO}{{query="{self.query_id}",name="",run="run-{self.name}"}} 1\n'
        for at, one in enumerate(busy_s):
            labels = f'{{query="{self.query_id}",operator="0",partition="{at}"}}'
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
            yield f'{name}{{query="{self.query_id}"}} {value}\n'

    def status(self) -> AgentStatus:
        """What its agent would say."""
        return dataclasses.replace(self._said, now_s=time.time())

    def submit(self, assignment: Assignment) -> str | None:
        """Take an assignment over at once; why not."""
        if assignment.application_id != self.name:
            return "StaleApplication: it is for another driver"
        with self._lock:
            for at, owner in enumerate(assignment.owners.get(0, ())):
                self.owners[at] = owner or self.owners[at]
            self.generation = assignment.generation
            self._said = self._says()
        return None

    def _says(self) -> AgentStatus:
        held = dict.fromkeys(map(str, range(self._executors)), 0) | Counter(self.owners)
        executors = tuple(
            ExecutorStatus(executor_id=one, host=f"10.0.0.{one}", cores=CORES, state="ready", groups=count)
            for one, count in held.items()
        )
        owners = {0: tuple(self.owners)}
        query = QueryStatus(query_id=self.query_id, run_id=f"run-{self.name}", name=None, batch_id=None, owners=owners)
        return AgentStatus(
            agent_version="1",
            spark_version="4",
            application_id=self.name,
            now_s=0.0,
            actuation="on",
            reason="Ok",
            message="",
            generation_applied=self.generation,
            refused=None,
            executors=executors,
            queries=(query,),
        )


class Pages(OnLoopback):
    """Serves the pages of all jobs. A context manager."""

    def __init__(self, jobs: list[SyntheticJob]) -> None:
        super().__init__(type("Bound", (_Handler,), {"jobs": jobs}), poll_s=0.5)


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
