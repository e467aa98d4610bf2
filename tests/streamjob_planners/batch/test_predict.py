"""The batch model against slow, obvious versions of it."""

import dataclasses
import itertools
import tracemalloc

import numpy as np
import pytest

from streamjob_planners.batch.chance import expected_maximum
from streamjob_planners.batch.predict import Part, batches_s, predict
from streamjob_planners.batch.schedule import MOST_CELLS, finish_many_s, finish_s, list_schedule
from streamjob_planners.batch.shape import BatchShape, FreeStage


def shape_of(tasks: list[float], **changes: object) -> BatchShape:
    n = len(tasks)
    fields: dict[str, object] = {
        "level": np.zeros(n, dtype=np.int64),
        "task_s": np.array(tasks),
        "spread_s": np.zeros(n),
        "slots": np.array([1, 1]),
        "speed": np.ones(2),
    }
    return BatchShape(**{**fields, **changes})  # type: ignore[arg-type]


def test_stages_one_after_another_are_added_up() -> None:
    shape = shape_of([1.0, 1.0, 1.0, 1.0], level=np.array([0, 0, 1, 1]), fixed_s=0.5)
    apart = predict(shape, np.array([0, 0, 1, 1]))
    even = predict(shape, np.array([0, 1, 0, 1]))
    assert apart.batch_s == pytest.approx(4.5)  # though each executor does two seconds of work in all
    assert even.batch_s == pytest.approx(2.5)


def test_stages_side_by_side_share_the_slots() -> None:
    shape = shape_of([1.0, 1.0, 1.0, 1.0])
    assert predict(shape, np.array([0, 0, 1, 1])).batch_s == pytest.approx(2.0)


def test_several_slots_and_one_long_task() -> None:
    tasks = [1.0, 1.0, 1.0, 8.0]
    shape = shape_of(tasks, slots=np.array([4, 4]))
    found = predict(shape, np.zeros(4, dtype=np.int64))
    assert found.batch_s == pytest.approx(8.0)
    assert found.bindings[0].part is Part.KEY_GROUP
    assert found.bindings[0].group == 3


def test_a_slow_node_takes_longer() -> None:
    shape = shape_of([2.0, 2.0], speed=np.array([1.0, 0.5]))
    assert predict(shape, np.array([0, 1])).batch_s == pytest.approx(4.0)


def test_free_stages_use_all_slots_but_split_no_task() -> None:
    shape = shape_of([1.0], free_stages=(FreeStage(work_s=8.0), FreeStage(work_s=2.0, longest_s=2.0, level=1)))
    assert predict(shape, np.array([0])).free_s == pytest.approx(4.0 + 2.0)


def test_free_stages_of_one_level_run_side_by_side() -> None:
    scans = (FreeStage(work_s=5.0, longest_s=5.0), FreeStage(work_s=6.0, longest_s=6.0))
    assert predict(shape_of([1.0], free_stages=scans), np.array([0])).free_s == pytest.approx(6.0)
    full = (FreeStage(work_s=9.0, longest_s=5.0), FreeStage(work_s=6.0, longest_s=2.0))
    assert predict(shape_of([1.0], free_stages=full), np.array([0])).free_s == pytest.approx(7.5)


def test_what_binds_is_named() -> None:
    found = predict(shape_of([1.0, 1.0, 0.5], fixed_s=5.0), np.array([0, 0, 1]))
    assert found.longest.part is Part.FIXED
    assert found.bindings[0].part is Part.EXECUTOR
    assert found.bindings[0].node == 0


def test_moved_groups_that_load_side_by_side_cost_once() -> None:
    shape = shape_of([1.0, 1.0, 1.0, 1.0])
    node_of = np.array([0, 1, 0, 1])
    still = predict(shape, node_of).batch_s
    one = predict(shape, node_of, np.array([0.4, 0.0, 0.0, 0.0])).batch_s
    two = predict(shape, node_of, np.array([0.4, 0.4, 0.0, 0.0])).batch_s
    assert one - still == pytest.approx(0.4)
    assert two - still == pytest.approx(0.4)


def test_list_schedule_against_a_clock_that_ticks() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        tasks = rng.integers(1, 9, size=int(rng.integers(1, 12))).tolist()
        slots = int(rng.integers(1, 5))
        waiting, running, now = list(tasks), [0] * slots, 0
        while waiting or any(left > 0 for left in running):
            for at in range(slots):
                if running[at] == 0 and waiting:
                    running[at] = waiting.pop(0)
            running = [max(0, left - 1) for left in running]
            now += 1
        assert list_schedule([float(task) for task in tasks], slots) == now
        alone = finish_s(np.array(tasks, dtype=float), np.zeros(len(tasks), dtype=np.int64), np.array([slots]))
        assert max(*tasks, sum(tasks) / slots) <= alone[0] + 1e-9 <= max(tasks) + sum(tasks) / slots + 1e-6


def test_expected_maximum_against_drawing() -> None:
    rng = np.random.default_rng(5)
    for n, spread in itertools.product((1, 2, 10, 50), (0.01, 0.3)):
        mean = rng.uniform(0.8, 1.0, n)
        width = spread * rng.uniform(0.5, 1.5, n)
        drawn = rng.normal(mean, width, (40_000, n)).max(axis=1).mean()
        assert expected_maximum(mean, width) == pytest.approx(max(drawn, mean.max()), abs=0.02 * spread)


@pytest.mark.parametrize(
    ("field", "value"),
    [("task_s", [-1.0, 1.0]), ("spread_s", [np.nan, 1.0]), ("level", [-1, 0])],
)
def test_a_bad_value_is_named(field: str, value: list[float]) -> None:
    with pytest.raises(ValueError, match=field):
        shape_of([1.0, 1.0], **{field: np.array(value)})


@pytest.mark.parametrize(("rows", "tasks"), [(1, 3), (40, 60), (64, 200), (3, 0), (64, 5)])
def test_many_batches_at_once_end_as_they_do_one_by_one(rows: int, tasks: int) -> None:
    rng = np.random.default_rng(rows)
    for slots in (np.array([2, 2, 2, 2]), np.array([1, 3, 2, 8])):
        owner, speed = rng.integers(0, 3, tasks), rng.uniform(0.5, 2.0, 4)  # the last node has no task
        rows_s = rng.lognormal(0.0, 1.0, (rows, tasks))
        one_by_one = np.array([finish_s(one, owner, slots, speed) for one in rows_s])
        assert finish_many_s(rows_s, owner, slots, speed).tolist() == one_by_one.tolist()


def test_slots_that_no_task_can_take_cost_nothing() -> None:
    tasks, rows = 200, 64
    owner, rows_s = np.arange(tasks) % 3, np.ones((rows, tasks))
    slots = np.array([10**9, 2, 10**9])
    assert finish_many_s(rows_s, owner, slots, np.ones(3))[0].tolist() == [1.0, 34.0, 1.0]


def test_many_batches_are_what_each_is_predicted_to_be() -> None:
    rng = np.random.default_rng(1)
    shape = BatchShape(
        level=np.array([0, 1] * 30),
        task_s=np.ones(60),
        spread_s=np.full(60, 0.2),
        slots=np.array([2, 1, 2]),
        speed=np.array([1.0, 0.5, 2.0]),
        fixed_s=0.7,
        free_stages=(FreeStage(work_s=4.0, longest_s=1.0),),
    )
    node_of, rows_s = rng.integers(0, 3, 60), rng.lognormal(0.0, 1.0, (30, 60))
    each = [predict(dataclasses.replace(shape, task_s=one), node_of).batch_s for one in rows_s]
    assert batches_s(shape, node_of, rows_s).tolist() == pytest.approx(each, rel=1e-12)


def test_batches_that_are_too_many_at_once_are_scheduled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    owner, rows_s = rng.integers(0, 3, 60), rng.lognormal(0.0, 1.0, (400, 60))
    slots, speed = np.array([2, 4, 1]), np.array([1.0, 0.5, 2.0])
    at_once = finish_many_s(rows_s, owner, slots, speed)
    monkeypatch.setattr("streamjob_planners.batch.schedule.MOST_CELLS", 150 * 3 * 4)
    asked = list[int]()
    monkeypatch.setattr("streamjob_planners.batch.schedule.finish_s", lambda *_: asked.append(1))
    assert finish_many_s(rows_s, owner, slots, speed).tolist() == at_once.tolist()
    assert not asked, "one by one takes many times as long"


def test_what_many_batches_take_at_once_does_not_grow_with_slots_that_a_job_tells_of() -> None:
    """The gate asks in the operator's own process, which has other jobs, too."""
    n_nodes, n_rows = 2000, 40
    owner = np.concatenate([np.arange(n_nodes), np.zeros(299, dtype=np.int64)])
    rows_s = np.ones((n_rows, owner.size))
    slots, speed = np.full(n_nodes, 10_000), np.ones(n_nodes)
    tracemalloc.start()
    try:
        found = finish_many_s(rows_s, owner, slots, speed)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.tolist() == np.ones((n_rows, n_nodes)).tolist()
    assert peak_bytes < 16 * MOST_CELLS
