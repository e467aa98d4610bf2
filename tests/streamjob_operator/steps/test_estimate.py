import dataclasses

import numpy as np
import pytest
from scipy import sparse
from worlds import World, even

from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.estimate import LOST, MAX_PRESSURE, estimate, growth_ratio, node_names
from streamjob_operator.values import ExecutorView, Lag, Memory, Snapshot


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
    series = BatchSeries(
        ended_at_s=np.array([994.0, 1000.0]),
        row_s=np.array([4.0, 6.0]),
        batches=np.array([1, 1]),
        batch_s=np.array([3.0, 3.0]),
        busy_s=np.array([[2.0, 0.0], [3.0, 6.0]]),
    )
    model = estimate(dataclasses.replace(seen, series=series), Memory()).model
    assert model.load_series is not None
    assert model.load_series.tolist() == [[25.0, 0.0], [25.0, 50.0]]


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
