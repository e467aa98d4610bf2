"""What happens to a real query wakes `streamjob run`, whose statistics period is never over: no clock does."""

from __future__ import annotations

import collections
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jobs.processes import executor_processes

from streamjob_agent.wire import AgentStatus
from streamjob_operator.events import EventKind
from streamjob_operator.history import read_history
from streamjob_operator.values import CycleRecord

pytestmark = pytest.mark.spark
JOB = pathlib.Path(__file__).with_name("uneven.py")
PARTITIONS, EXECUTORS = 8, 3
USUAL_MS = tuple(150 + 10 * at for at in range(PARTITIONS))
SHIFTED_MS = (9 * USUAL_MS[0], 9 * USUAL_MS[1], *USUAL_MS[2:])
LONGER_MS = tuple(3 * ms for ms in USUAL_MS)
QUIET = 14
"""Batches from which what is usual is known, with some for a driver that gets warm."""
SPEC = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {{name: woken}}
spec:
  applicationRef: {{kind: Pod, name: elsewhere}}
  executors: {{min: {executors}, max: {executors}}}
  balancing: {{mode: Auto, statisticsPeriod: {period}, migrationBudget: {{maxCost: 1h}}}}
  scaling: {{mode: "Off"}}
"""


class Uneven:
    """The job, what its next batches hold, and the controller that looks after it."""

    def __init__(self, driver: Any, keys: list[int]) -> None:
        self.driver, self.keys = driver, keys
        self.ms, self.slow = USUAL_MS, "-"
        self.totals: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
        self.spec, self.out = driver.folder / "job.yaml", driver.folder / "out"

    def look_after(self, period: str) -> None:
        """The spec as a person writes it, whole at once."""
        draft = self.driver.folder / "draft.yaml"
        draft.write_text(SPEC.format(executors=EXECUTORS, period=period))
        draft.rename(self.spec)

    def write(self) -> None:
        """A file of a row for each key, which is one batch."""
        rows = list(zip(self.keys, self.ms, strict=True))
        for key, ms in rows:
            count, total = self.totals[str(key)]
            self.totals[str(key)] = [count + 1, total + ms]
        self.driver.add("".join(f"{key},{ms},{self.slow}\n" for key, ms in rows))

    def until(self, what: str, holds: Callable[[AgentStatus], Any]) -> AgentStatus:
        """The first status that holds, while batches go on."""

        def looked(now: AgentStatus) -> Any:
            if now.queries and self.driver.behind(now) < 1:
                self.write()
            return holds(now)

        found: AgentStatus = self.driver.until(what, looked, feed=False)
        return found

    def batches(self, count: int) -> None:
        """So many more, to their ends."""
        last = self.driver.files + count
        self.until(f"{count} batches", lambda now: (now.queries[0].batch_id or 0) >= last)

    def cycles(self) -> tuple[CycleRecord, ...]:
        path = self.out / "history.jsonl"
        return read_history(path).cycles if path.exists() else ()

    def wakes(self, *kinds: EventKind, known: int, by: Callable[[bool], None] = lambda _: None) -> None:
        """Each of these kinds has woken a cycle beyond those that are `known`.

        `by` makes it happen, and takes it back after QUIET batches, and so on: a change that comes before what is usual
        is known well enough, as on a machine that has other work, is taken for what is usual, and nobody hears of it.
        """
        begun = self.driver.files

        def heard(_: AgentStatus) -> bool:
            by((self.driver.files - begun) // QUIET % 2 == 0)
            return set(kinds) <= {event.kind for one in self.cycles()[known:] for event in one.woken}

        self.until(f"cycles woken by {', '.join(kinds)}", heard)

    def executors(self) -> set[str]:
        return {one.executor_id for one in self.driver.status().executors if one.state == "ready"}


@pytest.fixture
def controller(tmp_path: pathlib.Path) -> Iterator[Callable[[Uneven], None]]:
    """Starts `streamjob run` beside a driver that runs already."""
    begun: list[subprocess.Popen[bytes]] = []
    log = tmp_path / "controller.log"

    def start(work: Uneven) -> None:
        address = (tmp_path / "address").read_text().strip()
        command = [pathlib.Path(sys.executable).with_name("streamjob"), "run", work.spec, "--out", work.out]
        with log.open("w") as file:
            begun.append(subprocess.Popen([*command, "--attach", address], stdout=file, stderr=file))

    yield start
    for one in begun:
        one.kill()
        one.wait(30)
        print(log.read_text()[-3000:])  # shown with a failure


@pytest.fixture
def work(drivers: Callable[..., Any], controller: Callable[[Uneven], None], spark_hash: Any) -> Uneven:
    """A job that is warm and looked after."""
    keys = [next(iter(spark_hash.keys_of(partition, PARTITIONS))) for partition in range(PARTITIONS)]
    one = Uneven(drivers(EXECUTORS, JOB), keys)
    one.look_after("1h")
    one.write()
    one.until("a first batch", lambda now: now.queries and now.queries[0].batch_id is not None)
    controller(one)
    one.until("a cycle", lambda _: one.cycles())
    one.batches(QUIET)
    return one


def test_whatever_happens_wakes_a_cycle(work: Uneven) -> None:
    known = len(work.cycles())
    work.look_after("2h")
    work.wakes(EventKind.SPEC_EDITED, known=known)

    def take(on: bool, ms: tuple[int, ...]) -> None:
        work.ms = ms if on else USUAL_MS

    work.wakes(EventKind.BATCH_OUT_OF_RANGE, known=len(work.cycles()), by=lambda on: take(on, LONGER_MS))
    work.ms = USUAL_MS
    work.batches(QUIET)

    work.wakes(EventKind.LOAD_CHANGED, known=len(work.cycles()), by=lambda on: take(on, SHIFTED_MS))
    work.batches(QUIET)

    first = min(work.executors())

    def slow_down(on: bool) -> None:
        work.slow = first if on else "-"

    work.wakes(EventKind.EXECUTOR_SLOW, known=len(work.cycles()), by=slow_down)
    work.wakes(EventKind.EXECUTOR_WELL, known=len(work.cycles()), by=lambda on: slow_down(not on))

    known, lost = len(work.cycles()), min(work.executors())
    os.kill(executor_processes(work.driver.process.pid)[lost], signal.SIGKILL)
    work.wakes(EventKind.EXECUTOR_GONE, EventKind.EXECUTOR_READY, known=known)
    assert lost not in work.executors()

    assert all(one.woken for one in work.cycles()[1:])  # the clock's is the first alone
    assert work.driver.finish()["totals"] == work.totals
