"""The operator at one moment, and what happened between two: figures from its page, /proc and the jobs' statuses."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.operator.reactions import Reactions
from e2e.cluster.process import Process
from prometheus_client.parser import text_string_to_metric_families

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS

Samples = dict[tuple[str, tuple[str, ...]], float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Its metrics page, CPU seconds, memory in bytes, lengths of all jobs' newest cycles, and how soon people were
    followed since the look before.

    CPU is that of all its processes, of those that plan, and of what shares the machine with it, by name. Memory is
    that of its main process, now and at most, and what it shares with nobody together with its planners; threads and
    open files are the main process's.
    """

    at_s: float
    samples: Samples
    cpu_s: float
    planning_cpu_s: float
    others_cpu_s: Mapping[str, float]
    rss_bytes: int
    peak_bytes: int
    family_bytes: int
    threads: int
    files: int
    newest_s: tuple[float, ...]
    reactions_s: tuple[float, ...]

    @classmethod
    def at(
        cls, port: int, operator: Process, api: KubeApi, namespace: str, reactions: Reactions, others: Mapping[str, int]
    ) -> Look:
        """Look now; `others` are process ids by name. Raises OSError when it does not answer."""
        if operator.pid is None:
            raise RuntimeError(f"the operator has ended:\n{operator.tail()}")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        planning = _children(operator.pid)
        family = [operator.pid, *planning]
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{operator.pid}/status").read_text().splitlines() if ":" in line
        )
        return cls(
            at_s=time.monotonic(),
            samples=_samples(text),
            cpu_s=sum(map(_cpu_s, family)),
            planning_cpu_s=sum(map(_cpu_s, planning)),
            others_cpu_s={name: _cpu_s(pid) for name, pid in others.items()},
            rss_bytes=int(status["VmRSS"].split()[0]) * 1024,
            peak_bytes=int(status["VmHWM"].split()[0]) * 1024,
            family_bytes=sum(_proportional_bytes(pid) for pid in family),
            threads=int(status["Threads"]),
            files=len(os.listdir(f"/proc/{operator.pid}/fd")),
            newest_s=tuple(_cycle_seconds(api, namespace)),
            reactions_s=reactions.taken(),
        )


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
            found += map(int, file.read_text().split())
    return found


def _cpu_s(pid: int) -> float:
    """CPU of a process and of its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(stat[at]) for at in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")


def _proportional_bytes(pid: int) -> int:
    """Its memory, pages that n processes share as one n-th."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1024


def _cycle_seconds(api: KubeApi, namespace: str) -> Iterator[float]:
    for job in api.list(STREAM_JOBS, namespace):
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


def figures(before: Look, after: Look) -> dict[str, Any]:
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
        "reaction p50, s": _quantile(after.reactions_s, 0.5),
        "reaction p99, s": _quantile(after.reactions_s, 0.99),
        "reaction at most, s": _quantile(after.reactions_s, 1.0),
        "reactions": len(after.reactions_s),
        "mean cycle time, ms": round(1000 * grown[("streamjob_operator_cycle_seconds_sum", ())] / cycles, 1),
        "cycles within 1 s, percent": _share_within(grown, 1.0),
        "mean time per step, ms": dict(sorted(steps.items(), key=lambda one: -one[1])),
        "decisions": reasons,
        "API requests per cycle": round(sum(calls.values()), 2),
        "API requests per cycle by kind": dict(sorted(calls.items(), key=lambda one: -one[1])),
        "operator CPU, cores": round((after.cpu_s - before.cpu_s) / elapsed_s, 2),
        "of it planning processes, cores": round((after.planning_cpu_s - before.planning_cpu_s) / elapsed_s, 2),
        "cores beside it": _cores(before, after, elapsed_s),
        "operator CPU per cycle, ms": round(1000 * (after.cpu_s - before.cpu_s) / cycles, 1),
        "memory of the operator, MiB": round(after.rss_bytes / 2**20),
        "memory of the operator at most, MiB": round(after.peak_bytes / 2**20),
        "memory with planning processes, MiB": round(after.family_bytes / 2**20),
        "threads": after.threads,
        "open files": after.files,
    }


def _calls(grown: Samples, cycles: float) -> dict[str, float]:
    """Requests per cycle by verb and resource, whatever their answer."""
    found: dict[str, float] = {}
    for (name, rest), value in grown.items():
        if name == "streamjob_operator_api_requests_total" and value and cycles:
            _, resource, verb = rest
            found[f"{verb} {resource}"] = found.get(f"{verb} {resource}", 0.0) + value / cycles
    return {call: round(value, 2) for call, value in found.items()}


def _cores(before: Look, after: Look, elapsed_s: float) -> dict[str, float]:
    """What others used meanwhile."""
    return {
        name: round((cpu_s - before.others_cpu_s[name]) / elapsed_s, 3) for name, cpu_s in after.others_cpu_s.items()
    }


def _quantile(values: tuple[float, ...], share: float) -> float:
    return round(float(np.quantile(values, share)), 2) if values else 0.0


def _share_within(grown: Samples, limit_s: float) -> float:
    total = grown[("streamjob_operator_cycle_seconds_count", ())]
    return round(100 * grown[("streamjob_operator_cycle_seconds_bucket", (str(limit_s),))] / total, 1)
