"""What key groups of real jobs take, batch by batch: jobs of `jobs/` on real executors, measured by the agent.

    python -m benchmarks.record_jobs nexmark-5 clicks-once albic-3 [--batches 52] [--rows 10000]
    python -m benchmarks.record_jobs NAME --history out/NAME/history.jsonl

Each becomes `benchmarks/recorded/NAME.json`, a job of the tournament: milliseconds of each key group in each batch
after the first COLD ones, and what state it holds. No key group moves while a job of `jobs/` is recorded. From a
history the batches of all its cycles are taken together: those of `streamjob run`, or of a run of
`benchmarks/spark/compare.py --keep`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from jobs.registry import find
from jobs.running import start
from jobs.session import local_cluster
from jobs.sources import Files

import streamjob_agent
from streamjob_agent import notebook
from streamjob_agent.config import AgentConfig
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.history import read_history
from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.model import FloatArray

RECORDED = pathlib.Path("benchmarks/recorded")
COLD = 12
"""First batches, in which executors compile."""
KEY_GROUPS = 16
WINDOW_S, POLL_S, LIMIT_S = 3600.0, 0.1, 400.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One batch: its end, and seconds of each key group, (n_groups,)."""

    ended_at_s: float
    busy_s: FloatArray


def recorded(session: Any, name: str, rows: int, batches: int) -> dict[str, Any]:
    """The series of one job; its input is there from the start, one file of each stream a batch."""
    job = find(name)
    address = streamjob_agent.install(session, AgentConfig(poll_s=POLL_S, overhead_ratio=1.0))
    if address is None:
        raise RuntimeError("the agent could not be installed; its log on this process's error output says why.")
    try:
        with tempfile.TemporaryDirectory() as folder:
            read = Files(session, job, pathlib.Path(folder) / "input").publish(0, rows, batches)
            queries = [start(query, read, pathlib.Path(folder) / "run", "0 seconds") for query in job.queries]
            try:
                seen = _measured(address, batches)
            finally:
                for query in queries:
                    query.stop()
    finally:
        notebook.uninstall()
    assert seen.series is not None
    return _told(name, seen, _rows(seen.series))


def of_history(name: str, path: pathlib.Path) -> dict[str, Any]:
    """The series of a job that a controller has looked after; rows that several cycles saw count once."""
    seen = [one.snapshot for one in read_history(path).cycles if one.snapshot is not None]
    groups = seen[-1].group_ids
    rows = {row.ended_at_s: row for one in seen if one.series and one.group_ids == groups for row in _rows(one.series)}
    return _told(name, seen[-1], [rows[at_s] for at_s in sorted(rows)])


def _rows(series: BatchSeries) -> list[Row]:
    """Rows of a single batch."""
    times, busy_s = series.ended_at_s.tolist(), series.busy_s
    return [Row(ended_at_s=times[at], busy_s=busy_s[at]) for at in np.flatnonzero(series.batches == 1).tolist()]


def _measured(address: str, batches: int) -> Snapshot:
    metrics = AgentMetrics(AgentClient(fixed_address(f"http://{address}")), WINDOW_S, together=True)
    until_s = time.monotonic() + LIMIT_S
    while time.monotonic() < until_s:
        metrics.scrape()
        known = metrics.seen.rows
        if known is not None and int(known.series.batches.sum()) >= batches - 1:  # the first one is in no window
            break
        time.sleep(POLL_S)
    return metrics.observe(time.time(), WINDOW_S)


def _told(name: str, seen: Snapshot, rows: Sequence[Row]) -> dict[str, Any]:
    model = estimate(seen, Memory()).model
    assert model.batch is not None
    return {
        "job": name,
        "executors": model.n_nodes,
        "operator": [one.operator for one in model.group_ids],
        "level": model.batch.level.tolist(),
        "state_bytes": [round(one) for one in model.state_bytes.tolist()],
        "busy_ms": [[round(1000 * one) for one in row.busy_s.tolist()] for row in rows[COLD:]],
    }


def main() -> None:
    """Record each of the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="+", metavar="NAME")
    parser.add_argument("--rows", type=int, default=10_000, help="of a batch, more or less")
    parser.add_argument("--batches", type=int, default=52)
    parser.add_argument("--history", type=pathlib.Path, help="of a controller that has looked after the one job")
    given = parser.parse_args()
    RECORDED.mkdir(exist_ok=True)
    if given.history is not None:
        (name,) = given.jobs
        write(of_history(name, given.history))
        return
    with local_cluster(KEY_GROUPS) as session:
        for name in given.jobs:
            write(recorded(session, name, given.rows, given.batches))


def write(found: dict[str, Any]) -> None:
    """As a file of the tournament."""
    lines = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    (RECORDED / f"{found['job']}.json").write_text(f"{{{lines}}}\n", encoding="utf-8")
    print(f"{found['job']}: {len(found['busy_ms'])} batches of {len(found['level'])} key groups", flush=True)


if __name__ == "__main__":
    main()
