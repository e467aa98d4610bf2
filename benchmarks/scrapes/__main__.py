"""What the scrape interval of Prometheus costs: seconds until a batch and a shift of the load are in the series.

    python -m benchmarks.scrapes                                  # 1, 5 and 15 s beside the agent's own page, 5 minutes
    python -m benchmarks.scrapes --rounds 4                       # the table of docs/benchmarks-operator.md
    python -m benchmarks.scrapes --intervals 5 --jobs 2 --before 60

A real Prometheus scrapes scripted agents (the agent's own ledger and page), each job at all intervals side by side. Its
batches end at times that a seed gives and no scrape knows. After each scrape that found more of them the series is read
by the function that cycles use, until it shows them. The agent's own page is read once a second, as the operator does
it, but without HTTP. When cycles come that an agent's word begins is reckoned from these readings.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.scrapes.course import course
from benchmarks.scrapes.figures import Watched, figures_of
from benchmarks.scrapes.reading import WINDOW_S, AfterScrapes, Job, OwnPage, Reader
from benchmarks.scrapes.table import table
from e2e.cluster import prometheus as program
from e2e.cluster.prometheus import Prometheus, static_target
from e2e.simulated.scripted_agent import Pages

from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.kube.metrics.http import Settings
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics

AFTER, LEAST_AFTER_S = 4.0, 20.0
"""Scrape intervals, the longest, in which a shift is waited for; and at least, so that some batches have it."""
Readers = dict[str, list[Reader]]


def main() -> None:
    """Measure, and print a table."""
    given = _arguments()
    found = program.get()
    if found is None:
        raise SystemExit(program.HOW_TO_GET)
    watched: dict[str, list[Watched]] = {}
    for seed in range(given.seed, given.seed + given.rounds * given.jobs, given.jobs):
        for way, read in _round(found, given, seed).items():
            watched.setdefault(way, []).extend(one.watched() for one in read)
    figures = {way: figures_of(ones) for way, ones in watched.items()}
    print(*table(figures), sep="\n")
    if given.out:
        plain = {way: dataclasses.asdict(one) for way, one in figures.items()}
        given.out.write_text(json.dumps(plain, indent=1) + "\n")


def _round(found: Path, given: argparse.Namespace, seed: int) -> Readers:
    """Jobs of that many seeds, from this one on, until all their batches have ended."""
    after_s = max(LEAST_AFTER_S, AFTER * given.intervals[-1])
    jobs = [Job(f"job-{one}", course(one, given.before, after_s)) for one in range(seed, seed + given.jobs)]
    with contextlib.ExitStack() as stack:
        readers = {"the agent's own page": [stack.enter_context(Reader(job, _own(job))) for job in jobs]}
        readers |= _scraping(stack, found, jobs, given.intervals)
        _play(jobs)
    return readers


def _scraping(stack: contextlib.ExitStack, found: Path, jobs: Sequence[Job], intervals: Sequence[float]) -> Readers:
    """A reader of each job for each interval, until the stack is closed."""
    slots = list(enumerate(itertools.product(intervals, jobs)))
    pages = stack.enter_context(Pages(len(slots)))
    targets = [_target(pages.address, slot, interval_s) for slot, (interval_s, _) in slots]
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    server = stack.enter_context(Prometheus(folder, found, targets))
    readers: Readers = {f"Prometheus, {interval_s:g} s": [] for interval_s in intervals}
    for slot, (interval_s, job) in slots:
        metrics = stack.enter_context(contextlib.closing(_scraped(job, server, slot)))
        reader = stack.enter_context(AfterScrapes(job, metrics))
        pages.show(slot, reader.page)
        readers[f"Prometheus, {interval_s:g} s"].append(reader)
    return readers


def _target(address: str, slot: int, interval_s: float) -> dict[str, Any]:
    """Each is a namespace of its own: the same application is scraped at every interval."""
    every = f"{1000 * interval_s:.0f}ms"
    target = static_target(address, f"slot-{slot}", namespace=f"slot-{slot}")
    return {**target, "metrics_path": f"/{slot}", "scrape_interval": every, "scrape_timeout": every}


def _scraped(job: Job, server: Prometheus, slot: int) -> PrometheusMetrics:
    return PrometheusMetrics(lambda: Settings(url=server.url), job.agent.status, f"slot-{slot}")


def _own(job: Job) -> AgentMetrics:
    return AgentMetrics(OwnPage(job.agent), WINDOW_S)


def _play(jobs: Sequence[Job]) -> None:
    """Until the batches of all jobs have ended."""
    begun_s = time.monotonic()
    batches = ((end_s, at) for at, job in enumerate(jobs) for end_s in job.course.ends_s.tolist())
    for due_s, at in sorted(batches):
        time.sleep(max(0.0, begun_s + due_s - time.monotonic()))
        jobs[at].batch()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intervals", type=_intervals, default=_intervals("1,5,15"), help="seconds, 1,5,15 by default")
    parser.add_argument("--jobs", type=int, default=8, help="scripted agents, each with one shift of its load")
    parser.add_argument("--before", type=float, default=225.0, help="seconds before the shift")
    parser.add_argument("--rounds", type=int, default=1, help="one after the other, of other seeds")
    parser.add_argument("--seed", type=int, default=0, help="of the first job; the others count on from it")
    parser.add_argument("--out", type=Path, help="a JSON file for all figures")
    return parser.parse_args()


def _intervals(text: str) -> list[float]:
    return sorted(map(float, text.split(",")))


if __name__ == "__main__":
    main()
