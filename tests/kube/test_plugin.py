"""`kubectl streamjob ...` as kubectl itself finds and starts it: a program on PATH whose name begins with kubectl-."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kube_jobs import JOB, stream_job
from kubectl import Kubectl, program

SCRIPTS = Path(sys.executable).parent
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(api_server: Path, namespace: str, kubectl: Kubectl) -> Run:
    """Runs kubectl with our scripts on PATH, in a namespace with one StreamJob that no operator has seen."""
    kubectl.apply(stream_job())
    path = os.pathsep.join((str(SCRIPTS), os.environ["PATH"]))
    environ = {**os.environ, "PATH": path, "KUBECONFIG": str(api_server)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [program(), *arguments, f"--namespace={namespace}"]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)

    return run


def annotations(kubectl: Kubectl) -> dict[str, str]:
    found: dict[str, str] = kubectl.get("streamjob", JOB)["metadata"]["annotations"]
    return {name: value for name, value in found.items() if name.startswith("streamjob.dev/")}


def test_kubectl_lists_the_plugin(run: Run) -> None:
    assert str(SCRIPTS / "kubectl-streamjob") in run("plugin", "list").stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("top",), JOB),
        (("plan", JOB), f"{JOB} has no plan yet."),
        (("explain", JOB), "No cycle has been run yet"),
        (("history", JOB), f"{JOB} has no history yet."),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_what_it_shows_of_a_job(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done = run("streamjob", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


def test_what_it_asks_for_becomes_an_annotation(run: Run, kubectl: Kubectl) -> None:
    assert f"{JOB} is paused." in run("streamjob", "pause", JOB).stdout
    assert annotations(kubectl) == {"streamjob.dev/pause": "true"}
    assert f"{JOB} goes on." in run("streamjob", "resume", JOB).stdout
    assert annotations(kubectl) == {}
    for command in ("stop", "refresh"):
        assert run("streamjob", command, JOB).returncode == 0
    assert set(annotations(kubectl)) == {"streamjob.dev/stop", "streamjob.dev/refresh"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("approve", JOB), f"No plan of {JOB} waits for approval."),
        (("pause", "nobody"), "There is no StreamJob nobody in namespace"),
        (("explain", JOB, "--context=nowhere"), "nowhere"),
        (("what-if", JOB), f"{JOB} has no batches yet that can be predicted."),
        (("what-if", "nobody"), "There is no StreamJob nobody in namespace"),
        (("savings",), "No executor-hours were counted of that time."),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_a_failure(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done = run("streamjob", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
