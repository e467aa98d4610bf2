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

from claims import (
    ENOUGH_BATCHES,
    Course,
    Run,
    batch_figures,
    claims,
    course_figures,
    reasons,
    removed,
    settled,
    watched,
    working,
)
from event_log import read_events
from proof import checked_scans, expected_totals, prove
from rich.console import Console
from source import Director, Phase, Publisher, Skew

from streamjob_operator.history import History, HistoryFile, read_history

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path("out/demo")  # as in job.yaml
JOB = OUT / "job.yaml"
WARM_UP = Phase(name="warm-up", at_most_s=15, rows_per_s=100)
DAY = Phase(name="day", at_most_s=400, rows_per_s=200)
NIGHT = Phase(name="night", at_most_s=180, rows_per_s=15, tick_s=4.0)
RUSH_HOUR = Phase(name="rush hour", at_most_s=240, rows_per_s=280)
PHASES = (WARM_UP, DAY, NIGHT, RUSH_HOUR)
SHOWN: dict[Phase, Callable[[Course], bool]] = {DAY: settled, NIGHT: removed, RUSH_HOUR: working}
SKEW = Skew(partitions=8, hot_every=4, hot_weight=3.0, depots_per_partition=4, pair_ratio=0.5, repeat_ratio=0.05)
START_LIMIT_S, WATCH_LIMIT_S, CATCH_UP_LIMIT_S, STOP_LIMIT_S = 240.0, 240.0, 120.0, 45.0
POLL_S = 0.2
AGENT = {"STREAMJOB_AGENT_TRAFFIC_MIN_BYTES": "16"}
"""The demo's batches are so small that no pair of key groups exchanges the kibibyte from which the agent reports it."""


class DemoError(Exception):
    """The demo could not be carried out; the sentence says why."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When each phase started, when the last one ended, and when the job had taken in everything."""

    phases: dict[str, float]
    ended_s: float
    complete_s: float


class Watch:
    """What the controller's history tells while it grows, and when each phase started."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self._size, self._history = 0, History(cycles=(), notes=())

    def started(self, phase: Phase) -> None:
        """Keep the time."""
        if phase is not WARM_UP:
            self.phases[f"{phase.name}, {phase.rows_per_s} scans/s"] = time.time()
        if not sys.stdout.isatty():  # a live screen is left alone
            print(f"--- {phase.name}: {phase.rows_per_s} scans/s", flush=True)

    def is_over(self, phase: Phase) -> bool:
        """Whether the controller has done what the phase is for."""
        shown = SHOWN.get(phase)
        return shown is not None and shown(self.course())

    def course(self) -> Course:
        """What was done so far; the file is read when there is more of it."""
        path = OUT / "history.jsonl"
        size = path.stat().st_size if path.exists() else 0
        if size != self._size:
            self._size, self._history = size, read_history(path)
        return Course(history=self._history, phases=dict(self.phases), end_s=time.time())


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
        run = examine(perform())
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
    write_job(mode="Recommend")
    with stage() as running:
        first = OUT / "totals" / "batch-0.json"
        running.wait(first.exists, START_LIMIT_S, "the first batch was done")
        running.publisher.begin()
        enough = f"{ENOUGH_BATCHES} batches were watched"
        running.wait(lambda: watched(running.watch.course()), WATCH_LIMIT_S, enough)
        write_job(mode="Auto")
        seconds = sum(phase.at_most_s for phase in PHASES)
        running.wait(lambda: not running.publisher.is_alive(), seconds + 10, "all scans were published")
        ended_s = time.time()
        scans = sum(total.scans for total in expected_totals(OUT / "input")[0].values())
        all_in = f"all {scans:,} scans had been taken in"
        running.wait(lambda: checked_scans(OUT / "totals") >= scans, CATCH_UP_LIMIT_S, all_in)
        return Times(phases=running.watch.phases, ended_s=ended_s, complete_s=time.time())


def write_job(mode: str) -> None:
    """Say in the job's file whether StreamJob acts, or only says what it would do; the controller follows at once."""
    draft, text = OUT / "draft.yaml", (HERE / "job.yaml").read_text(encoding="utf-8")
    draft.write_text(text.replace("mode: Auto", f"mode: {mode}"), encoding="utf-8")
    draft.replace(JOB)


@contextlib.contextmanager
def stage() -> Iterator[Stage]:
    """Controller and publisher, both ended at the end."""
    streamjob = pathlib.Path(sys.executable).with_name("streamjob")
    controller = subprocess.Popen([streamjob, "run", JOB, "--out", OUT], env={**os.environ, **AGENT})
    watch = Watch()
    director = Director(started=watch.started, is_over=watch.is_over)
    running = Stage(controller=controller, publisher=Publisher(PHASES, SKEW, OUT / "input", director), watch=watch)
    running.publisher.start()
    try:
        yield running
    finally:
        running.publisher.stop()
        if controller.poll() is None:
            controller.send_signal(signal.SIGTERM)
        try:
            controller.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            controller.kill()
            controller.wait()


def examine(times: Times) -> Run:
    """Read what everybody recorded, add batches, phases, claims and figures to the history, write the report."""
    from streamjob_operator import report_html  # its plots take a second to load, while Spark starts

    run = Run(
        history=read_history(OUT / "history.jsonl"),
        events=read_events(OUT / "events", until_s=times.complete_s),
        proof=prove(OUT / "input", OUT / "totals"),
        phases=times.phases,
        end_s=times.ended_s,
    )
    history = HistoryFile(OUT / "history.jsonl")
    for batch in run.events.batches:
        history.note(
            report_html.BATCH,
            batch_id=batch.batch_id,
            ended_at_s=batch.ended_at_s,
            duration_s=batch.duration_s,
            rows=batch.rows,
        )
    for name, at_s in times.phases.items():
        history.note(report_html.PHASE, name=name, at_s=at_s)
    for claim in claims(run):
        history.note(report_html.CLAIM, ok=claim.ok, text=claim.text)
    for figure in batch_figures(run):
        history.note(report_html.FIGURE, **dataclasses.asdict(figure))
    report_html.write_report(OUT / "history.jsonl", OUT / "report.html")
    return run


def summarise(run: Run, console: Console) -> None:
    """Claims, figures and reasons on the terminal."""
    console.print()
    for claim in claims(run):
        console.print("[green]✓[/]" if claim.ok else "[red]✗[/]", end=" ")
        console.print(claim.text, markup=False, highlight=False)
    rows = [(figure.name, figure.value, figure.note) for figure in [*batch_figures(run), *course_figures(run)]]
    rows += [
        (f"reason {name}", f"{count} cycles", f"{acted} acted" if acted else "") for name, count, acted in reasons(run)
    ]
    console.print()
    for name, value, note in rows:
        console.print(f"{name:<30} {value:<20} {note}", markup=False, highlight=False)


if __name__ == "__main__":
    raise SystemExit(main())
