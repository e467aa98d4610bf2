"""The operator on a real API server, with a real Prometheus and a real Spark: `kubectl apply`, and watch.

python samples/operator-demo/demo.py      (from the root of the repository; `make demo-operator` does just that)
"""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "demo"), str(HERE.parents[1])]  # the demo's modules, then e2e

from event_log import read_events  # noqa: E402 - needs the path above
from proof import checked_scans, expected_totals, finished_batches, prove  # noqa: E402
from rich.console import Console  # noqa: E402
from source import Director, Phase, Publisher, Skew  # noqa: E402
from stage import NAME, OUT, Stage, stage  # noqa: E402
from told import Chronicle, Claim, claims  # noqa: E402

WARM_UP = Phase(name="warm-up", at_most_s=60, rows_per_s=60)
NIGHT = Phase(name="night", at_most_s=300, rows_per_s=15, tick_s=4.0)
RUSH_HOUR = Phase(name="rush hour", at_most_s=200, rows_per_s=280)
EVENING = Phase(name="evening", at_most_s=300, rows_per_s=15, tick_s=4.0)
PHASES = (WARM_UP, NIGHT, RUSH_HOUR, EVENING)
WANTED = {NIGHT: (2,), RUSH_HOUR: (3, 4), EVENING: (2,)}
"""Executors on which a phase ends once the job is balanced on them."""
SKEW = Skew(partitions=8, hot_every=4, hot_weight=3.0, depots_per_partition=4, pair_ratio=0.5, repeat_ratio=0.05)
WARM_BATCHES = 3
START_S, CATCH_UP_S = 300.0, 120.0


class DemoError(Exception):
    """The demo could not be carried out; the sentence says why."""


class Teller:
    """Prints with the time since the start; lines of several threads do not mix."""

    def __init__(self) -> None:
        self._console = Console(soft_wrap=True, highlight=False)
        self._begun_s = time.monotonic()
        self._lock = threading.Lock()

    @property
    def elapsed_s(self) -> float:
        """Since the start."""
        return time.monotonic() - self._begun_s

    def __call__(self, text: str, style: str = "") -> None:
        with self._lock:
            for line in text.rstrip("\n").splitlines():
                self._console.print(f"{self.elapsed_s:5.0f} s  {line}", markup=False, style=style)


def main() -> int:
    """The exit code: 0 when every claim holds."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that everything is ended in order
    tell = Teller()
    try:
        found = perform(tell)
    except (DemoError, RuntimeError, ValueError) as error:
        tell(f"The demo failed: {error}", "bold red")
        return 1
    for claim in found:
        tell(f"{'✓' if claim.ok else '✗'} {claim.text}", "green" if claim.ok else "bold red")
    tell(f"Took {tell.elapsed_s:.0f} s. Logs of operator, driver and Prometheus are in {OUT}.")
    return 0 if all(claim.ok for claim in found) else 1


def perform(tell: Teller) -> list[Claim]:
    """Run it all; what can be claimed."""
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "events").mkdir(parents=True)
    tell("Starting etcd, kube-apiserver, kube-controller-manager and Prometheus ...")
    with stage() as running:
        chronicle = Chronicle(running.kubectl, NAME)
        publisher = Publisher(PHASES, SKEW, OUT / "input", _director(chronicle, tell))
        running.operator.start()
        tell("$ kubectl apply -f samples/operator-demo/")
        tell(running.apply_job())
        with _shown(running, tell), _alive(chronicle, publisher):
            running.driver.start()
            complete_s = _play(running, publisher, tell)
            _wait(running, lambda: chronicle.newest.settled(2), 60.0, "the job was balanced on two executors")
            tell_all(running, tell)
            told = running.event_reasons()
        seen, removed = list(chronicle.seen), chronicle.removed
        exit_code = running.stop_operator()
    events, proof = read_events(OUT / "events", until_s=complete_s), prove(OUT / "input", OUT / "totals")
    return claims(seen, removed, told, events, proof, exit_code)


def _play(running: Stage, publisher: Publisher, tell: Teller) -> float:
    """All phases, until every scan was taken in; when that was."""
    _wait(running, (OUT / "totals" / "batch-0.json").exists, START_S, "the first batch was done")
    publisher.begin()
    seconds = sum(phase.at_most_s for phase in PHASES) + 10
    _wait(running, lambda: not publisher.is_alive(), seconds, "all scans were published")
    scans = sum(total.scans for total in expected_totals(OUT / "input")[0].values())
    tell(f"--- all {scans:,} scans are published")
    _wait(running, lambda: checked_scans(OUT / "totals") >= scans, CATCH_UP_S, f"all {scans:,} scans were taken in")
    return time.time()


def _director(chronicle: Chronicle, tell: Teller) -> Director:
    """A phase is over once the job is balanced on the number of executors that its load needs."""

    def started(phase: Phase) -> None:
        tell(f"--- {phase.name}: {phase.rows_per_s} scans/s", "bold")

    def is_over(phase: Phase) -> bool:
        if phase is WARM_UP:
            return len(finished_batches(OUT / "totals")) >= WARM_BATCHES
        return any(chronicle.newest.settled(executors) for executors in WANTED.get(phase, ()))

    return Director(started=started, is_over=is_over)


def _wait(running: Stage, ready: Callable[[], bool], limit_s: float, what: str) -> None:
    """Until `ready()` is true; DemoError when operator or driver end, or the time is over."""
    until_s = time.monotonic() + limit_s
    while not ready():
        if running.operator.pid is None:
            raise DemoError(f"the operator ended before {what}:\n{running.operator.tail()}")
        if running.driver.exit_code() is not None:
            raise DemoError(f"the driver ended before {what}; see {OUT / 'driver.log'}")
        if time.monotonic() > until_s:
            raise DemoError(f"not within {limit_s:g} s: {what}; see {OUT}")
        time.sleep(0.2)


@contextlib.contextmanager
def _alive(chronicle: Chronicle, publisher: Publisher) -> Iterator[None]:
    chronicle.start()
    publisher.start()
    try:
        yield
    finally:
        publisher.stop()
        chronicle.end()


@contextlib.contextmanager
def _shown(running: Stage, tell: Teller) -> Iterator[None]:
    """`kubectl get sj -w` beside everything else."""
    tell(f"$ kubectl get sj {NAME} --watch")
    watch = running.watch()
    reader = threading.Thread(target=_read, args=(watch, tell), daemon=True)
    reader.start()
    try:
        yield
    finally:
        watch.terminate()
        watch.wait(10.0)
        reader.join(10.0)


def _read(watch: subprocess.Popen[str], tell: Teller) -> None:
    before = ""
    for line in watch.stdout or ():
        age = line.rstrip().rpartition(" ")[0]  # the last column is the age: alone it is no news
        if age != before:
            tell(line)
        before = age


def tell_all(running: Stage, tell: Teller) -> None:
    """Conditions and events, as kubectl shows them."""
    condition = "{range .status.conditions[*]}{.type}{'\\t'}{.status}{'\\t'}{.reason}{'\\t'}{.message}{'\\n'}{end}"
    tell("$ kubectl get sj parcels: conditions", "bold")
    for row in running.kubectl("get", "streamjob", NAME, f"--output=jsonpath={condition}").splitlines():
        kind, status, reason, message = row.split("\t")
        tell(f"{kind:<20} {status:<8} {reason:<18} {message}")
    tell("$ kubectl events --for streamjob/parcels", "bold")
    tell(running.kubectl("events", "--for", f"streamjob/{NAME}"))


if __name__ == "__main__":
    raise SystemExit(main())
