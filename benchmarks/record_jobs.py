"""What key groups of real jobs take, batch by batch: jobs of `jobs/` on real executors, measured by the agent.

    python -m benchmarks.record_jobs nexmark-5 clicks-once albic-3 [--batches 52] [--rows 10000]

Each becomes `benchmarks/recorded/NAME.json`, a job of the tournament: milliseconds of each key group in each batch
after the first COLD ones, and what state it holds. No key group moves meanwhile.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
import time
from typing import Any

from jobs.registry import find
from jobs.running import start
from jobs.session import local_cluster
from jobs.sources import Files

import streamjob_agent
from streamjob_agent import notebook
from streamjob_agent.config import AgentConfig
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.agent_http.metrics import AgentMetrics
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory, Snapshot

RECORDED = pathlib.Path("benchmarks/recorded")
COLD = 12
"""First batches, in which executors compile."""
KEY_GROUPS = 16
WINDOW_S, POLL_S, LIMIT_S = 3600.0, 0.1, 400.0


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
    return _told(name, rows, seen)


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


def _told(name: str, rows: int, seen: Snapshot) -> dict[str, Any]:
    model, series = estimate(seen, Memory()).model, seen.series
    assert model.batch is not None
    assert series is not None
    whole = (series.batches == 1) & (series.batches.cumsum() >= COLD)
    return {
        "job": name,
        "rows": rows,
        "executors": model.n_nodes,
        "operator": [one.operator for one in model.group_ids],
        "level": model.batch.level.tolist(),
        "state_bytes": [round(one) for one in model.state_bytes.tolist()],
        "busy_ms": [[round(1000 * one) for one in row] for row in series.busy_s[whole].tolist()],
    }


def main() -> None:
    """Record each of the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="+", metavar="NAME")
    parser.add_argument("--rows", type=int, default=10_000, help="of a batch, more or less")
    parser.add_argument("--batches", type=int, default=52)
    given = parser.parse_args()
    RECORDED.mkdir(exist_ok=True)
    with local_cluster(KEY_GROUPS) as session:
        for name in given.jobs:
            found = recorded(session, name, given.rows, given.batches)
            lines = ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
            (RECORDED / f"{name}.json").write_text(f"{{{lines}}}\n", encoding="utf-8")
            print(f"{name}: {len(found['busy_ms'])} batches of {len(found['level'])} key groups", flush=True)


if __name__ == "__main__":
    main()
