"""The executors as the brain knows them: alive, marked, leaving, gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from streamjob_agent.bridge import Executor
from streamjob_agent.spread import id_order
from streamjob_agent.wire import ExecutorStatus

_DEAD_SHOWN = 20
_DEAD_KNOWN = 200


class Fleet:
    """Used by the agent's thread alone; what others see are the values it gives."""

    def __init__(self) -> None:
        self._live: dict[str, Executor] = {}
        self._dead: dict[str, Executor] = {}
        self._sent: set[str] = set()  # by us; that others leave the bridge tells, and that one may be back
        self.marked: frozenset[str] = frozenset()

    def update(self, live: Iterable[Executor]) -> None:
        """Take in the executors that are alive now."""
        now = {executor.executor_id: executor for executor in live}
        self._dead.update({name: executor for name, executor in self._live.items() if name not in now})
        for name in list(self._dead)[:-_DEAD_KNOWN]:
            del self._dead[name]
            self._sent.discard(name)
        self._live = now

    def left(self, executor_id: str) -> None:
        """Remember that an executor was decommissioned just now: it is alive for a while, but receives nothing more."""
        self._sent.add(executor_id)

    @property
    def _leaving(self) -> frozenset[str]:
        return frozenset(self._sent) | {name for name, executor in self._live.items() if executor.leaving}

    @property
    def live(self) -> tuple[str, ...]:
        """Ids of the executors alive, leaving ones among them, in order."""
        return tuple(sorted(self._live, key=id_order))

    @property
    def shut(self) -> frozenset[str]:
        """Executors that receive no key group."""
        return self.marked | self._leaving

    @property
    def draining(self) -> bool:
        """Whether executors are here that are marked."""
        return not self.marked.isdisjoint(self._live)

    @property
    def past(self) -> frozenset[str]:
        """Executors that are leaving or gone."""
        return self._leaving | frozenset(self._dead)

    def get(self, executor_id: str) -> Executor:
        """A live executor; raises KeyError for any other."""
        return self._live[executor_id]

    def statuses(self, groups: Mapping[str, int]) -> tuple[ExecutorStatus, ...]:
        """Every live executor and the newest dead ones, with the number of groups that each holds."""
        dead, leaving = dict(list(self._dead.items())[-_DEAD_SHOWN:]), self._leaving
        return tuple(
            ExecutorStatus(
                executor_id=name,
                host=executor.host,
                cores=executor.cores,
                state=self._state(name, leaving),
                groups=groups.get(name, 0),
            )
            for name, executor in sorted({**dead, **self._live}.items(), key=lambda item: id_order(item[0]))
        )

    def _state(self, executor_id: str, leaving: Collection[str]) -> str:
        if executor_id not in self._live:
            return "dead"
        if executor_id in leaving:
            return "leaving"
        return "draining" if executor_id in self.marked else "ready"
