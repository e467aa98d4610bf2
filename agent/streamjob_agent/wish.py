"""Where the key groups of one query are wanted, what is seen of them, and how a plan is taken over. Values only."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import TypeVar

from streamjob_agent.bridge import TrafficReading
from streamjob_agent.wire import Assignment, GroupKey, Pace

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What was observed. `shut` executors (marked or leaving) receive no key group, but may still hold some.

    `operators` is empty until the query's first plan; `observed` is the executor of each group's newest task.
    `given` are owners that the bridge chose itself since the last look; `idle`: the query is between two batches.
    `first_traffic` is that of one of the query's first batches, None where none was read. `pinned` groups stay on an
    executor that stays.
    """

    operators: Mapping[int, int]
    live: tuple[str, ...]
    shut: frozenset[str] = frozenset()
    observed: Mapping[GroupKey, str] = dataclasses.field(default_factory=dict)
    state_bytes: Mapping[GroupKey, int] = dataclasses.field(default_factory=dict)
    busy_s: Mapping[GroupKey, float] = dataclasses.field(default_factory=dict)
    given: Mapping[GroupKey, str] = dataclasses.field(default_factory=dict)
    first_traffic: TrafficReading | None = None
    pinned: frozenset[GroupKey] = frozenset()
    boundary: bool = True
    idle: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wanted of one query, and remembered between boundaries.

    Attributes:
        registered: where each group is wanted, hence registered and should run.
        told: what the bridge wants, as far as it was told or has told; it registers that before each batch.
        goals: planned moves that are not obeyed yet, group -> target.
        asked: boundaries since a group was last registered somewhere it has not been seen.
        recent: boundaries since the bridge was told of another executor, while the newest task may be of before.
        places: planned moves to executors that have not come, group -> place from 1.
        known: executors that have no place, since the plan's maker knew them.
        arrived: executors that came since, in the order of their places.
        failing: goals that were not obeyed for `failed_after` boundaries; they are still tried.
        done, failed: moves of the current assignment that were obeyed; that lost their target.
        done_total, failed_total, guard_total: since the driver's start; guard counts groups rescued from the dead.
        gathered: groups that changed places once the first traffic was read; None before.
        planned: whether a controller has sent a plan for this query; marks of another query's plan count here, too.
    """

    failed_after: int = 5
    registered: Mapping[GroupKey, str] = dataclasses.field(default_factory=dict)
    told: Mapping[GroupKey, str] = dataclasses.field(default_factory=dict)
    goals: Mapping[GroupKey, str] = dataclasses.field(default_factory=dict)
    order: tuple[GroupKey, ...] = ()
    cost_s: Mapping[GroupKey, float] = dataclasses.field(default_factory=dict)
    pace: Pace = dataclasses.field(default_factory=Pace)
    places: Mapping[GroupKey, int] = dataclasses.field(default_factory=dict)
    known: frozenset[str] = frozenset()
    arrived: tuple[str, ...] = ()
    asked: Mapping[GroupKey, int] = dataclasses.field(default_factory=dict)
    recent: Mapping[GroupKey, int] = dataclasses.field(default_factory=dict)
    failing: frozenset[GroupKey] = frozenset()
    done: int = 0
    failed: int = 0
    done_total: int = 0
    failed_total: int = 0
    guard_total: int = 0
    gathered: int | None = None
    planned: bool = False

    @property
    def moves_pending(self) -> int:
        """Moves asked for, not obeyed yet, and not given up as failing."""
        return len(self.goals) - len(self.failing)

    @property
    def moves_total(self) -> int:
        """Groups that changed places since the driver's start, by a plan, the guard or the first traffic."""
        return self.done_total + self.guard_total + (self.gathered or 0)

    @property
    def moves_failed(self) -> int:
        """Moves of the current assignment that lost their target or are not obeyed for too long."""
        return self.failed + len(self.failing)


def within(state: Wish, groups: Collection[GroupKey]) -> Wish:
    """Only what is wanted of these groups: of those that are no more nothing can be obeyed."""

    def kept(by_group: Mapping[GroupKey, T]) -> dict[GroupKey, T]:
        return {key: one for key, one in by_group.items() if key in groups}

    return dataclasses.replace(
        state,
        registered=kept(state.registered),
        told=kept(state.told),
        goals=kept(state.goals),
        order=tuple(key for key in state.order if key in groups),
        cost_s=kept(state.cost_s),
        places=kept(state.places),
        asked=kept(state.asked),
        recent=kept(state.recent),
        failing=frozenset(key for key in state.failing if key in groups),
    )


def adopt(state: Wish, assignment: Assignment, observed: Mapping[GroupKey, str]) -> Wish:
    """Take over the plan of an accepted assignment: its moves are pending from now on, those not yet released replaced.

    One without owners speaks of executors only: the moves and arrivals of the one before go on.
    """
    if not assignment.owners:
        return dataclasses.replace(state, planned=True)
    wanted = {
        GroupKey(operator=operator, partition=partition): owner
        for operator, row in assignment.owners.items()
        for partition, owner in enumerate(row)
        if owner is not None
    }
    goals = {
        key: owner
        for key, owner in wanted.items()
        if owner != observed.get(key) or owner != state.registered.get(key, owner)
    }
    places = {
        GroupKey(operator=operator, partition=partition): place
        for operator, row in assignment.arrivals.items()
        for partition, place in enumerate(row)
        if place is not None
    }
    return dataclasses.replace(
        state,
        goals=goals,
        order=_whole_order(assignment.move_order, goals.keys() | places.keys()),
        cost_s=assignment.move_cost_s,
        pace=assignment.pace,
        places=places,
        known=frozenset(assignment.known_executors),
        arrived=(),
        failing=frozenset(),
        done=0,
        failed=0,
        planned=True,
    )


def _whole_order(first: tuple[GroupKey, ...], goals: Collection[GroupKey]) -> tuple[GroupKey, ...]:
    named = dict.fromkeys(key for key in first if key in goals)
    return (*named, *sorted(key for key in goals if key not in named))
