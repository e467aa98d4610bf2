"""A row's program in a process of its own: its input, its agent as a controller sees it, its executors, its answer."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from jobs.processes import executor_processes

from e2e.compatibility import lines
from e2e.compatibility.lines import CLOSING, Line
from streamjob_agent import tokens
from streamjob_agent.wire import AgentStatus, Assignment, assignment_to_json, status_from_json

ROOT = pathlib.Path(__file__).parents[2]
WAIT_S, POLL_S = 600.0, 0.2  # a few seconds on a machine that does nothing else: only what fails waits for so long
NS_PER_MS = 1_000_000
AHEAD = 2
"""Files that wait to be taken in, at most: batches follow each other, and the end does not take long."""


class NotSeen(Exception):
    """What was waited for did not happen; the sentence says what that was."""


class Running:
    """The process and what a controller does to it. Input keeps coming while anything is waited for."""

    def __init__(self, folder: pathlib.Path, env: Mapping[str, str], program: str, *, agent: bool, feeds: bool) -> None:
        self.folder, self.feeds, self.agent = folder, feeds, agent
        self.written: list[Line] = []
        self.files = 0
        self._newest_ms = 0
        (folder / "input").mkdir(parents=True, exist_ok=True)
        self._output = (folder / "output").open("w")
        module = ["-m", "streamjob_agent", "run", "-m", program]
        self._command = [sys.executable, *(module if agent else module[-2:]), str(folder)]
        self._env = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "STREAMJOB_AGENT_ADDRESS_FILE": str(folder / "address"),
            "STREAMJOB_AGENT_POLL_S": "0.2",
            # However busy the machine is, the agent looks after each batch: what it costs is measured elsewhere.
            "STREAMJOB_AGENT_OVERHEAD_RATIO": "1",
            **env,
            "PYTHONPATH": os.pathsep.join([str(ROOT), env.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]),
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._generation = 0

    def begin(self) -> None:
        """Start the program."""
        self._process = subprocess.Popen(
            self._command, cwd=self.folder, env=self._env, stdout=self._output, stderr=self._output
        )

    def write(self, files: int = 1) -> None:
        """More input, each file whole at once."""
        for _ in range(files):
            self._add(lines.lines(self.files))

    def _add(self, given: tuple[Line, ...]) -> None:
        draft = self.folder / "draft"
        draft.write_text(lines.text(given))
        # Spark reads files in the order of their times, in milliseconds, in which several can be written.
        self._newest_ms = max(time.time_ns() // NS_PER_MS, self._newest_ms + 1)
        os.utime(draft, ns=(self._newest_ms * NS_PER_MS, self._newest_ms * NS_PER_MS))
        draft.rename(self.folder / "input" / f"{self.files:05d}.csv")
        self.files += 1
        self.written += [one for one in given if one not in CLOSING]

    def ended(self) -> bool:
        """Whether the program is over."""
        return self._process is not None and self._process.poll() is not None

    def status(self) -> AgentStatus | None:
        """What the agent tells, None while it does not listen."""
        try:
            address = (self.folder / "address").read_text().strip()
            with urllib.request.urlopen(f"{address}/v1/status", timeout=10) as answer:
                return status_from_json(answer.read().decode())
        except OSError:
            return None

    def page(self) -> str:
        """The agent's page of metrics, empty while there is none."""
        try:
            address = (self.folder / "address").read_text().strip()
            with urllib.request.urlopen(f"{address}/metrics", timeout=60) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    def until(self, what: str, holds: Callable[[AgentStatus], Any]) -> AgentStatus:
        """The first status that `holds`; NotSeen when there is none in time or the program has ended."""
        until_s, newest = time.monotonic() + WAIT_S, None
        while time.monotonic() < until_s:
            if self.ended():
                raise NotSeen(f"the program has ended before {what}: {self.complaint()}")
            newest = self.status()
            if newest is not None and holds(newest):
                return newest
            self.feed(newest)
            time.sleep(POLL_S)
        raise NotSeen(f"not within {WAIT_S:.0f} s: {what}; the agent told: {newest}")

    def feed(self, status: AgentStatus | None) -> None:
        """A file more, unless enough of them wait already. Batches count from 0, and some have no file."""
        batches = [query.batch_id for query in status.queries if query.batch_id is not None] if status else []
        if self.feeds and batches and self.files - 1 - min(batches) < AHEAD:
            self.write()

    def assign(self, status: AgentStatus, query_id: str, **fields: Any) -> None:
        """The next generation for a query. A query may end between the look and the wish: the next look will tell."""
        self._generation += 1
        assignment = Assignment(
            generation=self._generation,
            application_id=status.application_id,
            query_id=query_id,
            **{"owners": {}, **fields},
        )
        address = (self.folder / "address").read_text().strip()
        request = urllib.request.Request(
            f"{address}/v1/assignment",
            data=assignment_to_json(assignment).encode(),
            method="PUT",
            headers={"Authorization": f"Bearer {tokens.find(address)}"},
        )
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:
            raise NotSeen(f"the agent refused an assignment: {error.read().decode()}") from error

    def ask(self, name: str) -> None:
        """Ask the program for something, and wait until it is done."""
        (self.folder / name).touch()
        until_s = time.monotonic() + WAIT_S
        while (self.folder / name).exists():
            if self.ended() or time.monotonic() > until_s:
                raise NotSeen(f"the program did not do {name!r}: {self.complaint()}")
            time.sleep(POLL_S)

    def kill_executor(self, status: AgentStatus, executor_id: str) -> None:
        """SIGKILL its process."""
        process = self.executors(status.application_id).get(executor_id)
        if process is None:
            raise NotSeen(f"no process of executor {executor_id}")
        os.kill(process, signal.SIGKILL)

    def executors(self, application_id: str) -> dict[str, int]:
        """Process ids of the program's executors, by executor id."""
        assert self._process is not None
        # Two drivers that start in the same second give their applications the same name.
        return executor_processes(self._process.pid, application_id)

    def finish(self) -> dict[str, Any]:
        """Close every window, stop the program in good order; what it wrote."""
        if self.feeds:
            self._add(CLOSING)
        (self.folder / "stop").touch()
        assert self._process is not None
        try:
            code = self._process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            raise NotSeen(f"the program did not end within {WAIT_S:.0f} s: {self.complaint()}") from None
        if code != 0:
            raise NotSeen(f"the program ended with {code}: {self.complaint()}")
        return self.read("result.json")

    def read(self, name: str) -> dict[str, Any]:
        """A file that the program wrote."""
        found: dict[str, Any] = json.loads((self.folder / name).read_text())
        return found

    def complaint(self) -> str:
        """The end of what the program printed."""
        self._output.flush()
        return (self.folder / "output").read_text(errors="replace")[-1500:]

    def end(self) -> None:
        """Nothing is left running."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._output.close()
