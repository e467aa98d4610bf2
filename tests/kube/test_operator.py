"""The operator as a process against a real API server, with the real agent over a Spark on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kubectl import Kubectl, eventually
from operator_process import OperatorProcess
from paper_spark import PaperDriver, PaperSpark
from worlds import JOB, SKEWED, driver_pod, stream_job


def condition(status: dict[str, Any], kind: str) -> str:
    """`True/Reason` of a condition, or nothing."""
    found = [one for one in status.get("conditions", ()) if one["type"] == kind]
    return f"{found[0]['status']}/{found[0]['reason']}" if found else ""


class Stage:
    """One namespace with a StreamJob, its driver and an operator."""

    def __init__(self, kubectl: Kubectl, kubeconfig: Path, namespace: str, stack: ExitStack) -> None:
        self.kubectl = kubectl
        self.kubeconfig = kubeconfig
        self.namespace = namespace
        self.stack = stack

    def operator(self, *options: str) -> OperatorProcess:
        return self.stack.enter_context(OperatorProcess(self.kubeconfig, self.namespace, *options))

    def job(self, spark: PaperSpark | None = None, **changes: dict[str, Any]) -> PaperSpark:
        spark = spark or PaperSpark(SKEWED, executors=2)
        self.kubectl.apply(driver_pod(), stream_job(**changes))
        self.stack.enter_context(PaperDriver(spark, self.namespace, JOB))
        return spark

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.kubectl.get("streamjob", JOB).get("status", {})
        return found

    def until(self, check: Callable[[dict[str, Any]], Any], timeout_s: float = 90.0) -> dict[str, Any]:
        """The status once `check` holds."""
        seen: dict[str, Any] = {}

        def look() -> bool:
            seen.clear()
            seen.update(self.status())
            return bool(check(seen))

        try:
            eventually(look, timeout_s, every_s=0.3)
        except AssertionError as error:
            raise AssertionError(f"{error}; status: {seen}") from error
        return seen


@pytest.fixture
def stage(kubectl: Kubectl, api_server: Path, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setenv("KUBECONFIG", str(api_server))  # for the agents, which run in this process
    with ExitStack() as stack:
        yield Stage(kubectl, api_server, namespace, stack)


def test_a_skewed_job_ends_balanced(stage: Stage) -> None:
    operator = stage.operator()
    spark = stage.job()
    status = stage.until(lambda one: condition(one, "Balanced") == "True/Balanced")
    assert spark.distance() <= 5
    assert condition(status, "Ready") == "True/Adopted"
    assert status["phase"] == "Running"
    assert operator.end() == 0
