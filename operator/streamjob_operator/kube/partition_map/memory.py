"""The cycle's memory in StreamJob.status, completed by the PartitionMap, which is written first."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from streamjob_agent.wire import AgentStatus, Assignment, WireError
from streamjob_operator.kube.partition_map.maps import MapView
from streamjob_operator.kube.partition_map.packing import pack, unpack
from streamjob_operator.memory import UnreadableMemory, from_json, to_json
from streamjob_operator.values import Memory


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """`text` is what `memory` stands in as it is, None where nothing does; `trouble` says what could not be read."""

    memory: Memory
    text: str | None = None
    trouble: str | None = None


class StatusMemory:
    """MemoryStore of one cycle: has what was read of the status, hands the new memory to `keep`.

    `keep` writes it together with the rest of the status, at once. What could not be read is told to `warn`.
    """

    def __init__(self, known: Recalled, keep: Callable[[Memory], None], warn: Callable[[str], None]) -> None:
        self._known = known
        self._keep = keep
        self._warn = warn

    def load(self) -> Memory:
        """What was saved last, and what was decided after that by an operator that died before it could save it."""
        if self._known.trouble is not None:
            self._warn(self._known.trouble)
        return self._known.memory

    def save(self, memory: Memory) -> None:
        """Raises Unavailable, or Stale when another operator has saved since."""
        self._keep(memory)


def recalled(text: str | None, seen: MapView | None, now_s: float) -> Recalled:
    """What was remembered in that text, completed by the map that was seen."""
    try:
        kept = read_memory(text)
    except UnreadableMemory as error:
        # Safe: the generation and the executors that are being drained are taken over from the agent.
        return Recalled(memory=Memory(), trouble=f"The memory cannot be used, {error}; starting with a new one.")
    try:
        memory, trouble = adopt(kept, () if seen is None else seen.plan(), now_s), None
    except WireError as error:
        memory = kept if seen is None else _after(kept, seen)
        trouble = f"The newest plan cannot be read, {error}; the next one takes its place."
    return Recalled(memory=memory, text=text if memory is kept else None, trouble=trouble)


def without_outage(known: Recalled) -> Recalled:
    """Of a time without a driver, in which there is nothing to measure: what was missing before it is over."""
    if known.memory.outage is None:
        return known
    return dataclasses.replace(known, memory=dataclasses.replace(known.memory, outage=None), text=None)


def _after(memory: Memory, seen: MapView) -> Memory:
    """The memory once a plan was written that this version cannot read: what it asked for is read off the world."""
    if seen.generation <= memory.generation:
        return memory
    executors = () if seen.agent is None else seen.agent.executors
    return dataclasses.replace(
        memory,
        generation=seen.generation,
        executors_target=None,
        marked=tuple(one.executor_id for one in executors if one.state == "draining"),
        pending=None,
        shown=(),
    )


def read_memory(text: str | None) -> Memory:
    """The memory in a status, a new one where there is none; raises UnreadableMemory."""
    try:
        return from_json(unpack(text)) if text else Memory()
    except UnreadableMemory:
        raise
    except ValueError as error:
        raise UnreadableMemory(str(error)) from error


def memory_text(memory: Memory) -> str:
    """As it is kept in the status."""
    return pack(to_json(memory))


def marked_of(memory: Memory, agent: AgentStatus) -> tuple[str, ...]:
    """Executors of this agent's driver that are being drained. Ids start anew with each driver: until a cycle has
    measured this one, the marks that are remembered may be another's."""
    return memory.marked if memory.application_id in (None, agent.application_id) else ()


def adopt(memory: Memory, plan: Sequence[Assignment], now_s: float) -> Memory:
    """The memory that should have been saved after `plan` was written; the same one when it was."""
    if not plan or plan[0].generation <= memory.generation:
        return memory
    written, wanted = plan[0], memory.executors_target
    if written.executors_target is not None:
        leaving = set(written.marked_for_removal) - set(written.remove)
        wanted = written.executors_target - len(leaving)
    more = wanted is not None and wanted > (memory.executors_target or 0)
    return dataclasses.replace(
        memory,
        generation=written.generation,
        application_id=written.application_id,
        executors_target=wanted,
        target_since_s=now_s if more else memory.target_since_s,
        marked=written.marked_for_removal,
        acted_at_s=now_s,
        arrivals=max((place or 0 for one in plan for row in one.arrivals.values() for place in row), default=0),
        first_seen_s=now_s if memory.first_seen_s is None else memory.first_seen_s,
        pending=None,
        shown=(),
    )
