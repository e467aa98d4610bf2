"""How soon the operator follows a person: one job after another is asked for a look, and waited for."""

from __future__ import annotations

import threading
import time

import numpy as np

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.refusals import NotFound
from streamjob_operator.kube.names import Annotation
from streamjob_operator.ports import Unavailable

POLL_S, LONGEST_S, PAUSE_S = 0.1, 60.0, 1.0


class Reactions:
    """Asks in a thread of its own; a context manager.

    What was not followed within LONGEST_S counts as that.
    """

    def __init__(self, api: KubeApi, namespace: str, names: list[str]) -> None:
        self._api = api
        self._namespace = namespace
        self._names = names
        self._rng = np.random.default_rng(2)
        self._stop = threading.Event()
        self._seconds: list[float] = []
        self._thread = threading.Thread(target=self._ask_on, daemon=True)

    def __enter__(self) -> Reactions:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(20.0)

    def taken(self) -> tuple[float, ...]:
        """Seconds from the annotation to the status that says it was followed, of those since the last call."""
        found, self._seconds = self._seconds, []
        return tuple(found)

    def _ask_on(self) -> None:
        while not self._stop.wait(PAUSE_S):
            try:
                self._ask(str(self._rng.choice(self._names)))
            except (Unavailable, NotFound):
                continue  # it is being made again

    def _ask(self, name: str) -> None:
        token, begun_s = str(time.time()), time.monotonic()
        self._api.merge_patch(
            STREAM_JOBS, name, self._namespace, {"metadata": {"annotations": {Annotation.REFRESH.value: token}}}
        )
        while not self._stop.wait(POLL_S):
            found = self._api.get(STREAM_JOBS, name, self._namespace) or {}
            if ((found.get("status") or {}).get("handled") or {}).get("refresh") == token:
                break
            if time.monotonic() - begun_s > LONGEST_S:
                break
        else:
            return
        self._seconds.append(time.monotonic() - begun_s)
