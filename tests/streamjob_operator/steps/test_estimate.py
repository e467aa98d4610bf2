import dataclasses

import numpy as np
import pytest
from scipy import sparse
from worlds import World, even, job, series_with

from streamjob_operator.scaling.rule import Fleet, Situation
from streamjob_operator.scaling.utilization.needs import by_load
from streamjob_operator.steps.estimate import LOST, MAX_PRESSURE, estimate, growth_ratio, node_names
from streamjob_operator.steps.speeds import sentences, summary
from streamjob_operator.values import ExecutorView, Lag, Memory, Snapshot
from streamjob_planners import plans
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.capacity.pace import Pace


def snapshot(world: World) -> Snapshot:
    return world.observe(1000.0, 10.0)


def sized(*cores: int) -> Snapshot:
    seen = snapshot(even(len(cores), 1, 50.0))
    executors = tuple(dataclasses.replace(one, cores=many) for one, many in zip(seen.executors, cores, strict=True))
    return dataclasses.replace(seen, executors=executors)


def test_load_is_the_share_of_the_reference_executors_slots() -> None:
    assert estimate(sized(1, 1), Memory()).model.load.tolist() == pytest.approx([50.0, 50.0])
    assert estimate(sized(2, 2), Memory()).model.load.tolist() == pytest.approx([25.0, 25.0])


def test_the_series_is_load_of_each_batch() -> None:
    seen = sized(2, 2)
    assert estimate(seen, Memory()).model.load_series is None
    series = series_with(np.array([[2.0, 0.0], [3.0, 6.0]]), row_s=np.array([4.0, 6.0]), ended_s=1000.0)
    model = estimate(dataclasses.replace(seen, series=series), Memory()).model
    assert model.load_series is not None
    assert model.load_series.tolist() == [[25.0, 0.0], [25.0, 50.0]]
    slower = estimate(dataclasses.replace(seen, series=series), slow(0.5)).model.load_series
    assert slower is not None
    assert slower.tolist() == [[25.0, 0.0], [25.0, 25.0]]


def test_the_reference_is_the_commonest_executor() -> None:
    model = estimate(sized(2, 4, 2), Memory()).model
    assert model.capacity.tolist() == [1.0, 2.0, 1.0]
    assert estimate(sized(1, 2), Memory()).model.capacity.tolist() == [0.5, 1.0]


def test_tasks_without_key_groups_are_load_of_nobody() -> None:
    seen = snapshot(even(2, 2, 20.0))
    seen = dataclasses.replace(seen, rates=dataclasses.replace(seen.rates, other_busy_s=3.0))
    assert estimate(seen, Memory()).other_load == pytest.approx(30.0)
    assert estimate(seen, Memory()).model.load.sum() == pytest.approx(80.0)


def test_marks_and_lost_executors() -> None:
    world = even(3, 1, 20.0)
    world.owners[2] = None
    world.executors["2"] = "leaving"
    seen = snapshot(world)
    model = estimate(seen, Memory(marked=("1", "2", "9"))).model
    assert model.node_ids == node_names(seen) == ("0", "1", LOST)
    assert model.marked.tolist() == [False, True, True]
    assert model.node_of.tolist() == [0, 1, 2]


def test_a_move_costs_a_fixed_part_and_its_bytes() -> None:
    seen = dataclasses.replace(snapshot(even(2, 1, 20.0)), state_bytes=np.array([0.0, 2e8]))
    assert estimate(seen, Memory()).model.migration_cost_s.tolist() == pytest.approx([0.2, 1.3])


def test_groups_without_a_task_are_counted() -> None:
    world = even(2, 2, 20.0)
    world.loads[1] = 0.0
    assert estimate(snapshot(world), Memory()).unmeasured_groups == 1


@pytest.mark.parametrize(
    ("before", "rows", "expected"),
    [
        (None, 500.0, 1.0),
        (Lag(at_s=990.0, rows=500.0), None, 1.0),
        (Lag(at_s=990.0, rows=500.0), 1000.0, 1.5),
        (Lag(at_s=990.0, rows=500.0), 0.0, 0.5),
        (Lag(at_s=990.0, rows=1e9), 0.0, 1 / MAX_PRESSURE),
        (Lag(at_s=990.0, rows=0.0), 1e9, MAX_PRESSURE),
        (Lag(at_s=1000.0, rows=0.0), 1e9, 1.0),
        (Lag(at_s=1000.0, rows=1e9, growth_rps=50.0), 1e9, 1.5),
        (Lag(at_s=1001.0, rows=0.0, growth_rps=50.0), 1e9, 1.0),
    ],
)
def test_a_growing_lag_shows_what_the_source_really_brings(
    before: Lag | None, rows: float | None, expected: float
) -> None:
    world = even(2, 2, 20.0)
    world.rates = {"lag_rows": rows, "input_rps": 100.0}
    assert growth_ratio(snapshot(world), Memory(lag=before)) == pytest.approx(expected)


def test_views_of_executors_are_not_needed_for_owners_only() -> None:
    seen = snapshot(even(1, 2, 20.0))
    extra = ExecutorView(executor_id="5", host="h", cores=1, state="ready", busy_s=0.0)
    seen = dataclasses.replace(seen, executors=(*seen.executors, extra))
    assert estimate(seen, Memory()).model.n_nodes == 2


def test_planners_are_told_all_that_each_group_sends() -> None:
    """Pairs are the heaviest only: without the totals each of them looks far above its sender's mean."""
    world = even(2, 2, 20.0)
    world.traffic = sparse.csr_array(([2e9], ([0], [1])), shape=(4, 4))
    seen = dataclasses.replace(snapshot(world), traffic_sent_bytes=np.array([8e9, 0.0, 0.0, 0.0]))
    model = estimate(seen, Memory()).model
    assert model.traffic is not None
    assert model.traffic_out is not None
    assert model.traffic_out.tolist() == [8e8, 0.0, 0.0, 0.0]
    assert estimate(snapshot(world), Memory()).model.traffic_out is None


def test_groups_of_pinned_operators_stay_on_executors_that_stay() -> None:
    seen = snapshot(even(2, 2, 20.0))
    assert not estimate(seen, Memory()).model.pinned.any()
    assert not estimate(seen, Memory(), pinned=(7,)).model.pinned.any()
    model = estimate(seen, Memory(marked=("1",)), pinned=(0,)).model
    assert model.pinned.tolist() == [True, True, False, False]


def test_groups_that_the_agent_would_not_move_stay_on_executors_that_stay() -> None:
    seen = snapshot(even(2, 2, 20.0))
    seen = dataclasses.replace(seen, pinned=(seen.group_ids[1], seen.group_ids[2]))
    assert estimate(seen, Memory()).model.pinned.tolist() == [False, True, True, False]
    assert estimate(seen, Memory(marked=("1",))).model.pinned.tolist() == [False, True, False, False]


def slow(speed: float, marked: tuple[str, ...] = ()) -> Memory:
    return Memory(batches=Knowledge(paces={"1": Pace(speed=speed, error=0.1)}), marked=marked)


def test_a_slow_executor_has_less_capacity_and_its_groups_less_load() -> None:
    seen = snapshot(even(2, 2, 20.0))
    found = estimate(seen, slow(0.5))
    assert found.model.capacity.tolist() == [1.0, 0.5]
    assert found.model.load.tolist() == pytest.approx([20.0, 20.0, 10.0, 10.0])
    assert found.model.batch is not None
    assert found.model.batch.speed.tolist() == [1.0, 0.5]
    assert found.model.batch.task_s.tolist() == pytest.approx([0.4, 0.4, 0.2, 0.2], rel=1e-4)
    assert found.lost_executors == pytest.approx(0.5)
    assert estimate(seen, slow(0.5, ("1",))).lost_executors == 0.0


def test_what_slow_executors_lack_is_needed_on_top() -> None:
    world = even(4, 2, 31.0)
    world.loads[2:4] = [10.0, 10.0]  # executor 1 was relieved
    seen = snapshot(world)
    plan = plans.hold_plan(estimate(seen, Memory()).model, planner="test")
    needs = []
    for memory in (Memory(), slow(0.5)):
        found = estimate(seen, memory)
        fleet = Fleet(ready=4, wanted=4, marked=0)
        asked = Situation(job=job(), snapshot=seen, estimate=found, plan=plan, fleet=fleet, now_s=1000.0)
        needs.append(by_load(asked).executors)
    # 206 points at 70 percent; then 196 of them, and half an executor that is not there.
    assert needs == [3, 4]


def test_an_executor_of_another_speed_is_told() -> None:
    assert sentences(Memory()) == []
    assert sentences(slow(1 / 3)) == ["Executor 1 works at 0.33 of the others' speed (0.27 to 0.41)."]
    many = Memory(batches=Knowledge(paces={str(n): Pace(speed=0.5) for n in range(5)}))
    assert sentences(many)[-1] == "2 more executors are unequal."


def test_a_column_has_the_slowest_executor_and_how_many_more_are_slow() -> None:
    assert summary(Memory()) is None
    assert summary(slow(1 / 3)) == "1 at 0.33"
    some = {"0": Pace(speed=0.5), "1": Pace(speed=0.4), "2": Pace(speed=1.5)}
    assert summary(Memory(batches=Knowledge(paces=some))) == "1 at 0.4 and 1 more"
    assert summary(Memory(batches=Knowledge(paces={"2": Pace(speed=1.5)}))) is None


def limited(*limits: float | None) -> Snapshot:
    """One key group of 100 bytes of state on each executor."""
    seen = snapshot(even(len(limits), 1, 50.0))
    executors = tuple(
        dataclasses.replace(one, state_limit_bytes=limit) for one, limit in zip(seen.executors, limits, strict=True)
    )
    return dataclasses.replace(seen, executors=executors, state_memory_bytes=np.full(len(limits), 100.0))


def test_memory_of_state_is_a_resource_of_the_model() -> None:
    (resource,) = estimate(limited(150.0, 250.0, 1000.0), Memory()).model.resources
    assert resource.use.tolist() == [100.0] * 3
    assert resource.limit.tolist() == [150.0, 250.0, 1000.0]


def test_an_executor_that_tells_no_limit_and_one_that_is_gone_may_hold_all() -> None:
    seen = limited(150.0, None, 250.0)
    (resource,) = estimate(dataclasses.replace(seen, owners=("0", "1", None)), Memory()).model.resources
    assert resource.limit.tolist() == [150.0, 300.0, 250.0, 300.0]


def test_memory_that_no_placement_can_exceed_or_that_nobody_tells_is_no_resource() -> None:
    assert estimate(limited(300.0, 400.0, None), Memory()).model.resources == ()
    assert estimate(limited(None, None), Memory()).model.resources == ()
    untold = dataclasses.replace(limited(10.0, 10.0), state_memory_bytes=None)
    assert estimate(untold, Memory()).model.resources == ()
