"""What the C library's arenas add to the operator's memory: many jobs, read by as many threads as it has.

    python -m benchmarks.operator.arenas --jobs 200 --rounds 4

Each job has measurements of its own, all from one Prometheus on paper (paper_cluster.py) by the operator's own code,
and keeps what it keeps between cycles. Resident memory (VmRSS) after each round, once for each setting of
MALLOC_ARENA_MAX, each in a process of its own; CPU is that process's.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.operator.paper_cluster import PaperCluster
from benchmarks.operator.paper_job import PaperJob

from streamjob_operator.kube.metrics.http import Settings
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.kube.metrics.sources import MOST_APART
from streamjob_operator.kube.process.collector import settle
from streamjob_operator.measure.room import Room
from streamjob_operator.ports import Trouble

EXECUTORS, PERIOD_S = 10, 60.0
SETTINGS = ("", "1", "2", "4")
ARENAS = "MALLOC_ARENA_MAX"


class Jobs:
    """So many jobs with the same driver; a round observes each once."""

    def __init__(self, cluster: PaperCluster, now_s: float, options: argparse.Namespace) -> None:
        self._cluster = cluster
        self._now_s = now_s
        apart = threading.BoundedSemaphore(options.apart)
        room, settings = Room(), Settings(url=f"{cluster.address}/prometheus", timeout_s=120.0)
        status = PaperJob("job-0", options.groups, EXECUTORS, now_s).status()
        self._sources = [
            PrometheusMetrics(lambda: settings, lambda: status, "default", lambda: self._now_s, room=room, apart=apart)
            for _ in range(options.jobs)
        ]

    def passes(self) -> None:
        """A statistics period."""
        self._now_s += PERIOD_S
        self._cluster.at(self._now_s)

    def round(self, threads: ThreadPoolExecutor) -> int:
        """All jobs, by these threads; how many were measured."""
        return sum(threads.map(self._observe, self._sources))

    def _observe(self, source: PrometheusMetrics) -> bool:
        try:
            source.observe(self._now_s, PERIOD_S)
        except Trouble as error:
            print(error, file=sys.stderr)
            return False
        return True


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """In this process."""
    now_s = float(round(time.time()))
    with PaperCluster(options.groups, EXECUTORS, now_s) as cluster, ThreadPoolExecutor(options.threads) as threads:
        jobs = Jobs(cluster, now_s, options)
        settle()
        empty_mib, resident_mib, measured = _resident_mib(), [], []
        begun_s = time.process_time()
        for _ in range(options.rounds):
            jobs.passes()
            measured.append(jobs.round(threads))
            resident_mib.append(_resident_mib())
        cpu_s = round(time.process_time() - begun_s, 1)
    return {"empty_mib": empty_mib, "resident_mib": resident_mib, "measured": measured, "cpu_s": cpu_s}


def _resident_mib() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024


def main() -> int:
    """Each setting in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--threads", type=int, default=24, help="16 for cycles and 8 for looks, as the operator has")
    parser.add_argument("--apart", type=int, default=MOST_APART, help="answers that are taken apart at once")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--here", action="store_true")
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options)))
        return 0
    sizes = [f"--{name}={getattr(options, name)}" for name in ("jobs", "groups", "threads", "apart", "rounds")]
    run = functools.partial(subprocess.run, check=True, stdout=subprocess.PIPE)
    for setting in SETTINGS:
        environment = {**os.environ, ARENAS: setting} if setting else os.environ
        found = run([sys.executable, "-m", "benchmarks.operator.arenas", "--here", *sizes], env=environment).stdout
        print(f"{ARENAS}={setting or '(unset)'}", found.decode().strip(), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
