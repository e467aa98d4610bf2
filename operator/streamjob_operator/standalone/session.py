"""One run of `streamjob run`: starts the job, looks after it, and ends all of it, whatever happens."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from streamjob_operator.agent_http.client import address_from, fixed_address
from streamjob_operator.files import trouble
from streamjob_operator.scaling import registry
from streamjob_operator.signals import stop_on_signals
from streamjob_operator.spec import Application, StreamJob
from streamjob_operator.standalone.alone import Taken, alone
from streamjob_operator.standalone.key_groups import KeyGroupChange, Wanted
from streamjob_operator.standalone.launcher import Driver, DriverError, Repartition
from streamjob_operator.standalone.output import Output
from streamjob_operator.standalone.supervisor import Supervisor
from streamjob_operator.terminal import Plain

if TYPE_CHECKING:  # planners' values take a second to import
    from streamjob_operator.ports import Rules

HISTORY, REPORT = "history.jsonl", "report.html"
FIRST_LINES_BYTES = 4096
"""More than facts about the job take, which are written before the first cycle."""


def run_session(
    job: StreamJob,
    path: Path,
    out: Path,
    duration_s: float | None,
    attach: str | None,
    rules: Rules = registry.get,
    *,
    memory_bytes: int | None = None,
    history_bytes: int | None = None,
) -> int:
    """Run until the job ends, the time is over or Ctrl-C; the driver's exit code, 0 when it was stopped by us.

    `path` is the file that says what the job is, and may be edited meanwhile; `rules` gives scaling rules by name.
    `memory_bytes` is what this process may use, the driver and its executors left out; None where nobody has said.
    A history of more than `history_bytes` loses its older half; None keeps all of it.

    Raises DriverError when the job cannot be started.
    """
    console = Plain(file=cast(TextIO, Output(sys.stdout)))

    def tell(sentence: str) -> None:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DriverError(f"--out: {out} given; it cannot be made: {error.strerror}.") from error
    with contextlib.ExitStack() as stack:
        _enter_alone(stack, out)
        driver = None if attach else _driver(job.spec.application, out)
        _writable(out / HISTORY)
        stack.callback(_report, out, tell)
        stop = stack.enter_context(stop_on_signals())
        supervisor, wanted = None, Wanted(job, tell if driver is not None else _nothing)
        if driver is not None and job.spec.application is not None:
            application = job.spec.application
            change = KeyGroupChange(driver, Repartition(application, out), wanted, out, tell)
            supervisor = stack.enter_context(_supervised(driver, change, application, tell))
        # The loop with its planners takes seconds to import, in which the driver starts already.
        from streamjob_operator.standalone.looking_after import LookingAfter

        LookingAfter(
            job=job,
            path=path,
            out=out,
            history=out / HISTORY,
            history_bytes=history_bytes,
            address=fixed_address(attach or "") if driver is None else address_from(driver.address_file),
            console=console,
            tell=tell,
            rules=rules,
            wanted=wanted,
            memory_bytes=memory_bytes,
        ).run(_watch(supervisor), stop, duration_s)
        return 0 if supervisor is None else supervisor.ended or 0


def _enter_alone(stack: contextlib.ExitStack, out: Path) -> None:
    """Two controllers of one folder would start the job twice, and write over each other's memory."""
    try:
        stack.enter_context(alone(out, os.getpid()))
    except Taken as error:
        raise DriverError(
            f"--out: {out} given; another `streamjob run` is at work there, process {error}. "
            "End it first, or give another folder."
        ) from error


def _writable(history: Path) -> None:
    """Whether what happens can be kept, before anything is started: there must be room for the first lines, too."""
    try:
        with history.open("ab", buffering=0) as file:
            before, left = file.tell(), FIRST_LINES_BYTES
            try:
                while left > 0:  # a disk that is nearly full takes a part
                    left -= file.write(b"\n" * left)
            finally:
                file.truncate(before)
    except OSError as error:
        raise DriverError(f"--out: {history.parent} given; {history} cannot be written: {error.strerror}.") from error


def _nothing(sentence: str) -> None:
    """Of a driver that somebody else has started nothing is told that only its starter can do."""


def _watch(supervisor: Supervisor | None) -> Callable[[], bool]:
    def watch() -> bool:
        if supervisor is None:
            return False
        supervisor.tick(time.monotonic())
        return supervisor.ended is not None

    return watch


def _driver(application: Application | None, out: Path) -> Driver:
    if application is None:
        raise ValueError("application: nothing to start")
    driver = Driver(application, out)
    driver.check()
    return driver


@contextlib.contextmanager
def _supervised(
    driver: Driver, change: KeyGroupChange, application: Application, tell: Callable[[str], None]
) -> Iterator[Supervisor]:
    tell(f"Starting {application.main_file}; its output goes to {driver.log}.")
    supervisor = Supervisor(driver, application.restart, tell, change.tick)
    try:
        _start(supervisor)
        yield supervisor
    finally:
        if supervisor.ended is None:
            tell("Stopping the job.")
        driver.stop()
        change.stop()


def _start(supervisor: Supervisor) -> None:
    try:
        supervisor.tick(time.monotonic())
    except OSError as error:
        raise DriverError(f"The driver cannot be started: {error}.") from error


def _report(out: Path, tell: Callable[[str], None]) -> None:
    from streamjob_operator.report_html import write_report  # plots take a second to load, at the end is soon enough

    try:
        write_report(out / HISTORY, out / REPORT)
    except OSError as error:
        tell(f"No report could be written: {trouble(out / REPORT, error)}")
        return
    except ValueError as error:
        tell(f"No report could be written: {error}")
        return
    tell(f"Report: {out / REPORT}")
