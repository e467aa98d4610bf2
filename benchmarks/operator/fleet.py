"""One operator for many jobs: cycle time, memory, CPU, requests to the API server; a real one, and a real Prometheus.

    python -m benchmarks.operator.fleet --jobs 200 --groups 200 --trials 3 --seconds 45
    python -m benchmarks.operator.fleet --jobs 200 --churn 2 --trials 10 --seconds 60

The jobs are synthetic (see synthetic.py), everything else is real. Prints a table; --out adds it to a JSON file, where
each figure of the trials has mean, spread (standard deviation) and the trials themselves.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.operator.agents import Agents
from benchmarks.operator.churn import Churn
from benchmarks.operator.look import Look, figures
from benchmarks.operator.reactions import Reactions
from benchmarks.operator.synthetic import Pages, SyntheticJob
from e2e.cluster import binary, prometheus
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.kubectl import ESTABLISHED, Kubectl
from e2e.cluster.process import Process, free_ports
from e2e.cluster.prometheus import Prometheus

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS, STREAM_JOBS
from streamjob_operator.kube.api.refusals import Conflict
from streamjob_planners.kernel import ahead

ROOT = Path(__file__).resolve().parents[2]
EXECUTORS = 10
NAMESPACE = "default"
SETTLE_S = 60.0
"""After the churn's end, before what is left over is looked for."""
AS_IN_THE_IMAGE = {"MALLOC_ARENA_MAX": "2"}
"""What the operator's image sets. It has its loops compiled, too (`streamjob_planners.building`): the two files may lie
beside `kernel/ahead.py` for the time of a run. Memory and CPU are another operator's without."""
AIMS = {
    "cycle time p95, ms": 2000.0,
    "reaction p99, s": 5.0,
    "API requests per cycle": 10.0,
    "memory with planning processes, MiB": 512.0,
}
"""At most, for 1,000 jobs of 200 key groups and a period of 60 s on two cores beside the API server."""


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--period", default="60s", help="statistics period: each job has one cycle in it")
    parser.add_argument("--planner", default="search")
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--plan-deadline", default="500ms", help="time of one plan")
    parser.add_argument("--planners", type=int, default=2)
    parser.add_argument("--warm-up", type=float, default=80.0, help="seconds before measuring")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=45.0, help="seconds of each trial")
    parser.add_argument("--pods", type=int, default=EXECUTORS, help="executors' pods of each job")
    parser.add_argument("--large", type=int, default=0, help="key groups of one job more, 0 for none")
    parser.add_argument("--changing", type=float, default=0.02, help="share of the jobs whose loads change each 10 s")
    parser.add_argument("--churn", type=float, default=0.0, help="seconds between two events of churn, 0 for none")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streamjob-fleet-") as folder:
        found = measure(options, Path(folder))
    for name, value in found.items():
        print(f"{name:<44} {value}")
    if options.out:
        churn = f", an event of churn every {options.churn:g} s" if options.churn else ""
        _keep(found, f"{options.jobs} jobs x {options.groups} key groups{churn}", options.out)
    return 0


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Start everything, let it settle, look at the operator at the beginning and at the end of the time."""
    program = prometheus.get()
    if program is None:
        raise SystemExit(prometheus.HOW_TO_GET)
    rng = np.random.default_rng(1)
    jobs = [SyntheticJob(f"job-{at}", options.groups, EXECUTORS, rng) for at in range(options.jobs)]
    jobs += [SyntheticJob("large", options.large, EXECUTORS, rng)] if options.large else []
    port = free_ports(1)[0]
    with ControlPlane(binary.get()) as plane:
        kubectl = Kubectl(plane.kubeconfig)
        _install(kubectl)
        api = KubeApi.from_kubeconfig(plane.kubeconfig)
        with Pages(jobs) as pages, Agents(plane.kubeconfig, NAMESPACE, jobs) as agents:
            targets = [_target(pages.address, at, job) for at, job in enumerate(jobs)]
            with Prometheus(folder / "prometheus", program, targets, scrape_interval="15s") as server:
                make = _maker(api, jobs, server.url, options)
                with ThreadPoolExecutor(8) as pool:
                    list(pool.map(make, [job.name for job in jobs]))
                operator = _operator(plane, port, options, folder)
                try:
                    operator.start()
                    _live(jobs, options.warm_up, options.changing, rng)
                    churn = Churn(api, NAMESPACE, [job.name for job in jobs], options.churn, make)
                    asked = Reactions(api, NAMESPACE, [job.name for job in jobs])
                    with asked as reactions, churn if options.churn else contextlib.nullcontext():
                        looks = list(_looks(port, operator, api, reactions, jobs, options, rng, _others(plane, server)))
                    _live(jobs, SETTLE_S if options.churn else 0.0, options.changing, rng)
                    left = churn.left_over()
                finally:
                    operator.stop(10.0)
    trials = [figures(before, after) for before, after in itertools.pairwise(looks)]
    found = _settings(options) | {name: _summary([one[name] for one in trials]) for name in trials[0]}
    found["aims"] = {name: f"at most {most:g}: {_met(found[name]['mean'] <= most)}" for name, most in AIMS.items()}
    found |= {"requests of agents that failed": agents.errors()}
    return found | ({"churn": dict(churn.happened), "left after it": dict(left)} if options.churn else {})


def _looks(
    port: int,
    operator: Process,
    api: KubeApi,
    reactions: Reactions,
    jobs: list[SyntheticJob],
    options: argparse.Namespace,
    rng: np.random.Generator,
    others: Mapping[str, int],
) -> Iterator[Look]:
    yield Look.at(port, operator, api, NAMESPACE, reactions, others)
    for _ in range(options.trials):
        _live(jobs, options.seconds, options.changing, rng)
        yield Look.at(port, operator, api, NAMESPACE, reactions, others)


def _others(plane: ControlPlane, server: Prometheus) -> dict[str, int]:
    """What shares the machine with the operator: its process id by what it is."""
    parts = {
        "API server": plane.api_server,
        "etcd": plane.etcd,
        "controller manager": plane.controller_manager,
        "Prometheus": server.process,
    }
    return {name: one.pid or 0 for name, one in parts.items()} | {"synthetic drivers, and who looks": os.getpid()}


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "jobs": options.jobs,
        "key groups per job": options.groups,
        "executors per job": EXECUTORS,
        "executors' pods per job": options.pods,
        "key groups of one job more": options.large,
        "statistics period": options.period,
        "planner": f"{options.planner}, {options.plan_deadline} for a plan, {options.planners} processes",
        "cycles wanted per second": round(options.jobs / _seconds(options.period), 2),
        "cores of the machine, shared with all": os.cpu_count(),
        "loops compiled ahead of time, as in the image": ahead.THERE,
    }


def _met(met: bool) -> str:
    return "met" if met else "not met"


def _summary(values: list[Any]) -> Any:
    """Mean, spread and trials of numbers; of what is no number the trials alone."""
    if not all(isinstance(value, int | float) for value in values):
        return {"trials": values}
    mean, spread = statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0
    return {"mean": round(mean, 3), "spread": round(spread, 3), "trials": values}


def _keep(found: dict[str, Any], name: str, file: Path) -> None:
    """Add it to the file, in the place of an older one of that name."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    known[name] = {"measured": time.strftime("%Y-%m-%d"), **found}
    file.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _install(kubectl: Kubectl) -> None:
    for file in sorted((ROOT / "crds").glob("*.yaml")):
        kubectl("apply", "--server-side", f"--filename={file}")
    kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", "--all")
    kubectl.wait_for_account()


def _target(address: str, at: int, job: SyntheticJob) -> dict[str, Any]:
    static = [{"targets": [address], "labels": {"pod": job.name}}]
    return {"job_name": job.name, "metrics_path": f"/{at}", "static_configs": static}


def _objects(job: SyntheticJob, url: str, options: argparse.Namespace) -> tuple[dict[str, Any], ...]:
    labels = {"app": job.name, "spark-role": "driver"}  # as Spark labels a driver of cluster mode
    pod = _pod(job.name, labels)
    spec = {
        "applicationRef": {"kind": "Pod", "apiVersion": "v1", "matchLabels": labels},
        "executors": {"min": EXECUTORS, "max": EXECUTORS},
        "balancing": {
            "mode": "Auto",
            "planner": options.planner,
            "statisticsPeriod": options.period,
            "planDeadline": options.plan_deadline,
        },
        "scaling": {"mode": "Off"},
        "metrics": {"prometheus": {"url": url}},
    }
    metadata = {"name": job.name}
    document = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": metadata, "spec": spec}
    return (pod, *_executors(job, options.pods), document)


def _maker(api: KubeApi, jobs: list[SyntheticJob], url: str, options: argparse.Namespace) -> Callable[[str], None]:
    """Creates those of a job's objects that are not there, by its name."""
    by_name = {job.name: job for job in jobs}

    def make(name: str) -> None:
        *pods, document = _objects(by_name[name], url, options)
        for kind, one in (*((PODS, pod) for pod in pods), (STREAM_JOBS, document)):
            one["metadata"]["namespace"] = NAMESPACE
            with contextlib.suppress(Conflict):
                api.create(kind, one)

    return make


def _pod(name: str, labels: dict[str, str]) -> dict[str, Any]:
    containers = [{"name": "spark", "image": "none"}]
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def _executors(job: SyntheticJob, count: int) -> Iterator[dict[str, Any]]:
    """Pods of the executors, as Spark labels them; no node ever runs them."""
    for at in range(count):
        labels = {"spark-app-selector": job.name, "spark-role": "executor", "spark-exec-id": str(at)}
        yield _pod(f"{job.name}-exec-{at}", labels)


def _operator(plane: ControlPlane, port: int, options: argparse.Namespace, folder: Path) -> Process:
    command = [
        *(str(Path(sys.executable).with_name("streamjob")), "operator", f"--kubeconfig={plane.kubeconfig}"),
        *(f"--namespace={NAMESPACE}", f"--lease-namespace={NAMESPACE}", "--listen=127.0.0.1", f"--port={port}"),
        *(f"--workers={options.workers}", f"--planners={options.planners}"),
    ]
    return Process("operator", command, folder / "operator.log", env=AS_IN_THE_IMAGE)


def _live(jobs: list[SyntheticJob], seconds: float, changing: float, rng: np.random.Generator) -> None:
    """Time goes by; every ten seconds some jobs' loads change."""
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0:
        time.sleep(min(10.0, left_s))
        for at in rng.choice(len(jobs), size=round(changing * len(jobs)), replace=False):
            jobs[at].change()


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))


if __name__ == "__main__":
    raise SystemExit(main())
