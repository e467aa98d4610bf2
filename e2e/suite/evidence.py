"""A pytest plugin: keeps what the cluster knows about a failed case, and prints the table of all cases."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.cluster.kubectl import Kubectl
from e2e.suite.job import NAMESPACE
from e2e.suite.world import SYSTEM

Recorder = Callable[[str, object], None]
Sayer = Callable[[str], None]
_TOLD = "told"


def sayer(record: Recorder) -> Sayer:
    """Takes a sentence for the table and the JUnit file."""
    return lambda sentence: record(_TOLD, sentence)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """After a failed case: pods, events, objects and logs into a folder of its name."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.failed and not report.skipped:
        keep(Path(os.environ["STREAMJOB_E2E_OUT"]) / re.sub(r"\W+", "-", f"{item.name}-{report.when}"))


def keep(folder: Path) -> None:
    """Everything that a person needs to find out what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    kubeconfig = Path(os.environ["KUBECONFIG"])
    _save(Kubectl(kubeconfig), folder / "nodes.txt", "describe", "nodes")
    for namespace in (SYSTEM, NAMESPACE, "adopted", "kafka", "demo", "metrics"):
        kubectl = Kubectl(kubeconfig, namespace)
        _save(kubectl, folder / f"{namespace}-objects.txt", "get", "all,sj,partitionmaps,pvc", "-o", "wide")
        _save(
            kubectl,
            folder / f"{namespace}-events.txt",
            "get",
            "events.v1.events.k8s.io",
            "--sort-by=.metadata.creationTimestamp",
        )
        _save(kubectl, folder / f"{namespace}-pods.txt", "describe", "pods")
        _save(kubectl, folder / f"{namespace}-streamjobs.yaml", "get", "sj,partitionmaps", "-o", "yaml")
        for pod in _words(kubectl, "get", "pods", "-o", "name"):
            _save(
                kubectl,
                folder / f"{namespace}-{pod.replace('/', '-')}.log",
                "logs",
                pod,
                "--all-containers",
                "--tail=3000",
            )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each case: outcome, seconds (setup included), name, figures."""
    seconds: dict[str, float] = {}
    rows: dict[str, tuple[str, str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            name = report.nodeid.rpartition("::")[2]
            seconds[name] = seconds.get(name, 0.0) + report.duration
            told = "; ".join(str(value) for key, value in report.user_properties if key == _TOLD)
            if report.when == "call" or outcome != "passed":
                rows[name] = (outcome, told)
    for report in terminalreporter.getreports(""):  # setups and teardowns that passed
        name = report.nodeid.rpartition("::")[2]
        seconds[name] = seconds.get(name, 0.0) + report.duration
    terminalreporter.section("cases")
    for name, (outcome, told) in rows.items():
        sentence = name.removeprefix("test_").replace("_", " ")
        terminalreporter.write_line(f"{outcome:<8}{seconds[name]:>6.0f} s  {sentence}")
        if told:
            terminalreporter.write_line(f"{'':18}{told}")


def _save(kubectl: Kubectl, path: Path, *arguments: str) -> None:
    done = subprocess.run([*kubectl.command, *arguments], capture_output=True, text=True, timeout=60, check=False)
    path.write_text(done.stdout + done.stderr, encoding="utf-8")


def _words(kubectl: Kubectl, *arguments: str) -> list[str]:
    done = subprocess.run([*kubectl.command, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.split()
