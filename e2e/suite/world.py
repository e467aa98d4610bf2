"""What every case stands on: the cluster, helm, the images, and how the suite's objects are made."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

from e2e.cluster import local
from e2e.cluster.kubectl import Kubectl

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CHART = ROOT / "charts" / "streamjob"
SYSTEM, RELEASE = "streamjob-system", "streamjob"
RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """Tags of the images that the nodes have."""

    operator: str
    agent: str
    spark: str
    prometheus: str


class World:
    """The cluster of KUBECONFIG. `volumes` is a folder that this machine and the nodes share under the same path."""

    def __init__(self, kubeconfig: Path, helm: Path, images: Images, volumes: Path) -> None:
        self.kubeconfig = kubeconfig
        self.images = images
        self.volumes = volumes
        self._helm = helm

    @classmethod
    def from_environment(cls) -> World:
        """As `python -m e2e.suite` has prepared it; raises KeyError without that."""
        names = {
            part: os.environ[f"STREAMJOB_E2E_{part.upper()}"] for part in ("operator", "agent", "spark", "prometheus")
        }
        return cls(
            Path(os.environ["KUBECONFIG"]),
            Path(os.environ["STREAMJOB_E2E_HELM"]),
            Images(**names),
            Path(os.environ["STREAMJOB_E2E_VOLUMES"]),
        )

    def kubectl(self, namespace: str) -> Kubectl:
        """An administrator's kubectl in a namespace."""
        return Kubectl(self.kubeconfig, namespace)

    @property
    def helm_program(self) -> Path:
        """The real helm."""
        return self._helm

    def helm(self, *arguments: str, timeout_s: float = 180.0) -> str:
        """helm in the operator's namespace; fails with what it says."""
        command = [str(self._helm), f"--kubeconfig={self.kubeconfig}", f"--namespace={SYSTEM}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
        assert done.returncode == 0, f"helm {' '.join(arguments)}: {done.stderr or done.stdout}"
        return done.stdout

    def chart_values(self) -> list[str]:
        """Settings of the chart for this cluster: the images that were just made."""
        repository, _, tag = self.images.operator.rpartition(":")
        values = {"image.repository": repository, "image.tag": tag, "image.pullPolicy": "Never"}
        return [f"--set={name}={value}" for name, value in values.items()]

    def join(self) -> bool:
        """Give the local cluster its second node, and wait until it is Ready; False on any other cluster."""
        if self.kubeconfig != local.kubeconfig():
            return False
        local.join()
        return True

    def namespace(self, name: str, labels: dict[str, str] | None = None) -> Kubectl:
        """A namespace, made if need be, with its account."""
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels or {}}}
        kubectl = self.kubectl(name)
        kubectl.apply(document)
        kubectl.wait_for_account()
        return kubectl

    def volume(self, kubectl: Kubectl, namespace: str) -> Path:
        """A new folder that pods of the namespace mount as the claim `data`."""
        folder = self.volumes / namespace
        shutil.rmtree(folder, ignore_errors=True)
        for part in ("", "input", "events"):
            (folder / part).mkdir(parents=True, exist_ok=True)
            (folder / part).chmod(0o777)  # pods run as users of their own
        volume, phase = f"persistentvolume/{namespace}-data", "jsonpath={.status.phase}"
        # What an interrupted run leaves without its claim is given to no other claim.
        if kubectl("get", volume, "--ignore-not-found", "-o", phase) == "Released":
            kubectl("delete", volume)
        kubectl("apply", "-f", "-", text=filled("volume.yaml", NAMESPACE=namespace, FOLDER=str(folder)))
        return folder

    def prometheus(self) -> None:
        """A Prometheus that scrapes the suite's jobs."""
        kubectl = self.namespace("metrics", RESTRICTED)
        kubectl("apply", "-f", "-", text=filled("prometheus.yaml", PROMETHEUS_IMAGE=self.images.prometheus))
        kubectl("wait", "--for=condition=Ready", "--timeout=50s", "pod/prometheus")

    def measured(self, expression: str) -> float | None:
        """The one value of a query to that Prometheus, None where there is none."""
        path = f"/api/v1/namespaces/metrics/services/prometheus:9090/proxy/api/v1/query?query={quote(expression)}"
        result = json.loads(self.kubectl("metrics")("get", "--raw", path))["data"]["result"]
        return float(result[0]["value"][1]) if result else None


def filled(name: str, **words: str) -> str:
    """A file beside this one, its capital words replaced."""
    text = (HERE / name).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def config_map(name: str, **files: Path) -> dict[str, Any]:
    """A ConfigMap of files; a double underscore in a key stands for its dot."""
    data = {key.replace("__", "."): path.read_text(encoding="utf-8") for key, path in files.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
