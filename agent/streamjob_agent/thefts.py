"""Key groups whose task an executor took that is being drained, though they are wanted elsewhere. Pure.

Spark gives a task to any executor with a free slot once it has waited for the task's own for as long as
`spark.locality.wait.process` says, and one that is drained has nothing but free slots. The next batch offers the group
to its own executor first, and its state is in the checkpoint: a thief holds nothing that anybody has to wait for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from streamjob_agent.wire import GroupKey
from streamjob_agent.wish import Wish, World

_BEGUN_BEFORE = 2
"""A batch under way when a group is registered began before; the one that ends with the second boundary did not."""


def follow(before: Wish, after: Wish, world: World) -> Wish:
    """`after` a look at the world, with the groups that were registered elsewhere of late and not seen there yet."""
    if after.registered is before.registered and not before.recent:
        return after
    recent: dict[GroupKey, int] = {}
    for key, owner in after.registered.items():
        if world.observed.get(key) == owner:
            continue
        if before.registered.get(key) != owner or world.given.get(key, owner) != owner:  # the bridge's until now
            recent[key] = 0
        elif (age := before.recent.get(key, _BEGUN_BEFORE) + world.boundary) < _BEGUN_BEFORE:
            recent[key] = age
    return dataclasses.replace(after, recent=recent)


def stolen(
    state: Wish, observed: Mapping[GroupKey, str], marked: Collection[str], homes: Collection[str]
) -> frozenset[GroupKey]:
    """Groups that ran last on a `marked` executor although they had been registered at one of `homes` all the batch.

    One whose move has just begun, or of which the bridge could not be told, is none: it has not left.
    """
    if not marked:
        return frozenset()
    return frozenset(
        key
        for key, ran in observed.items()
        if ran in marked and key not in state.recent
        if state.registered.get(key) in homes
    )
