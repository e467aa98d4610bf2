"""The faults: each lets a job begin, does harm, and says when the harm was done. Judged by `judge`, not by the case."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from e2e.cluster.fault_proxy import FaultProxy, Rule
from e2e.cluster.process import Process
from e2e.cluster.prometheus import Prometheus
from e2e.faults.front import Front
from e2e.faults.stage import Stage, condition, draining, settled, stop, until

OURS = ".*/streamjob.dev/.*"
MAP, STATUS = ".*/partitionmaps/[^/]+", ".*/streamjobs/[^/]+/status"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What cases may break: the way to the API server, Prometheus, and what stands in front of it."""

    proxy: FaultProxy
    prometheus: Prometheus
    front: Front


Harm = Callable[[Stage, Tools], str]
"""Does the harm while the job is on its way, and tells what it did; what it started is left running."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fault by its name."""

    name: str
    harm: Harm


def _acting(stage: Stage) -> None:
    """Until a drain is on its way."""
    stage.wait("no drain began", lambda status: draining(status) or settled(status))


def _begin(stage: Stage) -> Process:
    stage.driver()
    return stage.operator()


def _nothing(stage: Stage, _: Tools) -> str:
    _begin(stage)
    return ""


def _dies_at(step: str, when: str) -> Case:
    """The operator is killed in the first cycle that acts, just before or after a step, and started again."""

    def harm(stage: Stage, _: Tools) -> str:
        stage.driver()
        mortal = stage.operator(DIE_AT=f"{step}:{when}", DIE_IN="acting" if step in LATE else "")
        until(f"the operator did not die {when} {step}", lambda: mortal.pid is None)
        stage.operator()
        return "killed once"

    return Case(name=f"operator killed {when} {step}", harm=harm)


LATE = ("actuate", "remember", "report", "save")
"""Steps that come once the gate has said whether the cycle acts; the others are the same in every cycle."""
STEPS = ("observe", "estimate", "solve", "gate", *LATE)


def _killed_in_mid_drain(stage: Stage, _: Tools) -> str:
    first = _begin(stage)
    times = 0
    for _again in range(3):
        status = stage.wait("no drain began", lambda one: draining(one) or settled(one))
        if settled(status):
            break
        first.kill()
        first = stage.operator()
        times += 1
    return f"killed {times} times"


def _paused_leader(stage: Stage, _: Tools) -> str:
    """Paused until another has taken the lease over, then let go on: it must end by itself."""
    first = _begin(stage)
    _acting(stage)
    leader = stage.lease_holder()
    second = stage.operator()
    stop(first, signal.SIGSTOP)
    until("nobody took the lease over", lambda: stage.lease_holder() != leader)
    stop(first, signal.SIGCONT)
    until("the old leader did not end", lambda: first.pid is None)
    return "the old leader ended" if second.pid is not None else "both ended"


def _two_operators(stage: Stage, _: Tools) -> str:
    _begin(stage)
    stage.operator()
    _acting(stage)
    return "both all the time"


def _api(name: str, *rules: Callable[[], Rule], always: bool = False) -> Case:
    """The operator's way to the API server misbehaves from its first drain on, or all the time."""

    def harm(stage: Stage, tools: Tools) -> str:
        stage.driver()
        made = [tools.proxy.add(rule()) for rule in rules] if always else []
        stage.operator(tools.proxy.kubeconfig)
        _acting(stage)
        made = made or [tools.proxy.add(rule()) for rule in rules]
        stage.wait("the fault never came", lambda status: any(one.applied for one in made) or settled(status))
        time.sleep(8.0)
        tools.proxy.clear()
        return f"{sum(one.applied for one in made)} requests"

    return Case(name=name, harm=harm)


NOTICED = ("PrometheusUnavailable", "TargetMissing")
"""Reasons that speak of Prometheus itself."""


def _prometheus(name: str, hurt: Callable[[Tools], object]) -> Case:
    """What stands between the operator and Prometheus misbehaves for a while, from the first drain on."""

    def harm(stage: Stage, tools: Tools) -> str:
        _begin(stage)
        _acting(stage)
        with _while_hurt(tools, hurt):
            stage.wait("nobody noticed", lambda status: condition(status, "MetricsAvailable").get("reason") in NOTICED)
            begun, reason = generation(stage), condition(stage.status(), "MetricsAvailable")["reason"]
            time.sleep(8.0)
            acted = generation(stage) - begun
        return f"said {reason}, {acted} plans in 8 s"

    return Case(name=name, harm=harm)


@contextmanager
def _while_hurt(tools: Tools, hurt: Callable[[Tools], object]) -> Iterator[None]:
    hurt(tools)
    try:
        yield
    finally:
        tools.front.heal()
        if tools.prometheus.process.pid is None:
            tools.prometheus.start()


def generation(stage: Stage) -> int:
    """Generation of the newest assignment."""
    return int((stage.agent().get("spec") or {}).get("generation") or 0)


def _driver_restarts(stage: Stage, _: Tools) -> str:
    first = stage.driver()
    stage.operator()
    _acting(stage)
    first.kill()
    time.sleep(3.0)
    stage.driver()
    return "3 s without a driver"


CASES: tuple[Case, ...] = (
    Case(name="nothing", harm=_nothing),
    *(
        _dies_at(step, when)
        for step in STEPS
        for when in (("before", "after") if step in ("actuate", "save") else ("before",))
    ),
    Case(name="operator killed again and again in mid-drain", harm=_killed_in_mid_drain),
    Case(name="two operators at once", harm=_two_operators),
    Case(name="leader paused beyond its lease, another takes over", harm=_paused_leader),
    _api("API 409 on the PartitionMap", lambda: Rule(method="PATCH|PUT", path=MAP, status=409, times=3)),
    _api("API 409 on the status", lambda: Rule(method="PATCH|PUT", path=STATUS, status=409, times=3)),
    _api("API 429 with Retry-After", lambda: Rule(path=OURS, watch=False, status=429, retry_after_s=1, times=10)),
    _api("API 500 for 8 s", lambda: Rule(path=OURS, watch=False, status=500)),
    _api("API does it, then says 500", lambda: Rule(method="PATCH", path=OURS, status=500, after=True, times=4)),
    _api("API hangs", lambda: Rule(path=OURS, watch=False, hang_s=20.0, times=3)),
    _api("API cuts every watch after 1 s", lambda: Rule(watch=True, cut_after_s=1.0), always=True),
    _prometheus("Prometheus down", lambda tools: tools.prometheus.process.kill()),
    _prometheus(
        "Prometheus answers 500", lambda tools: tools.front.answer(500, "application/json", b'{"error":"sick"}')
    ),
    _prometheus("Prometheus is a web page", lambda tools: tools.front.answer(200, "text/html", b"<html>Log in</html>")),
    _prometheus("Prometheus hangs", lambda tools: tools.front.hang()),
    _prometheus("Prometheus has no series of the job", lambda tools: tools.front.empty()),
    Case(name="driver killed and started again in mid-drain", harm=_driver_restarts),
)
"""All of them, in the order of the table."""
