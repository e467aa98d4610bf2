"""What a batch is made of, and what windows teach about it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import BATCHES, FIXED_S, World, even, series_with

from streamjob_operator.steps.batching import MOST_CELLS, learn_batches, shape_of, unpredicted
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory, Snapshot, StageView
from streamjob_planners.batch.knowledge import TRUSTED_ERROR, Knowledge
from streamjob_planners.batch.learned import MoveEvidence
from streamjob_planners.batch.predict import free_s
from streamjob_planners.model import GroupId


def snapshot(world: World, at_s: float = 1000.0) -> Snapshot:
    return world.observe(at_s, 10.0)


def stage(operator: int | None, level: int, **seconds: float) -> StageView:
    return StageView(
        operator=operator, level=level, **{"wall_s": 1.0, "busy_s": 1.0, "longest_s": 0.5, "spread_s": None, **seconds}
    )


def chained(seen: Snapshot, *operators: int) -> Snapshot:
    ids = tuple(GroupId(operator=one, partition=at) for at, one in enumerate(operators))
    return dataclasses.replace(seen, group_ids=ids)


def test_a_group_is_one_task_of_each_batch() -> None:
    shape = shape_of(snapshot(even(2, 2, 20.0)), np.array([1, 1]), Knowledge())
    assert shape is not None
    assert shape.task_s.tolist() == pytest.approx([0.2 * 10.0 / BATCHES] * 4)


def test_without_a_batch_nothing_is_said_of_batches() -> None:
    world = even(2, 2, 20.0)
    world.rates = {"batches": 0}
    assert shape_of(snapshot(world), np.array([1, 1]), Knowledge()) is None


def test_levels_are_those_of_the_stages() -> None:
    seen = chained(snapshot(even(2, 2, 20.0)), 0, 1, 2, 2)
    seen = dataclasses.replace(seen, stages=(stage(None, 0), stage(2, 1), stage(1, 1), stage(0, 3)))
    shape = shape_of(seen, np.array([1, 1]), Knowledge())
    assert shape is not None
    assert shape.level.tolist() == [1, 0, 0, 0]
    assert [one.work_s for one in shape.free_stages] == [1.0]


def test_the_two_sources_of_a_join_are_read_side_by_side() -> None:
    sources = (stage(None, 0, busy_s=2.0, longest_s=2.0), stage(None, 0, busy_s=3.0, longest_s=3.0))
    seen = dataclasses.replace(snapshot(even(2, 2, 20.0)), stages=(*sources, stage(0, 1)))
    shape = shape_of(seen, np.array([4, 4]), Knowledge())
    assert shape is not None
    assert free_s(shape) == pytest.approx(3.0)


def test_where_nobody_tells_operators_are_a_chain_numbered_from_its_end() -> None:
    shape = shape_of(chained(snapshot(even(2, 2, 20.0)), 0, 1, 2, 2), np.array([1, 1]), Knowledge())
    assert shape is not None
    assert shape.level.tolist() == [2, 1, 0, 0]


def test_more_levels_and_executors_than_any_job_has_are_not_predicted() -> None:
    """Whatever an agent tells is worked out in the operator's own process, a number for each level and executor."""
    seen = chained(snapshot(even(2, 2, 20.0)), 0, 1, 2, 2)
    most = MOST_CELLS // 3
    assert shape_of(seen, np.ones(most, dtype=np.int64), Knowledge()) is not None
    assert shape_of(seen, np.ones(most + 1, dtype=np.int64), Knowledge()) is None
    assert unpredicted(seen, most) is None
    assert unpredicted(seen, most + 1) == (
        f"Batches are not predicted: 3 levels of stages on {most + 1} executors are more than {MOST_CELLS} together, "
        "so the load distance decides."
    )
    assert unpredicted(dataclasses.replace(seen, group_ids=()), most + 1) is None
    assert unpredicted(dataclasses.replace(seen, rates=dataclasses.replace(seen.rates, batches=0)), most + 1) is None


def test_an_operators_spread_is_shared_out_by_load() -> None:
    world = even(2, 2, 20.0)
    world.loads = [10.0, 10.0, 20.0, 0.0]
    seen = dataclasses.replace(snapshot(world), stages=(stage(0, 0, spread_s=0.1),))
    shape = shape_of(seen, np.array([1, 1]), Knowledge())
    assert shape is not None
    assert shape.spread_s.tolist() == pytest.approx([0.1, 0.1, 0.1 * 2**0.5, 0.0])


def test_the_fixed_part_is_what_tasks_do_not_explain() -> None:
    memory = learn_batches(Memory(), snapshot(even(2, 2, 20.0)))
    assert memory.batches.fixed_s is not None
    assert memory.batches.fixed_s.mean == pytest.approx(FIXED_S)
    assert memory.batches.predicted_s is None  # nothing was known before the first window


def test_the_next_window_is_predicted_before_it_is_learned() -> None:
    world = even(2, 2, 20.0)
    memory = learn_batches(Memory(), snapshot(world))
    world.loads = [40.0, 20.0, 20.0, 20.0]
    memory = learn_batches(memory, snapshot(world, 1010.0))
    assert memory.batches.predicted_s == pytest.approx(memory.batches.measured_s)
    assert memory.batches.error_ratio is not None
    assert memory.batches.error_ratio.mean == pytest.approx(0.0, abs=1e-9)


def test_a_window_is_learned_once() -> None:
    memory = learn_batches(Memory(), snapshot(even(2, 2, 20.0)))
    assert learn_batches(memory, snapshot(even(2, 2, 90.0))) is memory


def unsteady(memory: Memory, windows: int) -> Memory:
    """Batches that take what tasks do not tell."""
    world = even(2, 2, 20.0)
    for number in range(windows):
        world.rates = {"mean_batch_s": 5.0 if number % 2 else 1.0}
        memory = learn_batches(memory, snapshot(world, 1000.0 + 10.0 * number))
    return memory


def test_a_model_that_is_off_is_not_planned_on() -> None:
    memory = unsteady(Memory(), 8)
    assert memory.batches.error_ratio is not None
    assert memory.batches.error_ratio.mean > TRUSTED_ERROR
    seen = estimate(snapshot(even(2, 2, 20.0)), memory)
    assert seen.doubted
    assert seen.model.batch is None


def test_one_odd_window_is_no_verdict() -> None:
    assert unsteady(Memory(), 2).batches.trusted


@pytest.mark.parametrize("change", [{"moves_pending": 3}, {"warmup_s": np.full(4, 1.0)}, {"owners": (None,) * 4}])
def test_windows_in_which_groups_moved_or_were_cold_teach_nothing(change: dict[str, object]) -> None:
    seen = dataclasses.replace(snapshot(even(2, 2, 20.0)), **change)  # type: ignore[arg-type]
    assert learn_batches(Memory(), seen).batches.fixed_s is None


def test_moves_teach_what_moves_cost() -> None:
    world = even(2, 2, 20.0)
    memory = Memory(acted_at_s=995.0, moved=("0/0", "0/1"))
    seen = dataclasses.replace(snapshot(world), warmup_s=np.array([0.7, 0.7, 0.1, 0.1]))
    before_s = memory.batches.moves.line[0]
    after = learn_batches(memory, seen).batches.moves
    assert after.told == pytest.approx(1.98)
    assert after.line[0] > before_s
    assert after.y - MoveEvidence.prior().y * 0.98**2 == pytest.approx(0.6 * 1.98)  # without what starts cost all


def test_moves_that_took_several_boundaries_teach_once_the_last_one_is_made() -> None:
    world = even(2, 2, 20.0)
    warmup_s = np.array([0.6, 0.0, 0.0, 0.0])
    memory = Memory(acted_at_s=975.0, moved=("0/0", "0/1"))
    under_way = dataclasses.replace(snapshot(world, 990.0), warmup_s=warmup_s, moves_pending=1)
    assert learn_batches(memory, under_way).batches.moves.told == 0.0
    memory = learn_batches(memory, dataclasses.replace(snapshot(world), warmup_s=warmup_s))
    assert memory.batches.moves.told == 1.0
    later = dataclasses.replace(snapshot(world, 1005.0), warmup_s=warmup_s)
    assert learn_batches(memory, later).batches.moves.told == 1.0


def loading_s(warmup_s: list[float], *moved: str, executors: int = 2) -> list[float]:
    """Seconds that moves are said to have cost, of two key groups on each executor."""
    seen = snapshot(even(executors, 2, 20.0))
    assert [seen.owners[at] == seen.owners[at + 1] for at in range(0, 2 * executors, 2)] == [True] * executors
    memory = Memory(acted_at_s=995.0, moved=moved)
    moves = learn_batches(memory, dataclasses.replace(seen, warmup_s=np.array(warmup_s))).batches.moves
    return [] if moves.told == 0 else [(moves.y - 0.98 * MoveEvidence.prior().y) / moves.told]


def test_a_move_did_not_cost_what_the_first_task_of_a_slot_costs_anyway() -> None:
    assert loading_s([0.5, 0.0, 0.4, 0.0], "0/0") == pytest.approx([0.1])  # first on its executor, as 0/2 is on its own
    assert loading_s([0.4, 0.1, 0.4, 0.0], "0/1") == pytest.approx([0.1])


def test_a_move_without_a_key_group_of_the_same_turn_beside_it_teaches_nothing() -> None:
    assert loading_s([0.5, 0.0, 0.5, 0.0], "0/0", "0/2") == []


@pytest.mark.parametrize("since_s", [985.0, 996.0])
def test_a_move_did_not_cost_what_an_executor_that_has_just_come_takes_to_get_warm(since_s: float) -> None:
    """Nor does the next window, in which nothing is loaded any more, say that moves cost nothing."""
    world, warmup_s = even(2, 2, 20.0), np.array([3.0, 3.0, 0.0, 0.0])
    memory = Memory(acted_at_s=995.0, moved=("0/0", "0/1"), fleet_since_s=since_s)
    memory = learn_batches(memory, dataclasses.replace(snapshot(world), warmup_s=warmup_s))
    assert memory.batches.moves == MoveEvidence.prior()
    memory = learn_batches(memory, dataclasses.replace(snapshot(world, 1010.0), warmup_s=0.001 * warmup_s))
    assert memory.batches.moves == MoveEvidence.prior()


def test_a_window_that_only_taught_what_moves_cost_is_compared_with_no_older_prediction() -> None:
    world = even(2, 2, 20.0)
    memory = learn_batches(learn_batches(Memory(), snapshot(world)), snapshot(world, 1010.0))
    assert memory.batches.predicted_s is not None
    memory = dataclasses.replace(memory, acted_at_s=1015.0, moved=("0/0",))
    seen = dataclasses.replace(snapshot(world, 1020.0), warmup_s=np.array([3.0, 0.0, 0.0, 0.0]))
    after = learn_batches(memory, seen).batches
    assert after.at_s == seen.taken_at_s
    assert after.predicted_s is None
    assert after.measured_s is None


def test_a_plan_that_moved_long_ago_teaches_nothing_more() -> None:
    memory = Memory(acted_at_s=900.0, moved=("0/0",))
    seen = dataclasses.replace(snapshot(even(2, 2, 20.0)), warmup_s=np.array([0.6, 0.0, 0.0, 0.0]))
    assert learn_batches(memory, seen).batches.moves.told == 0.0


@pytest.mark.parametrize(("smallest", "counts"), [(1.0, True), (0.5, True), (0.25, False)])
def test_what_batches_of_a_backlog_vary_by_in_size_is_no_error_of_tasks(smallest: float, counts: bool) -> None:
    """Each key group has the same part of every batch; sums of squares say that tasks vary by a second."""
    rows = np.array([1.0, 1.0, smallest, smallest])
    series = series_with(rows[:, None] * np.ones((4, 4)), row_s=np.full(4, 2.5), ended_s=1000.0, input_rps=100.0 * rows)
    seen = dataclasses.replace(snapshot(even(2, 2, 20.0)), series=series, stages=(stage(0, 0, spread_s=1.0),))
    told = shape_of(seen, np.array([1, 1]), Knowledge())
    untold = shape_of(dataclasses.replace(seen, stages=(stage(0, 0),)), np.array([1, 1]), Knowledge())
    assert told is not None
    assert untold is not None
    assert told.error_s is not None
    assert untold.error_s is not None
    assert bool(told.error_s.max() > untold.error_s.max()) is counts
