"""A fleet that does not rest: jobs are deleted and made again, specs edited, drivers die and come back."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.ports import Unavailable

POLL_S, LONGEST_S = 0.5, 120.0
DEADLINES = ("400ms", "500ms")
"""Plan deadlines between which an edit changes."""


class Churn:
    """One event every `every_s` seconds on a job drawn by chance, in a thread of its own; a context manager.

    `make` creates those of a job's objects that are not there.
    """

    def __init__(
        self, api: KubeApi, namespace: str, names: list[str], every_s: float, make: Callable[[str], None]
    ) -> None:
        self._api, self._namespace, self._names, self._every_s, self._make = api, namespace, names, every_s, make
        self._rng = np.random.default_rng(3)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self.happened: Counter[str] = Counter()

    def __enter__(self) -> Churn:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(LONGEST_S + 20.0)

    def left_over(self) -> Mapping[str, int]:
        """After its end: jobs that are missing or being deleted, and maps without a job."""
        jobs = {one["metadata"]["name"]: one for one in self._api.list(STREAM_JOBS, self._namespace)}
        maps = {one["metadata"]["name"] for one in self._api.list(PARTITION_MAPS, self._namespace)}
        ending = sum("deletionTimestamp" in one["metadata"] for one in jobs.values())
        return {
            "jobs missing": len(set(self._names) - jobs.keys()),
            "jobs being deleted": ending,
            "maps without a job": len(maps - jobs.keys()),
        }

    def _go_on(self) -> None:
        events = (self._again, self._edited, self._driver_again)
        while not self._stop.wait(self._every_s):
            event, name = events[int(self._rng.integers(len(events)))], str(self._rng.choice(self._names))
            try:
                event(name)
            except (Unavailable, Refused):
                self.happened["not done by the API server"] += 1

    def _again(self, name: str) -> None:
        self._api.delete(STREAM_JOBS, name, self._namespace)
        ended = self._until(lambda: self._api.get(STREAM_JOBS, name, self._namespace) is None)
        self._make(name)
        self.happened["jobs deleted and made again" if ended else "jobs that were not deleted in time"] += 1

    def _edited(self, name: str) -> None:
        deadline = str(self._rng.choice(DEADLINES))
        self._api.merge_patch(STREAM_JOBS, name, self._namespace, {"spec": {"balancing": {"planDeadline": deadline}}})
        self.happened["specs edited"] += 1

    def _driver_again(self, name: str) -> None:
        self._api.delete(PODS, name, self._namespace)
        self._until(lambda: self._api.get(PODS, name, self._namespace) is None)
        self._make(name)
        self.happened["drivers gone and come back"] += 1

    def _until(self, there: Callable[[], bool]) -> bool:
        """Whether it came true in time; what has begun is brought to its end, also when the fleet stops."""
        until_s = time.monotonic() + LONGEST_S
        while not (found := there()) and time.monotonic() < until_s:
            time.sleep(POLL_S)
        return found
