"""Carries accepted assignments out: placements, marks, removals and the number of executors. One thread uses it."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Collection, Mapping

from streamjob_agent import thefts, wish
from streamjob_agent.bridge import Query, SparkBridge
from streamjob_agent.fleet import Fleet
from streamjob_agent.guard import Guard
from streamjob_agent.ledger import Ledger
from streamjob_agent.memory import AssignmentMemory, hinted_owners
from streamjob_agent.steady import Looks
from streamjob_agent.whereabouts import Whereabouts
from streamjob_agent.wire import Assignment, GroupKey

ESSENTIAL = ("look", "drain", "place", "mark")
"""Places whose repeated failure turns actuation off: without them nobody knows where a group is or goes."""

RESULTS = ("done", "failed", "guard", "gathered")
"""Of moves; the last are those of the first spread, once traffic was known."""
_LONGEST_PAUSE = 64  # rounds between two requests for the same number of executors that failed


class Actuation:
    """What is wanted of Spark, and the calls that ask for it."""

    def __init__(self, bridge: SparkBridge, guard: Guard, memory: AssignmentMemory, failed_after: int) -> None:
        self.fleet = Fleet()
        self.wishes: dict[str, wish.Wish] = {}
        self._bridge = bridge
        self._guard = guard
        self._memory = memory
        self._failed_after = failed_after
        self._marks: dict[str, frozenset[str]] = {}
        self._told_marks: frozenset[str] = frozenset()
        self._recalled: set[str] = set()
        self._given: dict[str, dict[GroupKey, str]] = {}  # owners that the bridge chose, not taken over yet
        self._looks: dict[str, Looks] = {}
        self._where: dict[str, Whereabouts] = {}
        self._active: frozenset[str] = frozenset()
        self._idle: set[str] = set()
        self._past_moves: Counter[str] = Counter()  # of queries that are forgotten
        self._removals: tuple[str, ...] = ()
        self._target: int | None = None
        self._asked_target: int | None = None
        self._failed_target: int | None = None
        self._pause = 1  # rounds until a failed request is made again
        self._rounds_left = 0

    def recall(self) -> None:
        """Tell the bridge where groups of any query were: one may start before the agent has looked once."""
        for last in self._memory.all():
            self._recalled.add(last.query_id)
            self._bridge.remember(last.query_id, hinted_owners(last))

    def meet(self, active: frozenset[str]) -> None:
        """Start looking after new queries, and tell where an earlier driver had them; ended ones' marks are void."""
        for query_id in active - self.wishes.keys():
            self._guard.call("remember", functools.partial(self._remember, query_id), None)
            self.wishes[query_id] = wish.Wish(failed_after=self._failed_after)
        self._active = active
        self._marks = {query_id: marks for query_id, marks in self._marks.items() if query_id in active}
        self.fleet.marked = frozenset().union(*self._marks.values())

    def _remember(self, query_id: str) -> None:
        last = self._guard.call("placements", functools.partial(self._memory.load, query_id), None)
        if last is not None and query_id not in self._recalled:
            self._bridge.remember(query_id, hinted_owners(last))

    def adopt(self, assignment: Assignment, ledger: Ledger) -> None:
        """Take over an accepted assignment: marks count at once, moves and removals from the next boundary."""
        query_id = assignment.query_id
        before = self.wishes.get(query_id, wish.Wish(failed_after=self._failed_after))
        self.wishes[query_id] = wish.adopt(before, assignment, ledger.owners(query_id))
        self._marks[query_id] = frozenset(assignment.marked_for_removal)
        self.fleet.marked = frozenset().union(*self._marks.values())
        self._removals = assignment.remove
        self._target = assignment.executors_target
        if assignment.owners:  # one without them says nothing of where key groups should be after a restart
            self._guard.call("placements", lambda: self._memory.save(assignment), None)

    @property
    def busy(self) -> bool:
        """Whether anything is under way that a further round may bring on, though nothing has changed in Spark."""
        asks = self._target not in (None, self._asked_target) or self.fleet.shut != self._told_marks
        moving = any(self.wishes[query_id].goals or self.wishes[query_id].asked for query_id in self._active)
        given = not self._active.isdisjoint(self._given)
        return asks or moving or given or bool(self._removals)

    def hear(self, given: Mapping[str, Mapping[GroupKey, str]]) -> None:
        """Take in what the bridge chose by itself, by query id; it counts once the query is looked at."""
        for query_id, owners in given.items():
            self._given.setdefault(query_id, {}).update(owners)

    def keep(self, query_id: str, groups: Collection[GroupKey]) -> None:
        """A query that is looked after has these key groups and no others."""
        self.wishes[query_id] = wish.within(self.wishes[query_id], groups)

    def act(self, queries: Collection[Query], ended: Collection[str], ledger: Ledger) -> None:
        """One round; `ended` names the queries that finished a batch since the last one."""
        self._tell_marks()
        self._idle = {query.query_id for query in queries if query.idle}
        for query in queries:
            register = functools.partial(self._register, query, query.query_id in ended, ledger)
            self._guard.call("registration", register, None)
        self._remove(ledger)
        self._scale()

    def _tell_marks(self) -> None:
        shut = self.fleet.shut
        if shut != self._told_marks and self._guard.did("mark", lambda: self._bridge.mark(shut)):
            self._told_marks = shut

    def where(self, query_id: str, ledger: Ledger) -> Whereabouts:
        """Where the key groups are of a query that was met, as the ledger and its wish say now."""
        found = self._where.setdefault(query_id, Whereabouts())
        found.update(ledger.owners(query_id), ledger.moved_from(query_id), self.wishes[query_id].registered)
        return found

    def _register(self, query: Query, boundary: bool, ledger: Ledger) -> None:
        world = wish.World(
            operators=query.operators,
            live=self.fleet.live,
            shut=self.fleet.shut,
            observed=ledger.owners(query.query_id),
            state_bytes=ledger.state_bytes(query.query_id),
            busy_s=ledger.recent_busy_s(query.query_id),
            given=self._given.pop(query.query_id, {}),
            first_traffic=ledger.first_traffic(query.query_id),
            pinned=query.pinned,
            boundary=boundary,
            idle=query.idle,
        )
        before = self.wishes[query.query_id].told
        looks = self._looks.setdefault(query.query_id, Looks())
        kept, owners = looks.step(self.wishes[query.query_id], world, self.where(query.query_id, ledger).news())
        self.wishes[query.query_id] = kept
        targets = {key: self.fleet.get(owner) for key, owner in owners.items()}
        if targets and not self._guard.did("place", lambda: self._bridge.place(query.query_id, targets)):
            told, recent = {**before, **world.given}, {**kept.recent, **dict.fromkeys(targets, 0)}
            self.wishes[query.query_id] = dataclasses.replace(kept, told=told, recent=recent)

    def held(self, ledger: Ledger, resting: Collection[str]) -> Mapping[str, int]:
        """Executor -> key groups of any active query that ran there last or are registered there.

        Of a query that rests only the latter count, and of groups that one being drained stole: the next batch obeys.
        """
        held: Counter[str] = Counter()
        for query_id in self._active:
            where = self.where(query_id, ledger)
            held.update(where.held(self.obeying(query_id, where, rests=query_id in resting)))
        return {owner: count for owner, count in held.items() if count}

    def obeying(self, query_id: str, where: Whereabouts, *, rests: bool) -> Collection[GroupKey]:
        """Key groups that run elsewhere than they are wanted, and will not do so in the next batch.

        All of a query that `rests`, else those that executors being drained took from their own.
        """
        if rests:
            return where.apart.keys()
        homes = frozenset(self.fleet.live) - self.fleet.shut
        marked = self.fleet.marked
        return thefts.stolen(self.wishes[query_id], where.apart, marked, homes) if marked else frozenset()

    def _remove(self, ledger: Ledger) -> None:
        """Ask those to go that may: marked, alive and empty. The others are tried again in the next round."""
        if not self._removals:
            return
        held = self.held(ledger, self._idle)
        ready = [name for name in self._removals if name in self.fleet.marked and not held.get(name, 0)]
        gone = [name for name in ready if name in self.fleet.live and name not in self.fleet.past and self._send(name)]
        self._removals = tuple(name for name in self._removals if name not in self.fleet.past)
        if gone:
            self._asked_target = (
                None  # Spark lowered its own target with each of them: say again how many there should be
            )

    def _send(self, executor_id: str) -> bool:
        if not self._guard.did("decommission", lambda: self._bridge.decommission(executor_id)):
            return False
        self.fleet.left(executor_id)
        return True

    def _scale(self) -> None:
        target = self._target
        if target is None or target == self._asked_target:
            return
        if target != self._failed_target:
            self._failed_target, self._pause, self._rounds_left = target, 1, 0
        if self._rounds_left > 0:
            self._rounds_left -= 1
            return
        if self._guard.did("request_executors", lambda: self._bridge.request_executors(target)):
            self._asked_target = target
            self._failed_target = None
            return
        # Asked again, ever more rarely: a cluster manager that refuses is not to be flooded.
        self._rounds_left, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)

    def moves(self) -> dict[str, int]:
        """Moves since the driver's start, by result."""
        total = self._past_moves.copy()
        for kept in self.wishes.values():
            total.update(_moves(kept))
        return {result: total[result] for result in RESULTS}

    def forget(self, queries: frozenset[str]) -> None:
        """Drop queries that are over; their moves stay counted."""
        for query_id in queries:
            for known in (self._given, self._looks, self._where):
                known.pop(query_id, None)
        for query_id in queries & self.wishes.keys():
            self._past_moves.update(_moves(self.wishes.pop(query_id)))


def _moves(kept: wish.Wish) -> dict[str, int]:
    counts = (kept.done_total, kept.failed_total, kept.guard_total, kept.gathered or 0)
    return dict(zip(RESULTS, counts, strict=True))
