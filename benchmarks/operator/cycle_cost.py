"""CPU seconds of one cycle of one job, by part: at rest, after a change of loads, and of a look without a cycle.

    python -m benchmarks.operator.cycle_cost --groups 200 --rounds 8

The operator's own code from the watched object to the written status and the planning process; Prometheus and the API
server are on paper in another process (paper_cluster.py), so their CPU is not in it, and the clients' is. Of all rounds
the least counts: a busy machine only ever adds. CPU is that of the process, never the clock's time. --profile prints
where it goes, --out writes a JSON file.
"""

from __future__ import annotations

import argparse
import cProfile
import functools
import json
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.operator.paper_cluster import PaperCluster
from benchmarks.operator.parts import Parts
from kubernetes.client import Configuration

from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS
from streamjob_operator.kube.job.drivers import KubeDrivers
from streamjob_operator.kube.job.keeper import Keeper
from streamjob_operator.kube.job.rest import CYCLE_DUE
from streamjob_operator.kube.job.tools import Tools
from streamjob_operator.kube.metrics import sources
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.kube.process.collector import settle
from streamjob_operator.kube.process.logs import start_logging
from streamjob_operator.kube.process.telemetry import Telemetry
from streamjob_operator.kube.report.events import Events
from streamjob_operator.kube.watched.api import WatchedApi
from streamjob_operator.kube.watched.relist import make_stores
from streamjob_operator.planning_pool import PlanningPool

EXECUTORS, PERIOD_S = 10, 60.0
LOOK_AFTER_S = 7.0
"""After a cycle: nothing is due then."""
LONGEST_WAIT = 30
_KUBE, _STEPS = "streamjob_operator.kube", "streamjob_operator.cycle"
PLACES = (
    ("what Prometheus answers, as JSON", f"{_KUBE}.metrics.http:Connection.query"),
    ("pages of two scrapes", f"{_KUBE}.metrics.prometheus:read_page"),
    ("series of the window", f"{_KUBE}.metrics.prometheus:read_series"),
    ("observe, else", f"{_KUBE}.metrics.prometheus:PrometheusMetrics.observe"),
    ("estimate", f"{_STEPS}:estimate"),
    ("solve, without the planning process", "streamjob_operator.steps.solve:Solver.solve"),
    ("compare and recall", f"{_STEPS}:batch_times"),
    ("compare and recall", f"{_STEPS}:recall"),
    ("scaling rule", f"{_STEPS}:ask"),
    ("scaling rule", f"{_STEPS}:decide"),
    ("resize", f"{_STEPS}:resize"),
    ("verify", f"{_STEPS}:verify"),
    ("memory, headroom and advice", f"{_STEPS}:kept_back"),
    ("memory, headroom and advice", f"{_STEPS}:room_of"),
    ("memory, headroom and advice", f"{_STEPS}:memory_advice"),
    ("gate", f"{_STEPS}:judge"),
    ("actuate", f"{_STEPS}:actuate"),
    ("remember", f"{_STEPS}:remember"),
    ("telemetry", f"{_STEPS}:report"),
    ("StreamJob: spec", f"{_KUBE}.job.keeper:read_job"),
    ("StreamJob: status", f"{_KUBE}.job.keeper:read_status"),
    ("PartitionMap", f"{_KUBE}.job.keeper:Maps.ensure"),
    ("memory unpacked", f"{_KUBE}.partition_map.memory:read_memory"),
    ("memory packed", f"{_KUBE}.report.compose:memory_text"),
    ("driver and executors' pods", f"{_KUBE}.job.drivers:KubeDrivers.look"),
    ("store of watches", f"{_KUBE}.watched.store:Store.get"),
    ("store of watches", f"{_KUBE}.watched.store:Store.fitting"),
    ("store of watches", f"{_KUBE}.watched.store:Store.put"),
    ("status composed", f"{_KUBE}.job.keeper:compose"),
    ("status to a document", f"{_KUBE}.job.writing:to_document"),
    ("written to the API server", f"{_KUBE}.api.client:KubeApi._ask"),
    ("cadence", f"{_KUBE}.job.cycling:Cycling.due_s"),
    ("log", "logging:Logger.handle"),
)


class Bench:
    """One job under a keeper, its servers on paper, a clock of its own."""

    def __init__(self, cluster: PaperCluster, planning: PlanningPool, now_s: float, most: int = EXECUTORS) -> None:
        """`most`: executors that the job may have; above EXECUTORS, which it has, a scaling rule says how many."""
        self.now_s = now_s
        self._cluster = cluster
        self._stores = make_stores()
        settings = Configuration()
        settings.host = cluster.address
        self.telemetry = Telemetry()
        self.api = WatchedApi(settings, self._stores, called=self.telemetry.api_called)
        sources.PrometheusMetrics = functools.partial(PrometheusMetrics, clock=lambda: self.now_s)  # type: ignore[misc]
        self.api.create(STREAM_JOBS, _job(cluster.address, most))
        for pod in _pods():
            self.api.create(PODS, pod)
        events = Events(self.api)
        self._tools = Tools(
            api=self.api,
            drivers=KubeDrivers(self.api, events),
            events=events,
            reporters=lambda namespace, job: (self.telemetry.reporter(namespace, job),),
            forget=self.telemetry.forget,
            planning=planning.of,
            clock=lambda: self.now_s,
        )
        self.keeper = Keeper(self._tools, "default", "job-0")

    def passes(self, seconds: float) -> None:
        """Time goes by, and a heartbeat comes."""
        self.now_s += seconds
        found = self._cluster.at(self.now_s)
        if found:
            self._stores[PARTITION_MAPS].put(found)

    def look(self) -> bool:
        """One turn without a cycle; whether one is due."""
        return self.keeper.turn(cycle=False) is CYCLE_DUE

    def cycle(self) -> None:
        """A cycle as the operator runs one: a look finds it due, a second turn runs it."""
        for _ in range(LONGEST_WAIT):
            if self.look():
                self.keeper.turn(cycle=True)
                return
            self.passes(5.0)
        raise RuntimeError(f"no cycle is due: {self.newest}")

    @property
    def newest(self) -> str:
        """What the newest cycle decided."""
        found = self.api.get(STREAM_JOBS, "job-0", "default") or {}
        cycle = found["status"].get("lastCycle") or {}
        return f"{cycle.get('decision')} {cycle.get('reason')}: {cycle.get('message')}"


def measure(groups: int, rounds: int, options: argparse.Namespace) -> dict[str, Any]:
    """Figures of one size, milliseconds of CPU."""
    now_s = float(round(time.time()))
    with PaperCluster(groups, EXECUTORS, now_s) as cluster, PlanningPool(1, wait_s=300.0) as planning:
        bench = Bench(cluster, planning, now_s, options.most)
        for _ in range(options.warm_up):
            bench.passes(PERIOD_S)
            bench.cycle()
            print("warming up:", bench.newest, flush=True)
        settle()
        found: dict[str, Any] = {"key groups": groups, "decided": bench.newest}
        found["cycle at rest"] = _least(bench, rounds, planning, bench.cycle, PERIOD_S)
        found["look"] = _least(bench, rounds, planning, bench.look, LOOK_AFTER_S)
        if options.changes:
            changed = _least(bench, options.changes, planning, bench.cycle, PERIOD_S, before=cluster.shift)
            found["cycle after a change"] = changed | {"decided": bench.newest}
        if options.profile:
            _profile(bench, rounds)
    return found


def _least(
    bench: Bench,
    rounds: int,
    planning: PlanningPool,
    turn: Callable[[], object],
    after_s: float,
    before: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The least of so many rounds: of the process and of its planning process, and then of each part, in rounds of its
    own: telling parts apart costs some milliseconds."""
    whole, planned, parts = [], [], []
    for round_ in range(2 * rounds):
        before()
        bench.passes(after_s)
        if round_ >= rounds:
            with Parts(PLACES) as measured:
                turn()
            parts.append(dict(measured.seconds))
            continue
        there_s, begun_s = planning_s(planning), time.process_time()
        turn()
        whole.append(time.process_time() - begun_s)
        planned.append(planning_s(planning) - there_s)
    names = dict.fromkeys(name for name, _ in PLACES)
    least = {name: _ms(min(one.get(name, 0.0) for one in parts)) for name in names}
    return {
        "operator, ms": _ms(min(whole)),
        "operator, trials, ms": [_ms(one) for one in whole],
        "planning process, ms": _ms(min(planned)),
        "planning process, trials, ms": [_ms(one) for one in planned],
        "parts, ms": {name: value for name, value in sorted(least.items(), key=lambda one: -one[1]) if value},
    }


def planning_s(planning: PlanningPool) -> float:
    """CPU seconds that the planning processes have had, by the kernel's own count in nanoseconds."""
    pids = [worker._process.pid for worker in planning._all]
    files = (one for pid in pids for one in Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def _profile(bench: Bench, rounds: int) -> None:
    profile = cProfile.Profile(time.process_time)
    for _ in range(rounds):
        bench.passes(PERIOD_S)
        profile.runcall(bench.cycle)
    pstats.Stats(profile).sort_stats("tottime").print_stats(45)
    pstats.Stats(profile).sort_stats("cumtime").print_stats(70)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 2)


def _job(address: str, most: int) -> dict[str, Any]:
    spec = {
        "applicationRef": {"kind": "Pod", "apiVersion": "v1", "matchLabels": {"app": "job-0", "spark-role": "driver"}},
        "executors": {"min": EXECUTORS, "max": most},
        "balancing": {"mode": "Auto", "statisticsPeriod": f"{PERIOD_S:g}s", "planDeadline": "500ms"},
        "scaling": {"mode": "Auto" if most > EXECUTORS else "Off"},
        "metrics": {"prometheus": {"url": f"{address}/prometheus"}},
    }
    metadata = _metadata("job-0", {})
    return {"apiVersion": STREAM_JOBS.api_version, "kind": STREAM_JOBS.kind, "metadata": metadata, "spec": spec}


def _pods() -> list[dict[str, Any]]:
    labels = {"app": "job-0", "spark-role": "driver", "spark-app-selector": "job-0"}
    running = {"name": "spark", "ready": True, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
    driver = _pod("driver", labels, running)
    executors = (
        _pod(f"exec-{at}", {**labels, "spark-role": "executor", "spark-exec-id": str(at)}, running)
        for at in range(EXECUTORS)
    )
    return [driver, *executors]


def _pod(name: str, labels: dict[str, str], running: dict[str, Any]) -> dict[str, Any]:
    conditions = [
        {"type": one, "status": "True"} for one in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    status = {"phase": "Running", "podIP": "10.0.0.1", "conditions": conditions, "containerStatuses": [running]}
    owners = {"ownerReferences": [{"kind": "Pod", "name": "driver", "uid": "uid-driver", "apiVersion": "v1"}]}
    metadata = _metadata(name, labels) | (owners if name != "driver" else {})
    return {"metadata": metadata, "spec": {"containers": [{"name": "spark"}]}, "status": status}


def _metadata(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": "default",
        "labels": labels,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, nargs="+", default=[10, 50, 200, 1000])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--changes", type=int, default=3, help="cycles after a change of loads")
    parser.add_argument("--warm-up", type=int, default=6, help="cycles before the first that counts")
    parser.add_argument("--most", type=int, default=EXECUTORS, help="executors that the job may have at most")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    start_logging("warning", as_json=True)
    found = [measure(groups, options.rounds, options) for groups in options.groups]
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
