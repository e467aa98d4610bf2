"""What is done to a job: key groups moved at random, an executor drained, one more, one killed, queries restarted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from e2e.compatibility import rows
from e2e.compatibility.running import NotSeen, Running
from streamjob_agent import metric_names
from streamjob_agent.wire import AgentStatus, QueryStatus

ROUNDS = 3
"""Of random moves in a row."""
BATCHES_AFTER = 2
"""Batches that have to end after an executor was killed, so that its key groups have run elsewhere."""
STATE_BYTES = re.compile(rf"^{metric_names.GROUP_STATE_BYTES}{{.*}} [1-9]", re.MULTILINE)
Owners = Mapping[int, tuple[str | None, ...]]
Act = Callable[[Running, Sequence[str], random.Random], str]
"""Does it to the program's queries of these names, and tells what was seen."""


def move(running: Running, names: Sequence[str], chance: random.Random) -> str:
    """Every key group gets a random owner, several times."""
    moved = 0
    for _ in range(ROUNDS):
        before = _ready(running, names)
        wanted = {one.query_id: _owners(one, _open(before), chance) for one in before.queries}
        after = _carry_out(running, before, wanted)
        seen = {one.query_id: one for one in after.queries}
        moved += sum(_changed(one, seen[one.query_id]) for one in before.queries)
    if not moved:
        raise NotSeen("key groups on the move: none was seen to run elsewhere")
    return f"{moved} moves"


def drain(running: Running, names: Sequence[str], chance: random.Random) -> str:
    """One executor is marked, emptied and leaves."""
    before = _ready(running, names)
    names_open = _open(before)
    leaver = names_open[-1]
    stay = [one for one in names_open if one != leaver]
    wanted = {
        one.query_id: {
            operator: tuple(chance.choice(stay) if owner == leaver else None for owner in owners)
            for operator, owners in one.owners.items()
        }
        for one in before.queries
    }
    _assign(running, before, wanted, marked_for_removal=(leaver,))
    empty = running.until(f"no key group on executor {leaver}", lambda status: not _held(status, leaver))
    _assign(running, empty, {}, marked_for_removal=(leaver,), remove=(leaver,), executors_target=len(stay))
    running.until(f"executor {leaver} gone", lambda status: leaver not in _present(status))
    return "one drained"


def scale_out(running: Running, names: Sequence[str], chance: random.Random) -> str:
    """One executor more, which gets key groups."""
    before = _ready(running, names)
    known = _open(before)
    _assign(running, before, {}, executors_target=len(known) + 1)
    there = running.until("an executor more", lambda status: len(_open(status)) > len(known))
    newcomer = next(one for one in _open(there) if one not in known)
    wanted: dict[str, Owners] = {
        one.query_id: {
            operator: tuple(newcomer if i % 3 == 0 else None for i in range(len(owners)))
            for operator, owners in one.owners.items()
        }
        for one in _ready(running, names).queries
    }
    _carry_out(running, there, wanted)
    return "one came"


def kill(running: Running, names: Sequence[str], chance: random.Random) -> str:
    """An executor with key groups is killed hard."""
    before = _ready(running, names)
    victim = next(owner for one in before.queries for row in one.owners.values() for owner in row if owner)
    running.kill_executor(before, victim)
    last = {one.query_id: one.batch_id or 0 for one in before.queries}

    def over(status: AgentStatus) -> bool:
        return last.keys() <= {one.query_id for one in status.queries} and all(
            (one.batch_id or 0) >= last.get(one.query_id, 0) + BATCHES_AFTER
            and all(owner != victim for row in one.owners.values() for owner in row)
            for one in status.queries
        )

    running.until(f"batches without executor {victim}, killed", over)
    return "one killed"


def sizes(running: Running, names: Sequence[str], chance: random.Random) -> str:
    """The agent tells what each key group's state takes in the checkpoint, and does its other work meanwhile."""
    wanted = sum(len(row) for one in _ready(running, names).queries for row in one.owners.values())

    def told(status: AgentStatus) -> bool:
        if status.reason == "Stuck":
            raise NotSeen(f"the agent at work: {status.message}")
        return len(STATE_BYTES.findall(running.page())) == wanted

    errors = running.until(f"state sizes of {wanted} key groups", told).errors_total
    return f"state sizes of {wanted} key groups told" + (f" beside {errors} errors of the agent" if errors else "")


def restart(running: Running, names: Sequence[str], chance: random.Random) -> str:
    """Every query is stopped and started again on its checkpoint."""
    before = {one.name: one.run_id for one in _ready(running, names).queries}
    running.ask("restart")
    running.until(
        "new runs of the queries",
        lambda status: {one.name for one in status.queries if one.run_id != before.get(one.name)} >= set(names),
    )
    return "restarted"


ACTS: Mapping[str, Act] = {
    rows.MOVES: move,
    rows.DRAIN: drain,
    rows.SCALE_OUT: scale_out,
    rows.KILL: kill,
    rows.RESTART: restart,
    rows.SIZES: sizes,
}


def _ready(running: Running, names: Sequence[str]) -> AgentStatus:
    """A status with every query's owners known and an executor to spare."""

    def known(status: AgentStatus) -> bool:
        found = {one.name: one for one in status.queries}
        return len(_open(status)) > 1 and all(
            name in found and found[name].owners and all(None not in row for row in found[name].owners.values())
            for name in names
        )

    return running.until("every key group's owner", known)


def _carry_out(running: Running, status: AgentStatus, wanted: Mapping[str, Owners]) -> AgentStatus:
    _assign(running, status, wanted)

    def obeyed(now: AgentStatus) -> bool:
        seen = {one.query_id: one.owners for one in now.queries}
        return all(
            goal in (None, owner)
            for query_id, owners in wanted.items()
            for operator, row in owners.items()
            for goal, owner in zip(row, seen.get(query_id, {}).get(operator, [None] * len(row)), strict=True)
        )

    return running.until("key groups where they are wanted", obeyed)


def _assign(running: Running, status: AgentStatus, wanted: Mapping[str, Owners], **fields: object) -> None:
    for one in status.queries:
        running.assign(status, one.query_id, owners=wanted.get(one.query_id, {}), **fields)


def _owners(query: QueryStatus, executors: Sequence[str], chance: random.Random) -> Owners:
    return {operator: tuple(chance.choice(executors) for _ in row) for operator, row in query.owners.items()}


def _changed(before: QueryStatus, after: QueryStatus) -> int:
    return sum(
        old != new
        for operator, row in before.owners.items()
        for old, new in zip(row, after.owners.get(operator, ()), strict=False)
    )


def _open(status: AgentStatus) -> list[str]:
    return sorted(one.executor_id for one in status.executors if one.state == "ready")


def _held(status: AgentStatus, executor_id: str) -> int:
    return sum(one.groups for one in status.executors if one.executor_id == executor_id)


def _present(status: AgentStatus) -> set[str]:
    return {one.executor_id for one in status.executors if one.state != "dead"}
