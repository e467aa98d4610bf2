"""The demo: publishes scans at a changing rate, lets `streamjob run` look after the job, and proves what came of it.

python samples/demo/demo.py      (from the root of the repository; `make demo` does just that)
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from examine import Times
    from source import Publisher
    from watch import Watch

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path("out/demo")  # as in job.yaml
JOB = OUT / "job.yaml"
START_LIMIT_S, WATCH_LIMIT_S, CATCH_UP_LIMIT_S, STOP_LIMIT_S = 420.0, 300.0, 180.0, 45.0
POLL_S = 0.2
# Modules with planners and plots take seconds to import: functions that need them do so while Spark starts.
AGENT = {"STREAMJOB_AGENT_TRAFFIC_MIN_BYTES": "16"}
"""The demo's batches are so small that no pair of key groups exchanges the kibibyte from which the agent reports it."""


class DemoError(Exception):
    """The demo could not be carried out; the sentence says why."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The running demo: the controller's process, the publisher, and what is seen of both."""

    controller: subprocess.Popen[bytes]
    publisher: Publisher
    watch: Watch

    def wait(self, ready: Callable[[], bool], limit_s: float, what: str) -> None:
        """Until `ready()` is true; DemoError when the controller ends or the time is over."""
        until_s = time.monotonic() + limit_s
        while not ready():
            if self.controller.poll() is not None:
                raise DemoError(
                    f"streamjob ended with {self.controller.returncode} before {what}; see {OUT / 'driver.log'}."
                )
            if time.monotonic() > until_s:
                raise DemoError(f"Not within {limit_s:g} s: {what}; see {OUT / 'driver.log'}.")
            time.sleep(POLL_S)


def main() -> int:
    """The exit code: 0 when every claim holds."""
    console, started_s = Console(soft_wrap=not sys.stdout.isatty()), time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that everything is ended in order
    try:
        times = perform()
        from examine import claims, examine, summarise

        run = examine(times, OUT)
    except (DemoError, ValueError) as error:
        console.print(f"The demo failed: {error}", style="bold red", markup=False)
        return 1
    summarise(run, console)
    console.print(f"Took {time.monotonic() - started_s:.0f} s. Report: {OUT / 'report.html'}", highlight=False)
    failed = [claim.text for claim in claims(run) if not claim.ok]
    if failed:
        console.print(f"The demo failed: {failed[0]}.", style="bold red", markup=False)
    return 1 if failed else 0


def perform() -> Times:
    """Run it all, up to the end of the controller and its driver."""
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "events").mkdir(parents=True)
    write_job(balancing="Recommend", scaling="Recommend")
    with controller() as started, publishing(started) as running:
        return play(running)


def play(running: Stage) -> Times:
    """All phases, until the job has taken in everything."""
    from claims import ENOUGH_BATCHES, watched
    from examine import Times
    from proof import checked_scans, expected_totals
    from watch import PHASES

    first = OUT / "totals" / "batch-0.json"
    running.wait(first.exists, START_LIMIT_S, "the first batch was done")
    running.publisher.begin()
    enough = f"{ENOUGH_BATCHES} batches were watched"
    running.wait(lambda: watched(running.watch.course()), WATCH_LIMIT_S, enough)
    write_job(balancing="Auto", scaling="Recommend")
    seconds = sum(phase.at_most_s for phase in PHASES) + 10
    running.wait(lambda: len(running.watch.phases) > 1, seconds, "the day was over")
    write_job(balancing="Auto", scaling="Auto")
    running.wait(lambda: not running.publisher.is_alive(), seconds, "all scans were published")
    ended_s = time.time()
    scans = sum(total.scans for total in expected_totals(OUT / "input")[0].values())
    all_in = f"all {scans:,} scans had been taken in"
    running.wait(lambda: checked_scans(OUT / "totals") >= scans, CATCH_UP_LIMIT_S, all_in)
    return Times(phases=running.watch.phases, ended_s=ended_s, complete_s=time.time())


def write_job(balancing: str, scaling: str) -> None:
    """Say in the job's file whether StreamJob acts, or only says what it would do; the controller follows at once."""
    draft, text = OUT / "draft.yaml", (HERE / "job.yaml").read_text(encoding="utf-8")
    for part, mode in (("balancing", balancing), ("scaling", scaling)):
        text = text.replace(f"  {part}:\n    mode: Auto", f"  {part}:\n    mode: {mode}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(JOB)


@contextlib.contextmanager
def controller() -> Iterator[subprocess.Popen[bytes]]:
    """`streamjob run`, with the driver that it starts; ended at the end."""
    streamjob = pathlib.Path(sys.executable).with_name("streamjob")
    process = subprocess.Popen([streamjob, "run", JOB, "--out", OUT], env={**os.environ, **AGENT})
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def publishing(process: subprocess.Popen[bytes]) -> Iterator[Stage]:
    """The scans beside the controller; no more of them at the end."""
    from source import Director, Publisher
    from watch import PHASES, SKEW, Watch

    watch = Watch(OUT)
    director = Director(started=watch.started, is_over=watch.is_over)
    publisher = Publisher(PHASES, SKEW, OUT / "input", director)
    publisher.start()
    try:
        yield Stage(controller=process, publisher=publisher, watch=watch)
    finally:
        publisher.stop()


if __name__ == "__main__":
    raise SystemExit(main())
