"""Two threads beside the agent: one follows the PartitionMap, one writes its status. Failures are counted, no more."""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from streamjob_agent.config import AgentConfig
from streamjob_agent.guard import Guard
from streamjob_agent.kube.access import find_access
from streamjob_agent.kube.api import GONE, ApiFailure, HttpMapApi, MapApi
from streamjob_agent.kube.feed import Feed
from streamjob_agent.kube.pacing import Backoff, WritePace, heartbeat_s
from streamjob_agent.listening import EVERYWHERE, own_address, shown
from streamjob_agent.map_form import status_to_map
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.wire import AgentStatus, Assignment

WATCH, STATUS = "map_watch", "map_status"
_TICK_S = 1.0


class MapDesk(Protocol):
    """The agent as the map sees it. Any method may raise anything."""

    @property
    def address(self) -> str | None:
        """`host:port` of its HTTP side, None when it does not listen."""

    def status(self) -> AgentStatus:
        """The agent's status now."""

    def submit(self, assignment: Assignment) -> str | None:
        """Take an assignment; why it is refused, None when it is taken."""


class MapClient:
    """Follows one PartitionMap from `start` to `stop`. The last assignment stays in force while the API is away."""

    def __init__(
        self, desk: MapDesk, api: MapApi, guard: Guard, memory: AssignmentMemory, tick_s: float = _TICK_S
    ) -> None:
        self._desk = desk
        self._api = api
        self._guard = guard
        self._memory = memory
        self._tick_s = tick_s
        self._feed = Feed(desk.submit, self._remember)
        self._pace = WritePace()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._forever, args=(place, turn), name=f"streamjob-{place}", daemon=True)
            for place, turn in ((WATCH, self.follow_once), (STATUS, self.report_once))
        ]

    def start(self) -> None:
        """Start both threads; returns at once."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads after what they are waiting for; returns at once."""
        self._stop.set()

    def _forever(self, place: str, turn: Callable[[], None]) -> None:
        backoff, wait_s = Backoff(), 0.0
        while not self._stop.wait(wait_s):
            try:
                turn()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next turn may work, and the job goes on
                self._guard.report(place, error)
                wait_s = backoff.failed(error.retry_after_s if isinstance(error, ApiFailure) else None)
            else:
                backoff.worked()
                wait_s = self._tick_s

    def follow_once(self) -> None:
        """Read the map, then watch it from there until the server forgets where we were, or something fails."""
        newest = self._api.read()
        self._feed.offer(newest)
        version = str(newest["metadata"]["resourceVersion"])
        while not self._stop.is_set():
            try:
                version = self._watch(version)
            except ApiFailure as failure:
                if failure.code == GONE:  # too old a version: an everyday answer, and no error
                    return
                raise
            self._stop.wait(self._tick_s)  # a server that ends every watch at once must not make us spin

    def _watch(self, version: str) -> str:
        for kind, found in self._api.watch(version):
            version = str((found.get("metadata") or {}).get("resourceVersion") or version)
            if kind in ("ADDED", "MODIFIED"):
                self._feed.offer(found)
            if self._stop.is_set():
                break
        return version

    def report_once(self) -> None:
        """Offer again what was refused, then write the status if it is time."""
        self._guard.call("map_submit", self._feed.again, None)
        status, now_s = self._status(), time.monotonic()
        if self._pace.due(status, now_s):
            fields = self._fields(status)
            answer = self._api.write_status(fields)
            self._pace.wrote(status, len(json.dumps(fields)), now_s)
            self._feed.offer(answer)  # the whole object comes back: news even while no watch gets through

    def _status(self) -> AgentStatus:
        status, refused = self._desk.status(), self._feed.unreadable or self._feed.refused
        return dataclasses.replace(status, refused=refused) if refused else status

    def _fields(self, status: AgentStatus) -> dict[str, Any]:
        url = self._guard.call("map_address", lambda: agent_url(self._desk.address), None)
        told = {"agentUrl": url, "ignored": list(self._feed.unknown), "heartbeatSeconds": heartbeat_s(status)}
        return {**status_to_map(status), **{name: value for name, value in told.items() if value}}

    def _remember(self, assignment: Assignment) -> None:
        """A hint for the first placement of a driver that has no memory of its own; newer plans replace it."""

        def save() -> None:
            if self._memory.load(assignment.query_id) is None:
                self._memory.save(assignment)

        self._guard.call("map_hint", save, None)


def agent_url(address: str | None) -> str | None:
    """`http://host:port` for others on the network; raises OSError when this machine does not know its own address."""
    host, _, port = (address or "").rpartition(":")
    if not host:
        return None
    return f"http://{shown(own_address() if host in EVERYWHERE else host)}:{port}"


def prepared(config: AgentConfig) -> AgentConfig:
    """What a PartitionMap implies: a memory, because the map is one, and a token, because only the map steers then.

    Neither replaces one that is given. Raises OSError when no folder can be made.
    """
    if config.partition_map is None:
        return config
    return dataclasses.replace(
        config,
        state_dir=config.state_dir or tempfile.mkdtemp(prefix="streamjob-"),
        token=config.token or secrets.token_urlsafe(),
    )


def follow(
    desk: MapDesk, config: AgentConfig, guard: Guard, environ: Mapping[str, str] = os.environ
) -> MapClient | None:
    """Start to follow the PartitionMap that the configuration names, if it names one; returns at once."""
    if config.partition_map is None:
        return None
    namespace, _, name = config.partition_map.partition("/")
    api = HttpMapApi(lambda: find_access(environ), namespace, name)
    client = MapClient(desk, api, guard, AssignmentMemory(config.state_dir))
    client.start()
    return client
