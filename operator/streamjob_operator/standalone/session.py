"""One run of `streamjob run`: puts the adapters together and takes them apart again, whatever happens."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from streamjob_operator.history import HistoryFile
from streamjob_operator.memory import FileMemory
from streamjob_operator.offline.snapshot_file import SnapshotFile
from streamjob_operator.planning_pool import PlanningPool
from streamjob_operator.ports import Ports
from streamjob_operator.signals import stop_on_signals
from streamjob_operator.spec import Application, StreamJob
from streamjob_operator.standalone.agent_actuator import AgentActuator
from streamjob_operator.standalone.agent_metrics import AgentMetrics
from streamjob_operator.standalone.client import AgentClient, address_from, fixed_address
from streamjob_operator.standalone.launcher import Driver
from streamjob_operator.standalone.runner import Runner
from streamjob_operator.standalone.supervisor import Supervisor
from streamjob_operator.view import LiveView

MEMORY, HISTORY, REPORT = "memory.json", "history.jsonl", "report.html"
SNAPSHOT = "snapshot.json"


def run_session(job: StreamJob, out: Path, duration_s: float | None, attach: str | None) -> int:
    """Run until the job ends, the time is over or Ctrl-C; the driver's exit code, 0 when it was stopped by us.

    Raises DriverError when the job cannot be started.
    """
    console = Console()

    def tell(sentence: str) -> None:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    out.mkdir(parents=True, exist_ok=True)
    driver = None if attach else _driver(job.spec.application, out)
    view = LiveView(job, console)
    with contextlib.ExitStack() as stack:
        stack.callback(_report, out, tell)
        stack.callback(view.close)
        stop = stack.enter_context(stop_on_signals())
        supervisor = None
        if driver is not None and job.spec.application is not None:
            supervisor = stack.enter_context(_supervised(driver, job.spec.application, tell))
        address = fixed_address(attach or "") if driver is None else address_from(driver.address_file)
        client = AgentClient(address, token=os.environ.get("STREAMJOB_AGENT_TOKEN"))
        metrics = stack.enter_context(AgentMetrics(client, job.spec.balancing.statistics_period_s, together=True))
        planning = stack.enter_context(PlanningPool())
        ports = Ports(
            metrics=metrics,
            actuator=AgentActuator(client),
            memory=FileMemory(out / MEMORY, tell),
            reporters=(HistoryFile(out / HISTORY, job), SnapshotFile(out / SNAPSHOT), view),
            planning=planning,
        )
        watch = _watch(supervisor)
        Runner(
            ports=ports, job=job, watch=watch, tell=tell, look=lambda: metrics.seen, duration_s=duration_s, stop=stop
        ).run()
        return 0 if supervisor is None else supervisor.ended or 0


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
def _supervised(driver: Driver, application: Application, tell: Callable[[str], None]) -> Iterator[Supervisor]:
    tell(f"Starting {application.main_file}; its output goes to {driver.log}.")
    supervisor = Supervisor(driver, application.restart, tell)
    try:
        yield supervisor
    finally:
        if supervisor.ended is None:
            tell("Stopping the job.")
        driver.stop()


def _report(out: Path, tell: Callable[[str], None]) -> None:
    from streamjob_operator.report_html import write_report  # plots take a second to load, at the end is soon enough

    try:
        write_report(out / HISTORY, out / REPORT)
    except (OSError, ValueError) as error:
        tell(f"No report could be written: {error}")
        return
    tell(f"Report: {out / REPORT}")
