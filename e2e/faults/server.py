"""The operator's way to the API server: errors, answers that lie, silence, watches cut off."""

from __future__ import annotations

import time
from collections.abc import Callable

from e2e.cluster.fault_proxy import Rule
from e2e.faults.case import Case, Tools, acting
from e2e.faults.stage import Stage, settled, until

OURS = ".*/streamjob.dev/.*"
MAP, STATUS = ".*/partitionmaps/[^/]+", ".*/streamjobs/[^/]+/status"
LEASES, PODS, EVENTS = ".*/leases(/[^/]+)?", ".*/pods(/[^/]+)?", ".*/events(/[^/]+)?"


def _lease_hangs(stage: Stage, tools: Tools) -> str:
    """The leader cannot renew, and nobody tells it so: it must have ended before another one leads."""
    stage.driver()
    first = stage.operator(tools.proxy.kubeconfig)
    acting(stage)
    leader = stage.lease_holder()
    stage.operator()
    tools.proxy.add(Rule(path=LEASES, hang_s=60.0))
    until("nobody took the lease over", lambda: stage.lease_holder() not in ("", leader))
    if first.pid is not None:
        raise TimeoutError("the old leader still ran when another one led")
    return "the old leader had ended before"


def _api(name: str, *rules: Callable[[], Rule], always: bool = False) -> Case:
    """The operator's way to the API server misbehaves from its first drain on, or all the time."""

    def harm(stage: Stage, tools: Tools) -> str:
        stage.driver()
        stage.pods()
        made = [tools.proxy.add(rule()) for rule in rules] if always else []
        stage.operator(tools.proxy.kubeconfig)
        acting(stage)
        made = made or [tools.proxy.add(rule()) for rule in rules]
        stage.wait("the fault never came", lambda status: any(one.applied for one in made) or settled(status))
        time.sleep(8.0)
        tools.proxy.clear()
        return f"{sum(one.applied for one in made)} requests"

    return Case(name=name, harm=harm)


SERVER: tuple[Case, ...] = (
    _api("API 409 on the PartitionMap", lambda: Rule(method="PATCH|PUT", path=MAP, status=409, times=3)),
    _api("API 409 on the status", lambda: Rule(method="PATCH|PUT", path=STATUS, status=409, times=3)),
    _api("API 429 with Retry-After", lambda: Rule(path=OURS, watch=False, status=429, retry_after_s=1, times=10)),
    _api("API 500 for 8 s", lambda: Rule(path=OURS, watch=False, status=500)),
    _api("API does it, then says 500", lambda: Rule(method="PATCH", path=OURS, status=500, after=True, times=4)),
    _api("API hangs", lambda: Rule(path=OURS, watch=False, hang_s=20.0, times=3)),
    # Three attempts fail, two seconds apart: after a fourth, ten seconds are over, and an operator ends (see "killed").
    _api("API 500 on the Lease", lambda: Rule(path=LEASES, status=500, times=3)),
    _api(
        "API makes and renews the Lease, then says 500",
        lambda: Rule(method="POST|PATCH", path=LEASES, status=500, after=True, times=4),
        always=True,
    ),
    Case(name="API hangs on the Lease, another takes over", harm=_lease_hangs),
    _api("API 500 on pods for 8 s", lambda: Rule(path=PODS, watch=False, status=500)),
    _api(
        "API marks pods, then says 500",
        lambda: Rule(method="PATCH", path=PODS, status=500, after=True, times=4),
        always=True,
    ),
    _api("API 500 on events for 8 s", lambda: Rule(path=EVENTS, watch=False, status=500)),
    _api(
        "API posts events, then says 500",
        lambda: Rule(method="POST|PATCH", path=EVENTS, status=500, after=True, times=4),
        always=True,
    ),
    _api("API cuts every watch after 1 s", lambda: Rule(watch=True, cut_after_s=1.0), always=True),
)
