"""One operator for many jobs: cycle time, memory, CPU, requests to the API server; a real one, and a real Prometheus.

    python -m benchmarks.operator.fleet --jobs 200 --groups 200 --trials 3 --seconds 45

The jobs are synthetic (see synthetic.py), everything else is real. Prints a table; --out adds it to a JSON file, where
each figure of the trials has mean, spread (standard deviation) and the trials themselves.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.operator.synthetic import SyntheticFleet, SyntheticJob
from e2e.cluster import binary, prometheus
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.kubectl import ESTABLISHED, Kubectl
from e2e.cluster.process import Process, free_ports
from e2e.cluster.prometheus import Prometheus
from prometheus_client.parser import text_string_to_metric_families

from streamjob_operator.kube.client import KubeApi
from streamjob_operator.kube.kinds import STREAM_JOBS

ROOT = Path(__file__).resolve().parents[2]
EXECUTORS = 10
NAMESPACE = "default"
Samples = dict[tuple[str, tuple[str, ...]], float]


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
    parser.add_argument("--changing", type=float, default=0.02, help="share of the jobs whose loads change each 10 s")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streamjob-fleet-") as folder:
        found = measure(options, Path(folder))
    for name, value in found.items():
        print(f"{name:<44} {value}")
    if options.out:
        _keep(found, f"{options.jobs} jobs x {options.groups} key groups", options.out)
    return 0


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Start everything, let it settle, look at the operator at the beginning and at the end of the time."""
    program = prometheus.get()
    if program is None:
        raise SystemExit(prometheus.HOW_TO_GET)
    rng = np.random.default_rng(1)
    jobs = [SyntheticJob(f"job-{at}", options.groups, EXECUTORS, rng) for at in range(options.jobs)]
    port = free_ports(1)[0]
    with ControlPlane(binary.get()) as plane:
        kubectl = Kubectl(plane.kubeconfig)
        _install(kubectl)
        api = KubeApi.from_kubeconfig(plane.kubeconfig)
        with SyntheticFleet(api, NAMESPACE, jobs) as fleet:
            targets = [_target(fleet.address, at, job) for at, job in enumerate(jobs)]
            with Prometheus(folder / "prometheus", program, targets, scrape_interval="15s") as server:
                for part in range(0, len(jobs), 50):
                    kubectl.apply(
                        *(one for job in jobs[part : part + 50] for one in _objects(job, server.url, options))
                    )
                operator = _operator(plane, port, options, folder)
                try:
                    operator.start()
                    _live(jobs, options.warm_up, options.changing, rng)
                    looks = [Look.at(port, operator, api)]
                    for _ in range(options.trials):
                        _live(jobs, options.seconds, options.changing, rng)
                        looks.append(Look.at(port, operator, api))
                finally:
                    operator.stop(10.0)
    trials = [figures(options, before, after) for before, after in itertools.pairwise(looks)]
    return _settings(options) | {name: _summary([one[name] for one in trials]) for name in trials[0]}


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "jobs": options.jobs,
        "key groups per job": options.groups,
        "executors per job": EXECUTORS,
        "statistics period": options.period,
        "planner": f"{options.planner}, {options.plan_deadline} for a plan, {options.planners} processes",
        "cycles wanted per second": round(options.jobs / _seconds(options.period), 2),
        "cores of the machine, shared with all": os.cpu_count(),
    }


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


def _objects(job: SyntheticJob, url: str, options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    labels = {"app": job.name}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": job.name, "labels": labels},
        "spec": {"containers": [{"name": "driver", "image": "none"}]},
    }
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
    return pod, {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": metadata, "spec": spec}


def _operator(plane: ControlPlane, port: int, options: argparse.Namespace, folder: Path) -> Process:
    command = [
        *(str(Path(sys.executable).with_name("streamjob")), "operator", f"--kubeconfig={plane.kubeconfig}"),
        *(f"--namespace={NAMESPACE}", f"--lease-namespace={NAMESPACE}", "--listen=127.0.0.1", f"--port={port}"),
        *(f"--workers={options.workers}", f"--planners={options.planners}"),
    ]
    return Process("operator", command, folder / "operator.log")


def _live(jobs: list[SyntheticJob], seconds: float, changing: float, rng: np.random.Generator) -> None:
    """Time goes by; every ten seconds some jobs' loads change."""
    until_s = time.monotonic() + seconds
    while (left_s := until_s - time.monotonic()) > 0:
        time.sleep(min(10.0, left_s))
        for at in rng.choice(len(jobs), size=round(changing * len(jobs)), replace=False):
            jobs[at].change()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The operator at one moment: its metrics page, CPU seconds, memory in bytes, lengths of all jobs' newest cycles.

    Memory is that of its main process, now and at most, and what it shares with nobody together with its planners.
    """

    at_s: float
    samples: Samples
    cpu_s: float
    rss_bytes: int
    peak_bytes: int
    family_bytes: int
    newest_s: tuple[float, ...]

    @classmethod
    def at(cls, port: int, operator: Process, api: KubeApi) -> Look:
        """Look now; raises OSError when it does not answer."""
        if operator.pid is None:
            raise RuntimeError(f"the operator has ended:\n{operator.tail()}")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        family = [operator.pid, *_children(operator.pid)]
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{operator.pid}/status").read_text().splitlines() if ":" in line
        )
        return cls(
            at_s=time.monotonic(),
            samples=_samples(text),
            cpu_s=sum(_ticks(pid) for pid in family) / os.sysconf("SC_CLK_TCK"),
            rss_bytes=int(status["VmRSS"].split()[0]) * 1024,
            peak_bytes=int(status["VmHWM"].split()[0]) * 1024,
            family_bytes=sum(_proportional_bytes(pid) for pid in family),
            newest_s=tuple(_cycle_seconds(api)),
        )


def _children(pid: int) -> list[int]:
    return [int(one) for file in Path(f"/proc/{pid}/task").glob("*/children") for one in file.read_text().split()]


def _ticks(pid: int) -> int:
    """CPU of a process and of its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(stat[at]) for at in (11, 12, 13, 14))


def _proportional_bytes(pid: int) -> int:
    """Its memory, pages that n processes share as one n-th."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1024


def _cycle_seconds(api: KubeApi) -> Iterator[float]:
    for job in api.list(STREAM_JOBS, NAMESPACE):
        newest = (job.get("status") or {}).get("lastCycle") or {}
        if "seconds" in newest:
            yield float(newest["seconds"])


def _samples(text: str) -> Samples:
    """(name, its labels' values but for the job's) -> sum over all jobs."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            rest = tuple(value for label, value in sorted(one.labels.items()) if not label.startswith("job_"))
            found[(one.name, rest)] = found.get((one.name, rest), 0.0) + one.value
    return found


def figures(options: argparse.Namespace, before: Look, after: Look) -> dict[str, Any]:
    """What happened between two looks."""
    grown = {key: value - before.samples.get(key, 0.0) for key, value in after.samples.items()}
    elapsed_s = after.at_s - before.at_s
    cycles = sum(value for (name, _), value in grown.items() if name == "streamjob_job_cycles_total")
    reasons = {
        f"{rest[0]} {rest[1]}": round(value)
        for (name, rest), value in sorted(grown.items())
        if name == "streamjob_job_cycles_total" and value
    }
    steps = {
        rest[0]: round(1000 * value / cycles, 1)
        for (name, rest), value in grown.items()
        if name == "streamjob_job_cycle_step_seconds_total" and cycles
    }
    calls = _calls(grown, cycles)
    return {
        "measured seconds": round(elapsed_s, 1),
        "cycles": round(cycles),
        "cycles per second": round(cycles / elapsed_s, 2),
        "cycle time p50, ms": round(1000 * float(np.quantile(after.newest_s, 0.5)), 1),
        "cycle time p95, ms": round(1000 * float(np.quantile(after.newest_s, 0.95)), 1),
        "mean cycle time, ms": round(1000 * grown[("streamjob_operator_cycle_seconds_sum", ())] / cycles, 1),
        "cycles within 1 s, percent": _share_within(grown, 1.0),
        "mean time per step, ms": dict(sorted(steps.items(), key=lambda one: -one[1])),
        "decisions": reasons,
        "API requests per cycle": round(sum(calls.values()), 2),
        "API requests per cycle by kind": dict(sorted(calls.items(), key=lambda one: -one[1])),
        "operator CPU, cores": round((after.cpu_s - before.cpu_s) / elapsed_s, 2),
        "operator CPU per cycle, ms": round(1000 * (after.cpu_s - before.cpu_s) / cycles, 1),
        "memory of the operator, MiB": round(after.rss_bytes / 2**20),
        "memory of the operator at most, MiB": round(after.peak_bytes / 2**20),
        "memory with planning processes, MiB": round(after.family_bytes / 2**20),
    }


def _calls(grown: Samples, cycles: float) -> dict[str, float]:
    """Requests per cycle by verb and resource, whatever their answer."""
    found: dict[str, float] = {}
    for (name, rest), value in grown.items():
        if name == "streamjob_operator_api_requests_total" and value and cycles:
            _, resource, verb = rest
            found[f"{verb} {resource}"] = found.get(f"{verb} {resource}", 0.0) + value / cycles
    return {call: round(value, 2) for call, value in found.items()}


def _share_within(grown: Samples, limit_s: float) -> float:
    total = grown[("streamjob_operator_cycle_seconds_count", ())]
    return round(100 * grown[("streamjob_operator_cycle_seconds_bucket", (str(limit_s),))] / total, 1)


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))


if __name__ == "__main__":
    raise SystemExit(main())
