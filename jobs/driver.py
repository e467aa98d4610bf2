"""A driver in a process of its own that may be killed, as `python -m jobs all` begins it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

from jobs.job import Job
from jobs.processes import DIES_WITH_US, children, executor_processes

ROOT = pathlib.Path(__file__).resolve().parents[1]
END_S = 60.0


class Process:
    """`command` runs what it is given after `--only`; what it prints goes to `log`, after what is there."""

    def __init__(self, command: Sequence[str], log: pathlib.Path) -> None:
        self._command, self._log = command, log
        self._begun: list[subprocess.Popen[bytes]] = []

    def start(self, jobs: Sequence[Job]) -> None:
        """In a group of its own, so that nothing of it is left behind."""
        words = [*self._command, "--only", ",".join(job.name for job in jobs)]
        command = [*DIES_WITH_US, *words]  # the JVM and executors notice by themselves that it is gone
        with self._log.open("ab") as log:
            begun = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        self._begun.append(begun)

    def ended(self) -> str | None:
        """The exit code, and where to read why."""
        code = self._begun[-1].poll()
        return None if code is None else f"exit code {code}, see {self._log}"

    def kill_executor(self, chance: random.Random) -> bool:
        """SIGKILL; False where none is there or it has just ended."""
        found = sorted(executor_processes(self._begun[-1].pid).values())
        return bool(found) and _killed(chance.choice(found))

    def kill(self) -> None:
        """SIGKILL to Python and to the JVM that it began; executors notice by themselves."""
        driver = self._begun[-1]
        jvms = children(driver.pid)
        driver.kill()
        for one in jvms:
            _killed(one)
        driver.wait(END_S)

    def end(self) -> None:
        """Whatever is left of any of them is killed."""
        for one in self._begun:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait(END_S)


@contextlib.contextmanager
def driver(words: Sequence[str], log: pathlib.Path) -> Iterator[Process]:
    """`python -m jobs all` with these words; nothing of it runs on after the block."""
    process = Process([sys.executable, "-m", "jobs", "all", *words], log)
    try:
        yield process
    finally:
        process.end()


def _killed(process: int) -> bool:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
