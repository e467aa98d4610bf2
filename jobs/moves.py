"""The agent on a session, and somebody who moves key groups at random: the only file here that imports StreamJob."""

from __future__ import annotations

import collections
import contextlib
import pathlib
import random
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import streamjob_agent
from jobs.drain import Drain
from streamjob_agent import notebook, tokens
from streamjob_agent.config import AgentConfig
from streamjob_agent.wire import AgentStatus, Assignment, QueryStatus, assignment_to_json, status_from_json

POLL_S = 0.2
MOVED_RATIO = 0.5
"""Share of all key groups that get another owner with each batch, by chance the old one."""


class Mover:
    """Gives half of the key groups of every query a random owner whenever a query has ended a batch.

    Who makes the file `drain` asks for an executor to be drained (`jobs.drain`).
    """

    def __init__(self, address: str, seed: int, drain: pathlib.Path) -> None:
        self._address = address
        self._chance = random.Random(seed)
        self._drain = Drain(drain, self._chance)
        self._generation = 0
        self._batches: dict[str, int | None] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mover", daemon=True)
        self.failure: Exception | None = None
        self._lock = threading.Lock()
        self._owners: dict[str, Mapping[int, tuple[str | None, ...]]] = {}
        self._moves: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[str] = collections.Counter()

    def start(self) -> None:
        """Begin to move."""
        self._thread.start()

    def stop(self) -> None:
        """No more moves; raises what went wrong meanwhile."""
        self._stop.set()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def known(self, query_ids: Set[str]) -> list[QueryStatus]:
        """Those of the queries that the agent tells of, as they are now."""
        return [query for query in self._look().queries if query.query_id in query_ids]

    def moves(self, query_ids: Set[str]) -> int:
        """Key groups of these queries that were seen to run elsewhere than before; the agent counts by assignment."""
        return sum(self._moves[query_id] for query_id in query_ids)

    def _run(self) -> None:
        try:
            while not self._stop.wait(POLL_S):
                self.turn()
        except Exception as error:  # noqa: BLE001 - told by stop, in the thread that asks
            self.failure = error

    def turn(self) -> None:
        """Look once, and move where a batch has ended since."""
        status = self._look()
        states = {one.executor_id: one.state for one in status.executors}
        if self._drain.look(states):
            self._batches.clear()  # queries that rest have to leave it, too
        ready = sorted(one for one, state in states.items() if state == "ready" and one != self._drain.leaver)
        empty = {one.executor_id for one in status.executors if one.groups == 0}
        remove = tuple(one for one in self._drain.leaving if one in empty)  # the agent refuses one that holds some
        for query in status.queries:
            if ready and query.batch_id is not None and self._batches.get(query.query_id) != query.batch_id:
                self._batches[query.query_id] = query.batch_id
                self._assign(status.application_id, query, self._shuffled(query, ready), remove)

    def _shuffled(self, query: QueryStatus, ready: list[str]) -> Mapping[int, tuple[str | None, ...]]:
        return {
            operator: tuple(self._owner(owner, ready) for owner in owners) for operator, owners in query.owners.items()
        }

    def _owner(self, owner: str | None, ready: Sequence[str]) -> str | None:
        moved = self._chance.random() < MOVED_RATIO or (owner is not None and owner in self._drain.leaving)
        return self._chance.choice(ready) if moved else None

    def _look(self) -> AgentStatus:
        with urllib.request.urlopen(f"{self._address}/v1/status", timeout=10) as answer:
            status = status_from_json(answer.read().decode())
        with self._lock:
            for query in status.queries:
                before = self._owners.get(query.query_id, {})
                self._moves[query.query_id] += sum(
                    _changed(before.get(at, ()), row) for at, row in query.owners.items()
                )
                self._owners[query.query_id] = query.owners
        return status

    def _assign(
        self, application: str, query: QueryStatus, owners: Mapping[int, tuple[str | None, ...]], remove: Sequence[str]
    ) -> None:
        self._generation += 1
        assignment = Assignment(
            generation=self._generation,
            application_id=application,
            query_id=query.query_id,
            executors_target=self._drain.target,
            marked_for_removal=tuple(self._drain.leaving),
            remove=tuple(remove),
            owners=owners,
        )
        request = urllib.request.Request(
            f"{self._address}/v1/assignment",
            data=assignment_to_json(assignment).encode(),
            method="PUT",
            headers={"Authorization": f"Bearer {tokens.find(self._address)}"},
        )
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:  # a query may end between the look and the wish
            self.refused[error.read().decode()] += 1


def _changed(before: Sequence[str | None], now: Sequence[str | None]) -> int:
    return sum(one != other for one, other in zip(before, now, strict=False) if one is not None)


@contextlib.contextmanager
def moving(session: Any, seed: int, drain: pathlib.Path) -> Iterator[Mover]:
    """The agent attached and key groups on the move, executors drained on demand; all of it ends with the block."""
    # However busy the machine is, the agent looks after each batch: what moves is the point here, not what it costs.
    address = streamjob_agent.install(session, AgentConfig(poll_s=POLL_S, overhead_ratio=1.0))
    if address is None:
        raise RuntimeError("the agent could not be installed; its log on this process's error output says why.")
    mover = Mover(f"http://{address}", seed, drain)
    mover.start()
    try:
        yield mover
    finally:
        try:
            mover.stop()
        finally:
            notebook.uninstall()
