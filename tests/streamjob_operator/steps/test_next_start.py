"""Where key groups shall be after a restart: by the wish, by what is known, and told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import World, even, job, warm

from streamjob_operator.spec import Balancing, InitialPlacement, SpecError, parse_job
from streamjob_operator.steps.next_start import FEWEST_ROWS, next_start
from streamjob_operator.values import CycleRecord
from streamjob_planners.model import GroupId, LoadModel

ROWS = 12


def model(rows: int | None = ROWS, n_groups: int = 24, load: float = 5.0) -> LoadModel:
    """Two halves that swing against each other, and one heavy key group in each."""
    base = np.where(np.arange(n_groups) % 12 == 0, 5 * load, load)
    turn = np.where(np.arange(n_groups) < n_groups // 2, 1.0, -1.0)
    swing = np.array([1.0, -1.0] * 100)[: rows or 0, None]
    return LoadModel(
        node_ids=("0", "1", "2"),
        capacity=np.ones(3),
        marked=np.zeros(3, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=k % 2, partition=k // 2) for k in range(n_groups)),
        node_of=np.arange(n_groups) % 3,
        load=base,
        migration_cost_s=np.full(n_groups, 0.2),
        state_bytes=np.zeros(n_groups),
        pinned=np.zeros(n_groups, dtype=np.bool_),
        load_series=None if rows is None else base * (1.0 + 0.8 * swing * turn),
    )


def loads(found: np.ndarray, of: LoadModel, executors: int) -> np.ndarray:
    return np.bincount(found, of.load, executors)


def test_as_before_says_nothing() -> None:
    assert next_start(Balancing(initial_placement=InitialPlacement.AS_BEFORE), model(), 4, 1.0) is None


@pytest.mark.parametrize("wish", [InitialPlacement.ROD, InitialPlacement.COR_GLOBAL])
def test_loads_are_level_on_as_many_executors_as_there_shall_be(wish: InitialPlacement) -> None:
    found = next_start(Balancing(initial_placement=wish), model(), 4, 1.0)
    assert found is not None
    assert found.executors == 4
    level = loads(found.place_of, model(), 4)
    assert level.max() <= 1.2 * level.mean()
    assert wish.value in found.told
    spread = next_start(Balancing(initial_placement=InitialPlacement.SPREAD), model(), 4, 1.0)
    assert spread is not None
    assert level.max() <= loads(spread.place_of, model(), 4).max()


def test_those_that_swing_against_each_other_share_executors() -> None:
    found = next_start(Balancing(initial_placement=InitialPlacement.COR_GLOBAL), model(), 2, 1.0)
    assert found is not None
    series = model().load_series
    assert series is not None
    by_node = np.stack([series[:, found.place_of == node].sum(axis=1) for node in range(2)])
    assert by_node.std(axis=1).max() < 0.1 * by_node.mean()


@pytest.mark.parametrize(
    ("wish", "given", "told"),
    [
        (InitialPlacement.COR_GLOBAL, model(FEWEST_ROWS - 1), "CorGlobal needs 10 batches, and 9 are known"),
        (InitialPlacement.COR_GLOBAL, model(None), "CorGlobal needs 10 batches, and 0 are known"),
        (InitialPlacement.ROD, model(load=0.0), "Rod needs loads, and none was measured"),
        (InitialPlacement.COR_GLOBAL, model(n_groups=3000), "CorGlobal would take too long for 3000 key groups on 4"),
    ],
)
def test_what_is_not_known_is_spread_and_said(wish: InitialPlacement, given: LoadModel, told: str) -> None:
    found = next_start(Balancing(initial_placement=wish), given, 4, 1.0)
    assert found is not None
    assert told in found.told
    counts = np.bincount(found.place_of, minlength=4)
    assert counts.max() - counts.min() <= 1


def test_groups_too_dear_to_move_later_are_placed_first_by_rod() -> None:
    dear = dataclasses.replace(model(), migration_cost_s=np.full(24, 9.0))
    found = next_start(Balancing(initial_placement=InitialPlacement.COR_GLOBAL), dear, 3, 1.0)
    by_rod = next_start(Balancing(initial_placement=InitialPlacement.ROD), dear, 3, 1.0)
    assert found is not None
    assert by_rod is not None
    assert found.place_of.tolist() == by_rod.place_of.tolist()


def acted(wish: str) -> tuple[World, CycleRecord]:
    of = job(("planner: greedy", f"planner: greedy\n    initialPlacement: {wish}"))
    world = warm(even(2, 6, 5.0), of)
    world.loads[0] = 60.0
    for _ in range(6):
        record = world.turn(of)
        if record.verdict.act and record.verdict.plan is not None and record.verdict.plan.moves:
            return world, record
    raise AssertionError("no plan was carried out")


def test_a_plan_that_is_carried_out_says_it_and_tells_it() -> None:
    _, record = acted("Rod")
    start = record.verdict.next_start
    assert start is not None
    assert record.model is not None
    assert start.place_of.shape == (record.model.n_groups,)
    assert record.verdict.message.endswith(start.told)


def test_without_a_wish_nothing_is_said() -> None:
    assert acted("AsBefore")[1].verdict.next_start is None


def test_an_unknown_wish_is_refused_by_name() -> None:
    text = "apiVersion: streamjob.dev/v1alpha1\nkind: StreamJob\nmetadata: {name: x}\nspec:\n"
    text += "  application: {mainFile: job.py}\n  executors: {min: 1, max: 2}\n  balancing: {initialPlacement: Magic}\n"
    with pytest.raises(SpecError, match="initialPlacement") as found:
        parse_job(text)
    assert "CorGlobal" in str(found.value)
