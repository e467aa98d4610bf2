"""Batches of two fleets teach nothing: key groups are where they are now, and were elsewhere in most of the window."""

import dataclasses

from worlds import even

from streamjob_operator.steps.learn import moved_rows
from streamjob_operator.steps.recall import recall
from streamjob_operator.values import Memory, Snapshot

WINDOW_S = 10.0


def snapshot(at_s: float, executors: int = 3) -> Snapshot:
    """The third executor has no key groups: what is lost with it is its place alone."""
    seen = even(2, 4, 20.0).observe(at_s, WINDOW_S)
    more = [dataclasses.replace(seen.executors[0], executor_id=str(one)) for one in range(2, executors)]
    return dataclasses.replace(seen, executors=(*seen.executors, *more))


def known(*seen: Snapshot) -> Memory:
    memory = Memory()
    for one in seen:
        memory = recall(memory, one, one.taken_at_s)
    return memory


def test_the_same_fleet_is_learned_from() -> None:
    memory = known(snapshot(1000.0), snapshot(1010.0))
    assert (memory.fleet_since_s, memory.batches.at_s) == (None, 1010.0)
    assert moved_rows(memory, snapshot(1020.0)) is not None


def test_a_window_in_which_an_executor_went_teaches_nothing_and_the_next_ones_do() -> None:
    memory = known(snapshot(1000.0), snapshot(1005.0, executors=2))
    assert (memory.fleet_since_s, memory.batches.at_s) == (1005.0, 1000.0)
    assert moved_rows(memory, snapshot(1012.0, executors=2)) is None
    memory = recall(memory, snapshot(1016.0, executors=2), 1016.0)
    assert (memory.fleet_since_s, memory.batches.at_s) == (1005.0, 1016.0)
    assert moved_rows(memory, snapshot(1016.0, executors=2)) is not None


def test_another_driver_is_another_fleet() -> None:
    memory = known(snapshot(1000.0), dataclasses.replace(snapshot(1010.0, executors=2), application_id="another"))
    assert memory.fleet_since_s is None
