"""Which executor each key group of one query is registered at for the next batch. Pure: state and world in, state out.

Once the first traffic was read the even spread follows it. At each batch boundary: count moves that were obeyed, give
homes to groups whose executor is gone, release as many planned moves as the pace allows, those to executors that have
come since the plan among them, and register again what was not obeyed.
"""

from __future__ import annotations

import dataclasses
import math

from streamjob_agent import gathering, spread, thefts
from streamjob_agent.wire import GroupKey, Pace
from streamjob_agent.wish import Wish, World

_LEAVE_RATIO = 0.25  # part of an unplanned query's groups on shut executors that leave at one boundary


def step(state: Wish, world: World) -> tuple[Wish, dict[GroupKey, str]]:
    """One look at the world: the new state, and what to tell the bridge now (nothing when all is as it should be).

    Before its first task is seen a query is the bridge's: only that is in time, and its choice may be loading already.
    """
    before = state
    state = _take_over(state, world)
    state = _welcome(state, world)
    if not world.observed or (_settled(state, world) and not gathering.due(state, world)):
        return thefts.follow(before, state, world), {}
    state = _age(_confirm(state, world), world)
    state = _drop_lost_goals(state, world)
    state = gathering.first(_rescue(state, world), world)
    if world.boundary or world.idle:
        state = _release(state, world) if state.planned else _leave(state, world)
    again = {
        key: owner
        for key, owner in state.registered.items()
        if owner != world.observed.get(key) or owner != state.told.get(key, owner)
        if owner in world.live and owner not in world.shut
    }
    return thefts.follow(before, dataclasses.replace(state, told={**state.told, **again}), world), again


def _settled(state: Wish, world: World) -> bool:
    """Whether every group runs where it is wanted and none has to leave: nearly always, so it is found out cheaply."""
    homes = set(world.observed.values())
    return (
        not state.goals
        and not state.asked
        and len(world.observed) == sum(world.operators.values())
        and homes <= set(world.live)
        and (state.planned or not homes & world.shut)
        and state.registered == world.observed
        and state.told.items() <= state.registered.items()
    )


def _take_over(state: Wish, world: World) -> Wish:
    """What the bridge chose is wanted from now on: an answer of ours to the same question would load state twice."""
    if not world.given:
        return state
    given = {key: owner for key, owner in world.given.items() if owner in world.live}
    rescued = sum(1 for key in given if state.registered.get(key) not in (None, *world.live))
    return dataclasses.replace(
        state,
        registered={**state.registered, **given},
        told={**state.told, **world.given},
        asked={key: age for key, age in state.asked.items() if key not in given},
        guard_total=state.guard_total + rescued,
    )


def _welcome(state: Wish, world: World) -> Wish:
    """Executors that have come since the plan take its places, in the order in which they were seen."""
    if not state.places:
        return state
    left = max(state.places.values()) - len(state.arrived)
    executors = spread.open_executors(world.live, world.shut)
    fresh = [name for name in executors if name not in state.known and name not in state.arrived]
    if not fresh:
        return state
    arrived = (*state.arrived, *fresh[:left])
    goals = {key: arrived[place - 1] for key, place in state.places.items() if place <= len(arrived)}
    places = {key: place for key, place in state.places.items() if key not in goals}
    return dataclasses.replace(state, arrived=arrived, goals={**state.goals, **goals}, places=places)


def _confirm(state: Wish, world: World) -> Wish:
    reached = {
        key
        for key, goal in state.goals.items()
        if world.observed.get(key) == goal and state.registered.get(key, goal) == goal
    }
    return dataclasses.replace(
        state,
        goals={key: goal for key, goal in state.goals.items() if key not in reached},
        failing=state.failing - reached,
        done=state.done + len(reached),
        done_total=state.done_total + len(reached),
    )


def _age(state: Wish, world: World) -> Wish:
    """Count boundaries of disobedience; after too many a move fails, and an unplanned drift is accepted as it is.

    Not onto an executor that is to go: it would be held there by what nobody wanted, until the next plan.
    """
    away = [key for key, owner in state.registered.items() if world.observed.get(key, owner) != owner]
    asked = {key: state.asked.get(key, 0) + world.boundary for key in away}
    late = {key for key, age in asked.items() if age >= state.failed_after}
    failing = state.failing | (late & state.goals.keys())
    drifted = {key: seen for key in late - state.goals.keys() if (seen := world.observed[key]) not in world.shut}
    return dataclasses.replace(
        state,
        asked={key: age for key, age in asked.items() if key not in drifted},
        failing=failing,
        failed_total=state.failed_total + len(failing) - len(state.failing),
        registered={**state.registered, **drifted},
    )


def _drop_lost_goals(state: Wish, world: World) -> Wish:
    """A target that died or was shut in the meantime is no target, nor is any of a group that has to stay where it is:
    the move failed, the planner has to look again."""
    lost = {
        key
        for key, goal in state.goals.items()
        if goal not in world.live or goal in world.shut or _stays(key, world)
        if world.observed.get(key) != goal
    }
    return dataclasses.replace(
        state,
        goals={key: goal for key, goal in state.goals.items() if key not in lost},
        failing=state.failing - lost,
        failed=state.failed + len(lost),
        failed_total=state.failed_total + len(lost - state.failing),
    )


def _stays(key: GroupKey, world: World) -> bool:
    """Whether the group is pinned, and its executor is one to stay on."""
    ran = world.observed.get(key)
    return key in world.pinned and ran in world.live and ran not in world.shut


def _rescue(state: Wish, world: World) -> Wish:
    """Every group gets a home that is alive: where it runs, else its goal, else the least busy executor."""
    homes: dict[GroupKey, str] = {}
    orphans: list[GroupKey] = []
    executors = spread.open_executors(world.live, world.shut)
    for key in spread.group_keys(world.operators):
        owner, seen = state.registered.get(key), world.observed.get(key)
        if owner in world.live and owner is not None and (owner not in world.shut or owner == seen):
            homes[key] = owner
        elif seen in world.live and seen is not None:
            homes[key] = seen
        elif state.goals.get(key) in executors:
            homes[key] = state.goals[key]
        elif owner is not None or seen is not None:  # a group that nobody has seen yet is where the bridge put it
            orphans.append(key)
    homes.update(spread.rescue(orphans, homes, executors, world.busy_s))
    guarded = sum(1 for key, owner in state.registered.items() if owner not in world.live and homes.get(key) != owner)
    changed = {key for key, owner in homes.items() if state.registered.get(key) != owner}
    asked = {key: age for key, age in state.asked.items() if key not in changed}
    return dataclasses.replace(state, registered=homes, asked=asked, guard_total=state.guard_total + guarded)


def _release(state: Wish, world: World) -> Wish:
    """Register the next planned moves at their targets, within the pace; at least one of them.

    Moves released earlier that will be made at this boundary too take their share of the pace: those that were not
    obeyed for two boundaries, and between two batches all that nobody has seen obeyed. Failing ones do not, so that
    they never block the rest.
    """
    due = [key for key in state.order if key in state.goals and state.registered.get(key) != state.goals[key]]
    age = 2 if world.boundary else 0
    disobeyed = [key for key in state.goals if state.asked.get(key, -1) >= age and key not in state.failing]
    moves, size, cost_s = len(disobeyed), 0.0, 0.0
    for key in disobeyed:
        size, cost_s = size + world.state_bytes.get(key, 0), cost_s + state.cost_s.get(key, 0.0)
    released: dict[GroupKey, str] = {}
    for key in due:
        moves += 1
        size += world.state_bytes.get(key, 0)
        cost_s += state.cost_s.get(key, 0.0)
        if (released or disobeyed) and not _within(state.pace, moves, size, cost_s):
            break
        released[key] = state.goals[key]
    return dataclasses.replace(state, registered={**state.registered, **released})


def _leave(state: Wish, world: World) -> Wish:
    """A query that nobody plans leaves shut executors by itself, gradually, or they could never be removed."""
    held = sorted(
        (key for key, owner in state.registered.items() if owner in world.shut),
        key=lambda key: (world.state_bytes.get(key, 0), key),
    )
    leaving = frozenset(held[: math.ceil(_LEAVE_RATIO * len(held))])
    homes = {key: owner for key, owner in state.registered.items() if key not in leaving}
    executors = spread.open_executors(world.live, world.shut)
    given = spread.rescue(leaving, homes, executors, world.busy_s)
    asked = {key: age for key, age in state.asked.items() if key not in given}
    return dataclasses.replace(state, registered={**state.registered, **given}, asked=asked)


def _within(pace: Pace, moves: int, size: float, cost_s: float) -> bool:
    limits = ((pace.max_moves, moves), (pace.max_state_bytes, size), (pace.max_cost_s, cost_s))
    return all(limit is None or used <= limit for limit, used in limits)
