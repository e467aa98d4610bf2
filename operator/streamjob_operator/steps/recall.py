"""What memory means in the light of a new snapshot: new drivers, lost memory, executors that are gone."""

from __future__ import annotations

import dataclasses

from streamjob_operator.steps.batching import learn_batches, live
from streamjob_operator.steps.learn import learn
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.batch.knowledge import Knowledge


def recall(memory: Memory, snapshot: Snapshot, now_s: float) -> Memory:
    """The memory to think with."""
    memory = _of_this_clock(memory, snapshot, now_s)
    memory = _of_this_run(_of_these_queries(_of_this_driver(memory, snapshot, now_s), snapshot), snapshot)
    memory = _with_fleet(memory, snapshot, now_s)
    return _with_wishes(learn_batches(learn(memory, snapshot), snapshot), snapshot, now_s)


def recall_unmeasured(memory: Memory, snapshot: Snapshot, now_s: float) -> Memory:
    """The same from what is seen without measurements: who is there, and nothing is learned."""
    return _with_wishes(_with_fleet(_of_this_driver(memory, snapshot, now_s), snapshot, now_s), snapshot, now_s)


def _with_wishes(memory: Memory, snapshot: Snapshot, now_s: float) -> Memory:
    """What is wanted and marked, as far as it still means something."""
    marked = _still_marked(memory, snapshot)
    ready = sum(1 for one in snapshot.executors if one.state == "ready" and one.executor_id not in marked)
    wanted = ready if memory.executors_target is None or _behind(memory, snapshot) else memory.executors_target
    return dataclasses.replace(
        memory,
        generation=max(memory.generation, snapshot.generation_applied or 0),
        marked=marked,
        executors_target=wanted,
        target_since_s=None if ready >= wanted else memory.target_since_s or now_s,
    )


def _of_this_clock(memory: Memory, snapshot: Snapshot, now_s: float) -> Memory:
    """A clock may have been set back, or another controller's be ahead. What was learned up to a moment that has not
    come would be all that is learned until it has, and the job be left as it is; so all of that is learned anew.

    Less than a window is as much as a cycle waits anyway.
    """
    batches = memory.batches
    told = (memory.first_seen_s, memory.acted_at_s, memory.fleet_since_s, memory.learned_at_s, batches.at_s)
    latest_s = max(now_s, snapshot.taken_at_s) + snapshot.window_s
    if all(at_s is None or at_s <= latest_s for at_s in told):
        return memory
    return Memory(
        generation=memory.generation,
        application_id=memory.application_id,
        executors_target=memory.executors_target,
        marked=memory.marked,
        approved_plan=memory.approved_plan,
        first_seen_s=now_s,
        queries=memory.queries,
        run_id=memory.run_id,
        groups_seen=memory.groups_seen,
        executors=memory.executors,
        arrivals=memory.arrivals,
        batches=Knowledge(moves=batches.moves),
        counters=memory.counters,
    )


def _of_this_driver(memory: Memory, snapshot: Snapshot, now_s: float) -> Memory:
    """Executor ids start anew with each driver: marks and a waiting plan of another one mean nothing.

    A restart may have brought other code, so batches are learned anew; what a move costs is up to state and storage.
    """
    if memory.application_id == snapshot.application_id:
        return memory
    return dataclasses.replace(
        memory,
        application_id=snapshot.application_id,
        target_since_s=None,
        marked=(),
        executors=(),
        arrivals=0,
        filling=False,
        stirred_at_s=None,
        lost_at_s=None,
        pending=None,
        shown=(),
        lag=None,
        first_seen_s=now_s,
        fleet_since_s=None,
        remote_reads=None,
        learned_at_s=None,
        batches=Knowledge(moves=memory.batches.moves),
    )


def _of_these_queries(memory: Memory, snapshot: Snapshot) -> Memory:
    """Once other queries share the driver, or another one leads, key groups have other names and a round of batches is
    another one: all of that is learned anew. Executors, marks and what moves cost stay."""
    queries = tuple(one.query_id for one in snapshot.queries)
    if queries == memory.queries:
        return memory
    return dataclasses.replace(
        memory,
        queries=queries,
        pending=None,
        shown=(),
        lag=None,
        moved=None,
        remote_reads=None,
        learned_at_s=None,
        batches=Knowledge(moves=memory.batches.moves, paces=memory.batches.paces),
    )


def _of_this_run(memory: Memory, snapshot: Snapshot) -> Memory:
    """The most key groups that this run of the query has shown: fewer than that is a page that lacks some."""
    known = memory.groups_seen if memory.run_id == snapshot.run_id else 0
    return dataclasses.replace(memory, run_id=snapshot.run_id, groups_seen=max(known, len(snapshot.group_ids)))


def _with_fleet(memory: Memory, snapshot: Snapshot, now_s: float) -> Memory:
    """Who came and who went: those that were expected take key groups by themselves, others make the plan an old one.

    Where executors took their share the measurements before that speak of another placement; a window in which any came
    or went holds batches of two fleets.
    """
    now, before = {one.executor_id for one in live(snapshot)}, set(memory.executors)
    filling = memory.filling and snapshot.moves_pending > 0
    if not before or now == before:
        return dataclasses.replace(memory, executors=tuple(sorted(now)), filling=filling)
    came, lost = len(now - before), before - now - set(memory.marked)
    expected = min(came, memory.arrivals)
    stirred = bool(lost) or came > expected
    return dataclasses.replace(
        memory,
        executors=tuple(sorted(now)),
        fleet_since_s=now_s,
        arrivals=memory.arrivals - expected,
        filling=filling or (expected > 0 and snapshot.moves_pending > 0),
        acted_at_s=snapshot.taken_at_s if expected and not stirred else memory.acted_at_s,
        stirred_at_s=now_s if stirred else memory.stirred_at_s,
        lost_at_s=now_s if lost else memory.lost_at_s,
    )


def _behind(memory: Memory, snapshot: Snapshot) -> bool:
    """The controller died after it acted and before it saved: what it wanted then must be read off the world."""
    return memory.generation < (snapshot.generation_applied or 0)


def _still_marked(memory: Memory, snapshot: Snapshot) -> tuple[str, ...]:
    """Marks on executors that still live, and those that an agent with a newer generation drains.

    Marks on every executor would leave no place to go: the drain is then given up.
    """
    alive = {executor.executor_id for executor in live(snapshot)}
    marked = tuple(one for one in memory.marked if one in alive)
    if _behind(memory, snapshot):
        draining = (one.executor_id for one in snapshot.executors if one.state == "draining")
        marked = (*marked, *(one for one in draining if one not in marked))
    return () if alive and alive <= set(marked) else marked


def empty_of(marked: tuple[str, ...], snapshot: Snapshot) -> tuple[str, ...]:
    """Marked executors that hold no key group (algorithm 1 of the ALBIC paper: terminate those first).

    Nor may any be registered there whose first task is still to come, as while a long batch runs: measurements do not
    show these, the agent counts them.
    """
    unmeasured = (one for held in snapshot.unmeasured.values() for one in held)
    told = (one.executor_id for one in snapshot.executors if one.groups)
    owners = {*snapshot.owners, *unmeasured, *told}
    return tuple(one for one in marked if one not in owners)
