"""The agents of a fleet of drivers on paper: the agent's own code reads, watches and writes each one's PartitionMap."""

from __future__ import annotations

import logging
import resource
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.operator.synthetic import SyntheticJob

from streamjob_agent.guard import Guard
from streamjob_agent.kube.access import from_kubeconfig
from streamjob_agent.kube.api import HttpMapApi
from streamjob_agent.kube.client import MapClient
from streamjob_agent.memory import AssignmentMemory


class Agents:
    """Two threads and two connections for each driver, as in a driver. A context manager."""

    def __init__(self, kubeconfig: Path, namespace: str, jobs: Sequence[SyntheticJob]) -> None:
        access = from_kubeconfig(str(kubeconfig))
        self._guards = [Guard() for _ in jobs]
        self._clients = [
            MapClient(job, HttpMapApi(lambda: access, namespace, job.name), guard, AssignmentMemory(None))
            for job, guard in zip(jobs, self._guards, strict=True)
        ]

    def __enter__(self) -> Agents:
        logging.getLogger("streamjob_agent").setLevel(logging.CRITICAL)  # a map that is not made yet, a thousand times
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # two connections for each of a thousand
        for client in self._clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Their threads end with the API server's connections, or with this process."""
        for client in self._clients:
            client.stop()

    def errors(self) -> dict[str, int]:
        """Failures of all of them by place: of requests, before maps are made and while the API server is busy."""
        found: Counter[str] = Counter()
        for guard in self._guards:
            found.update(guard.errors())
        return dict(found)
