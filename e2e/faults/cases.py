"""All faults, in the order of the table; here are those of Prometheus and of the driver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from e2e.faults.case import Case, Tools, acting, begin
from e2e.faults.deaths import DEATHS
from e2e.faults.server import SERVER
from e2e.faults.stage import Stage, condition
from e2e.faults.surroundings import SURROUNDINGS


def _nothing(stage: Stage, _: Tools) -> str:
    begin(stage)
    return ""


NOTICED = ("PrometheusUnavailable", "TargetMissing")
"""Reasons that speak of Prometheus itself."""


def _prometheus(name: str, hurt: Callable[[Tools], object]) -> Case:
    """What stands between the operator and Prometheus misbehaves for a while, from the first drain on."""

    def harm(stage: Stage, tools: Tools) -> str:
        begin(stage)
        acting(stage)
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
    acting(stage)
    first.kill()
    time.sleep(3.0)
    stage.driver()
    return "3 s without a driver"


CASES: tuple[Case, ...] = (
    Case(name="nothing", harm=_nothing),
    *DEATHS,
    *SERVER,
    *SURROUNDINGS,
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
