"""The agent in a process of its own or installed in this one, for tests that play the controller or start one."""

from __future__ import annotations

import collections
import dataclasses
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import streamjob_agent
from streamjob_agent import notebook, tokens
from streamjob_agent.config import AgentConfig
from streamjob_agent.wire import AgentStatus, Assignment, assignment_to_json, status_from_json
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.cycle import turn
from streamjob_operator.memory import FileMemory
from streamjob_operator.ports import Actuator, Ports
from streamjob_operator.spec import parse_job
from streamjob_operator.standalone.agent_actuator import AgentActuator
from streamjob_operator.values import CycleRecord

JOB = pathlib.Path(__file__).with_name("job.py")
WAIT_S = 240.0
CYCLES_S = 600.0  # a few minutes on a machine that does nothing else: only a test that fails waits for so long


class Driver:
    """The job's process, and what a controller does to its agent. Input files keep coming while it waits."""

    def __init__(self, folder: pathlib.Path, executors: int, job: pathlib.Path = JOB) -> None:
        self.folder = folder
        (folder / "input").mkdir(exist_ok=True)
        for name in ("stop", "address"):
            (folder / name).unlink(missing_ok=True)
        self.files = len(list((folder / "input").iterdir()))
        self.output = (folder / f"output-{executors}").open("w")
        env = {
            **os.environ,
            "STREAMJOB_AGENT_ADDRESS_FILE": str(folder / "address"),
            "STREAMJOB_AGENT_STATE_DIR": str(folder / "state"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [sys.executable, "-m", "streamjob_agent", "run", str(job), str(folder), str(executors)]
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=self.output, stderr=self.output)

    def write(self) -> None:
        """One more input file, whole at once."""
        rows = [(f"k{(i * 7 + self.files) % 50}", i) for i in range(200)]
        self.add("".join(f"{key},{value}\n" for key, value in rows))

    def add(self, text: str) -> None:
        """An input file with this text, whole at once."""
        draft = self.folder / "draft"
        draft.write_text(text)
        draft.rename(self.folder / "input" / f"{self.files:05d}.csv")
        self.files += 1

    def call(self, path: str, body: str | None = None) -> str:
        address = (self.folder / "address").read_text().strip()
        request = urllib.request.Request(
            address + path,
            data=body.encode() if body else None,
            method="PUT" if body else "GET",
            headers={"Authorization": f"Bearer {tokens.find(address)}"} if body else {},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())

    def status(self) -> AgentStatus:
        return status_from_json(self.call("/v1/status"))

    def until(self, what: str, holds: Callable[[AgentStatus], Any], *, feed: bool = True) -> AgentStatus:
        """The first status that `holds`. Input goes on, for a batch needs data to happen, but for `feed=False`."""
        newest: AgentStatus | None = None
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            assert self.process.poll() is None, f"the job has ended; see {self.output.name}"
            if (self.folder / "address").exists():
                newest = self.status()
                if holds(newest):
                    return newest
                started = newest.queries and newest.queries[0].batch_id is not None
                if feed and started and self.behind(newest) < 2:
                    self.write()
            time.sleep(0.2)
        raise AssertionError(f"not within {WAIT_S:.0f} s: {what}; newest status: {newest}")

    def behind(self, status: AgentStatus) -> int:
        return self.files - 1 - (status.queries[0].batch_id or 0)

    def finish(self) -> dict[str, Any]:
        """Stop the job in good order; what it wrote."""
        (self.folder / "stop").touch()
        assert self.process.wait(90) == 0, pathlib.Path(self.output.name).read_text()[-3000:]
        found: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return found

    def expected(self) -> dict[str, list[int]]:
        """Key to [count, sum] over every line written, computed without Spark."""
        totals: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
        for file in (self.folder / "input").iterdir():
            for line in file.read_text().splitlines():
                key, value = line.split(",")
                totals[key] = [totals[key][0] + 1, totals[key][1] + int(value)]
        return totals

    def end(self) -> None:
        """Nothing is left running."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)
        self.output.close()


@pytest.fixture
def drivers(tmp_path: pathlib.Path) -> Iterator[Callable[..., Driver]]:
    started: list[Driver] = []

    def start(executors: int, job: pathlib.Path = JOB) -> Driver:
        started.append(Driver(tmp_path, executors, job))
        return started[-1]

    yield start
    for driver in started:
        driver.end()


class Installed:
    """The agent of this process, as a controller sees it."""

    def __init__(self, address: str, session: Any) -> None:
        self.address = f"http://{address}"
        self.session = session
        self._generation = 0
        self._failed_before = self._failed()

    def status(self) -> AgentStatus:
        with urllib.request.urlopen(self.address + "/v1/status", timeout=10) as answer:
            return status_from_json(answer.read().decode())

    def assign(self, query: Any, **fields: Any) -> None:
        """The next generation for a query; raises HTTPError with the agent's sentence when it is refused."""
        self._generation += 1
        application = self.session.sparkContext.applicationId
        assignment = Assignment(
            generation=self._generation, application_id=application, query_id=query.id, **{"owners": {}, **fields}
        )
        body = assignment_to_json(assignment).encode()
        headers = {"Authorization": f"Bearer {tokens.find(self.address)}"}
        request = urllib.request.Request(self.address + "/v1/assignment", data=body, method="PUT", headers=headers)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:
            error.msg = error.read().decode().strip()
            raise

    def until(
        self, what: str, holds: Callable[[AgentStatus], Any], meanwhile: Callable[[], None] | None = None
    ) -> AgentStatus:
        """The first status that `holds`; `meanwhile` gives the queries something to do."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            newest = self.status()
            if holds(newest):
                return newest
            if meanwhile is not None:
                meanwhile()
            time.sleep(0.2)
        raise AssertionError(f"not within {WAIT_S:.0f} s: {what}; newest status: {newest}")

    def sessions(self) -> int:
        """Sessions whose queries' events are listened to."""
        return self._counter("sessions")

    def boundaries(self) -> int:
        """Batches that began under the agent's eyes: key groups were registered before their first task."""
        return self._counter("batches")

    def _counter(self, name: str) -> int:
        agent = notebook._installed[0]._agent
        assert agent is not None
        return agent._bridge.diagnostics()[1][name]

    def failed_tasks(self) -> int:
        """Tasks that failed since it was installed."""
        return self._failed() - self._failed_before

    def _failed(self) -> int:
        summaries = self.session.sparkContext._jsc.sc().statusStore().executorList(False)
        return sum(summaries.apply(i).failedTasks() for i in range(summaries.size()))


@pytest.fixture
def install(spark_cluster: Any) -> Iterator[Callable[[Any], Installed]]:
    """`streamjob_agent.install`, taken back afterwards."""

    def act(session: Any) -> Installed:
        address = streamjob_agent.install(session, AgentConfig(poll_s=0.2, traffic_min_bytes=16))
        assert address is not None
        return Installed(address, session)

    yield act
    notebook.uninstall()


class Brain:
    """The controller's cycle in this process, on an installed agent; a test says when it turns."""

    def __init__(self, agent: Installed, folder: pathlib.Path, balancing: str, scaling: str) -> None:
        self.job = parse_job(SPEC.format(balancing=balancing, scaling=scaling))
        client = AgentClient(fixed_address(agent.address))
        self.metrics = AgentMetrics(client, self.job.spec.balancing.statistics_period_s, together=True)
        self.records: list[CycleRecord] = []
        self._ports = Ports(
            metrics=self.metrics,
            actuator=AgentActuator(client),
            memory=FileMemory(folder / "memory.json", lambda _: None),
        )

    def act_by(self, actuator: Actuator) -> None:
        """From the next cycle on."""
        self._ports = dataclasses.replace(self._ports, actuator=actuator)

    def turn(self) -> CycleRecord:
        time.sleep(0.3)  # a cycle is a look at the world as it is some time later
        self.records.append(turn(self._ports, self.job, time.time(), np.random.default_rng(7), time.monotonic))
        return self.records[-1]

    def until(self, what: str, holds: Callable[[CycleRecord], Any], meanwhile: Callable[[], None]) -> CycleRecord:
        """The first cycle that `holds`; pages are read between cycles, as the standalone controller does."""
        until = time.monotonic() + CYCLES_S
        while time.monotonic() < until:
            meanwhile()
            self.metrics.scrape()
            record = self.turn()
            if holds(record):
                return record
        told = [(one.verdict.reason.value, one.verdict.message) for one in self.records[-5:]]
        raise AssertionError(f"not within {CYCLES_S:.0f} s: {what}; newest verdicts: {told}")


SPEC = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {{name: brain}}
spec:
  applicationRef: {{kind: Pod, name: elsewhere}}
  executors: {{min: 2, max: 3}}
  balancing: {balancing}
  scaling: {scaling}
"""


@pytest.fixture
def brain(tmp_path: pathlib.Path) -> Callable[..., Brain]:
    """A controller for an installed agent, from its `balancing` and `scaling`."""

    def make(agent: Installed, balancing: str, scaling: str = '{mode: "Off"}') -> Brain:
        return Brain(agent, tmp_path, balancing, scaling)

    return make


@pytest.fixture
def spark_hash() -> Any:
    """The demo's own copy of how Spark spreads keys over partitions."""
    path = pathlib.Path(__file__).parents[3] / "samples" / "demo" / "spark_hash.py"
    spec = importlib.util.spec_from_file_location("spark_hash_of_the_demo", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
