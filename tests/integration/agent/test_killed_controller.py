"""A controller that is killed again and again while it drains an executor: the drain goes on where it was, exact."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamjob_agent.wire import AgentStatus

SPEC = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: killed}
spec:
  applicationRef: {kind: Pod, name: elsewhere}
  executors: {min: 2, max: 3, replicas: 2}  # whatever the load of the machine that tests makes of the job's
  balancing:
    mode: Auto
    statisticsPeriod: 2s
    maxLoadDistance: 60
    migrationBudget: {maxMigrations: 1}
  scaling:
    mode: Auto
    targetUtilization: 95
    stabilization: {down: 4s}
"""


class Controller:
    """`streamjob run --attach` as a process that can be killed and started anew on the same folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.spec = folder / "job.yaml"
        self.spec.write_text(SPEC)
        self.log = (folder / "controller.log").open("w")
        self.kills = 0
        # What a test waits for is the drain, not loops that are compiled for the first time.
        subprocess.run([sys.executable, "-m", "streamjob_planners.warm"], check=True)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [pathlib.Path(sys.executable).with_name("streamjob"), "run", self.spec, "--out", self.folder / "out"]
        address = (self.folder / "address").read_text().strip()
        self.process = subprocess.Popen([*command, "--attach", address], stdout=self.log, stderr=self.log)

    def kill(self) -> None:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "controller.log").read_text()[-3000:]
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)
        self.kills += 1

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
        self.log.close()
        print((self.folder / "controller.log").read_text()[-5000:])  # shown with a failure


@pytest.fixture
def controller(tmp_path: pathlib.Path) -> Iterator[Controller]:
    one = Controller(tmp_path)
    yield one
    one.end()


def draining(status: AgentStatus) -> dict[str, int]:
    return {one.executor_id: one.groups for one in status.executors if one.state == "draining"}


def alive(status: AgentStatus) -> int:
    return sum(one.state in ("ready", "draining") for one in status.executors)


@pytest.mark.spark
def test_a_drain_survives_a_controller_that_is_killed_at_each_of_its_steps(
    drivers: Callable[[int], Any], controller: Controller
) -> None:
    driver = drivers(3)
    driver.write()
    driver.until("a first batch", lambda now: now.queries and now.queries[0].batch_id is not None)
    controller.start()
    status = driver.until("an executor is marked", draining)
    [(marked, left)] = draining(status).items()
    while left > 0:
        controller.kill()
        controller.start()
        before = left
        status = driver.until("another key group has left", lambda now, n=before: draining(now).get(marked, 0) < n)
        left = draining(status).get(marked, 0)
    controller.kill()
    controller.start()
    status = driver.until("the empty executor is gone", lambda now: alive(now) == 2)
    assert marked not in {one.executor_id for one in status.executors if one.state in ("ready", "draining")}
    assert controller.kills >= 2
    controller.kill()
    result = driver.finish()
    assert result["failed_tasks"] == 0
    assert result["totals"] == driver.expected()
