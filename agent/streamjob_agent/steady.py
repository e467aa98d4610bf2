"""One query's looks at the world: most of them find what the last one left, but for tasks that have run since. Pure.

:func:`streamjob_agent.registration.step` goes through all key groups. In the middle of a batch, where no executor comes
or goes and nobody asks for anything, only those can be registered anew, told or counted whose task has run elsewhere
than the one before: once a whole look has left nothing that another one would change, the next look at these alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import TypeVar

from streamjob_agent import registration
from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish, World

T = TypeVar("T")
Step = tuple[Wish, dict[GroupKey, str]]


class Looks:
    """Of one query; each begins with the state that the last one gave, or somebody has changed it."""

    def __init__(self) -> None:
        self._left: tuple[Wish, World] | None = None  # a state that a look at this world would leave as it is

    def step(self, state: Wish, world: World, ran: Collection[GroupKey] | None) -> Step:
        """As `registration.step`, but what the bridge was told in this batch is not told again where nothing changed.

        `ran` are the groups that may be observed elsewhere than at the last look; None: any may be.
        """
        left, self._left = self._left, None
        if left is not None and ran is not None and left[0] is state and _alike(left[1], world):
            found = (state, dict[GroupKey, str]()) if not ran and _is_still(state, world) else None
            if found is None and not world.boundary and not world.idle:
                found = follow(state, world, ran)
            if found is not None:
                self._left = (found[0], world)
                return found
        after, told = registration.step(state, world)
        if world.observed and (after is state or _lasts(after, world)):
            self._left = (after, world)
        return after, told


def _lasts(state: Wish, world: World) -> bool:
    """Whether a further look at the same world, in mid-batch, would leave the state as it is: some things take two."""
    in_batch = not (world.boundary or world.idle or world.given)
    return in_batch and registration.step(state, world)[0] == state


def _alike(before: World, now: World) -> bool:
    """Whether nothing but tasks makes a difference between two worlds."""
    return (
        not now.given
        and before.live == now.live
        and before.shut == now.shut
        and before.operators == now.operators
        and before.pinned == now.pinned
        and before.first_traffic is now.first_traffic
    )


def _is_still(state: Wish, world: World) -> bool:
    """Whether not even a batch's end makes a difference to a state that lasts."""
    asks = state.goals or state.asked or state.recent or (world.shut and not state.planned)
    return not asks and len(world.observed) == sum(world.operators.values())


def follow(state: Wish, world: World, ran: Collection[GroupKey]) -> Step | None:
    """What a step gives in the middle of a batch that only differs by these groups from one that changed nothing.

    None where that has to be found out by a whole one. Takes O(groups in `ran` and moves that are not obeyed yet).
    """
    live, obeyed, away = frozenset(world.live), set[GroupKey](), dict[GroupKey, str]()
    for key in ran:
        owner, goal, here = state.registered.get(key), state.goals.get(key), world.observed.get(key)
        lost = goal is not None and goal != here and (goal not in live or goal in world.shut)
        if owner is None or owner not in live or lost:
            return None
        if here == owner:
            obeyed.add(key)
        elif owner in world.shut or state.asked.get(key, 0) >= state.failed_after:
            return None
        else:
            away[key] = owner
    return (_counted(state, obeyed, away) if obeyed or away else state), away


def _counted(state: Wish, obeyed: Collection[GroupKey], away: Mapping[GroupKey, str]) -> Wish:
    """The state once these groups were seen to run where they are registered, and those elsewhere."""
    reached = {key for key in obeyed if state.goals.get(key) == state.registered[key]}
    asked = _without(state.asked, obeyed)
    if not away.keys() <= asked.keys():
        asked = {**dict.fromkeys(away, 0), **asked}
    told = state.told if away.items() <= state.told.items() else {**state.told, **away}
    recent = _without(state.recent, obeyed)
    if not reached and asked is state.asked and told is state.told and recent is state.recent:
        return state
    return dataclasses.replace(
        state,
        goals=_without(state.goals, reached),
        told=told,
        asked=asked,
        recent=recent,
        failing=state.failing - reached,
        done=state.done + len(reached),
        done_total=state.done_total + len(reached),
    )


def _without(by_group: Mapping[GroupKey, T], keys: Collection[GroupKey]) -> Mapping[GroupKey, T]:
    """All but these keys; the same object where it has none of them."""
    if not any(key in by_group for key in keys):
        return by_group
    left = dict(by_group)  # before a query's first tasks it has nearly all of its groups: a copy takes least
    for key in keys:
        left.pop(key, None)
    return left
