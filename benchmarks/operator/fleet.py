"""One operator for many jobs: cycle time, memory, CPU, requests to the API server; a real one, and a real Prometheus.

    python -m benchmarks.operator.fleet --jobs 200 --groups 200 --seconds 120

The jobs are synthetic (see synthetic.py), everything else is real. Prints a table; --out writes it as JSON, too.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.operator.synthetic import SyntheticFleet, SyntheticJob
from e2e.cluster import binary, prometheus
from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.kubectl import Kubectl
from e2e.cluster.process import Process, free_ports
from e2e.cluster.prometheus import Prometheus
from prometheus_client.parser import text_string_to_metric_families

from streamjob_operator.kube.client import KubeApi

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
    parser.add_argument("--warm-up", type=float, default=100.0, help="seconds before measuring")
    parser.add_argument("--seconds", type=float, default=120.0, help="seconds of measuring")
    parser.add_argument("--changing", type=float, default=0.02, help="share of the jobs whose loads change each 10 s")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="streamjob-fleet-") as folder:
        found = measure(options, Path(folder))
    for name, value in found.items():
        print(f"{name:<44} {value}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
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
                operator = _operator(plane, port, options.workers, folder)
                try:
                    operator.start()
                    _live(jobs, options.warm_up, options.changing, rng)
                    before = Look.at(port, operator)
                    _live(jobs, options.seconds, options.changing, rng)
                    after = Look.at(port, operator)
                finally:
                    operator.stop(30.0)
    return figures(options, before, after)


def _install(kubectl: Kubectl) -> None:
    for file in sorted((ROOT / "crds").glob("*.yaml")):
        kubectl("apply", "--server-side", f"--filename={file}")
    kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")


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
        "balancing": {"mode": "Auto", "planner": options.planner, "statisticsPeriod": options.period},
        "scaling": {"mode": "Off"},
        "metrics": {"prometheus": {"url": url}},
    }
    metadata = {"name": job.name}
    return pod, {"apiVersion": "streamjob.dev/v1alpha1", "kind": "StreamJob", "metadata": metadata, "spec": spec}


def _operator(plane: ControlPlane, port: int, workers: int, folder: Path) -> Process:
    command = [
        *(str(Path(sys.executable).with_name("streamjob")), "operator", f"--kubeconfig={plane.kubeconfig}"),
        *(f"--namespace={NAMESPACE}", f"--lease-namespace={NAMESPACE}", "--listen=127.0.0.1", f"--port={port}"),
        f"--workers={workers}",
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
    """The operator at one moment: its own metrics page, CPU seconds, memory now and at most (bytes)."""

    at_s: float
    samples: Samples
    cpu_s: float
    rss_bytes: int
    peak_bytes: int

    @classmethod
    def at(cls, port: int, operator: Process) -> Look:
        """Look now; raises OSError when it does not answer."""
        if operator.pid is None:
            raise RuntimeError(f"the operator has ended:\n{operator.tail()}")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        stat = Path(f"/proc/{operator.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = sum(int(stat[at]) for at in (11, 12, 13, 14))  # with children that have ended
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{operator.pid}/status").read_text().splitlines() if ":" in line
        )
        return cls(
            at_s=time.monotonic(),
            samples=_samples(text),
            cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
            rss_bytes=int(status["VmRSS"].split()[0]) * 1024,
            peak_bytes=int(status["VmHWM"].split()[0]) * 1024,
        )


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
    calls = {
        f"{rest[2]} {rest[1]}": round(value / cycles, 2)
        for (name, rest), value in sorted(grown.items())
        if name == "streamjob_operator_api_requests_total" and value and cycles
    }
    return {
        "jobs": options.jobs,
        "key groups per job": options.groups,
        "statistics period": options.period,
        "planner": options.planner,
        "measured seconds": round(elapsed_s, 1),
        "cycles": round(cycles),
        "cycles per second": round(cycles / elapsed_s, 2),
        "cycles wanted per second": round(options.jobs / _seconds(options.period), 2),
        "mean cycle time, ms": round(1000 * grown[("streamjob_operator_cycle_seconds_sum", ())] / cycles, 1),
        "cycles within 1 s, percent": _share_within(grown, 1.0),
        "mean time per step, ms": dict(sorted(steps.items(), key=lambda one: -one[1])),
        "decisions": reasons,
        "API requests per cycle": round(sum(calls.values()), 2),
        "API requests per cycle by kind": dict(sorted(calls.items(), key=lambda one: -one[1])),
        "operator CPU, cores": round((after.cpu_s - before.cpu_s) / elapsed_s, 2),
        "operator CPU per cycle, ms": round(1000 * (after.cpu_s - before.cpu_s) / cycles, 1),
        "memory now, MiB": round(after.rss_bytes / 2**20),
        "memory at most, MiB": round(after.peak_bytes / 2**20),
    }


def _share_within(grown: Samples, limit_s: float) -> float:
    total = grown[("streamjob_operator_cycle_seconds_count", ())]
    return round(100 * grown[("streamjob_operator_cycle_seconds_bucket", (str(limit_s),))] / total, 1)


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))


if __name__ == "__main__":
    raise SystemExit(main())
