"""Several queries of one driver as one snapshot: numbers, rounds, levels, and what each of them is told."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import even, series_with

from streamjob_agent.map_plan import MOST_OTHERS
from streamjob_operator.measure.joining import IDLE_WEIGHT, LEVELS_APART, join
from streamjob_operator.observed import OthersLag
from streamjob_operator.ports import Unavailable
from streamjob_operator.queries import MOST_QUERIES
from streamjob_operator.values import Snapshot
from streamjob_planners.model import FloatArray, GroupId

NAMES = {"a": "orders", "b": "clicks"}


def part(
    query: str, *, batches: int, batch_s: float, busy_s: tuple[float, ...], window_s: float = 60.0, **rates: object
) -> Snapshot:
    """A query whose key groups take so much in each batch; one operator."""
    world = even(2, len(busy_s) // 2, 0.0)
    seen = world.observe(1000.0, window_s)
    busy = np.array(busy_s) * batches
    return dataclasses.replace(
        seen,
        query_id=query,
        run_id=f"run-{query}",
        busy_s=busy,
        cpu_s=busy,
        records=busy,
        rates=dataclasses.replace(seen.rates, batches=batches, mean_batch_s=batch_s, **rates),  # type: ignore[arg-type]
        stages=tuple(dataclasses.replace(one, wall_s=1.0, busy_s=sum(busy_s), spread_s=0.2) for one in seen.stages),
    )


def rows(query: Snapshot, per_batch: FloatArray, row_s: float, count: int) -> Snapshot:
    """With its batches one by one, each of the same seconds."""
    series = series_with(np.tile(per_batch, (count, 1)), row_s=np.full(count, row_s), ended_s=query.taken_at_s)
    return dataclasses.replace(query, series=series)


def test_a_single_query_is_as_it_was() -> None:
    alone = part("a", batches=10, batch_s=2.0, busy_s=(1.0, 1.0))
    assert join([alone], NAMES, {}) == alone


def test_more_queries_than_a_map_holds_are_told() -> None:
    assert MOST_QUERIES == MOST_OTHERS + 1
    one = part("a", batches=10, batch_s=1.0, busy_s=(1.0, 1.0))
    many = [dataclasses.replace(one, query_id=f"{at:03}") for at in range(MOST_QUERIES + 1)]
    assert len(join(many[1:], {}, {}).queries) == MOST_QUERIES
    with pytest.raises(Unavailable, match="65 streaming queries with key groups run in one driver, at most 64 are"):
        join(many, {}, {})


def test_operators_get_numbers_of_their_own_by_query() -> None:
    joined = join(
        [part("b", batches=10, batch_s=1.0, busy_s=(1.0, 2.0)), part("a", batches=10, batch_s=1.0, busy_s=(3.0,) * 4)],
        NAMES,
        {},
    )
    assert joined.group_ids == tuple(
        GroupId(operator=operator, partition=at) for operator, groups in ((0, 4), (1, 2)) for at in range(groups)
    )
    assert joined.busy_s.tolist() == [30.0] * 4 + [10.0, 20.0]
    orders, clicks = joined.queries  # the one with most key groups leads
    assert (orders.name, orders.first_operator, clicks.name, clicks.first_operator) == ("orders", 0, "clicks", 1)
    assert clicks.own(GroupId(operator=1, partition=1)) == GroupId(operator=0, partition=1)
    assert clicks.own(GroupId(operator=0, partition=1)) is None
    assert [stage.operator for stage in joined.stages] == [0, 1]


def test_work_counts_for_a_batch_of_the_lead_in_the_proportion_of_the_batches() -> None:
    lead = part("a", batches=10, batch_s=2.0, busy_s=(1.0,) * 4)
    often = part("b", batches=60, batch_s=0.5, busy_s=(0.1, 0.2), window_s=120.0)
    joined = join([lead, often], NAMES, {})
    assert joined.rates.batches == 10
    assert joined.busy_s == pytest.approx([10.0] * 4 + [3.0, 6.0])  # three of its batches for each of the lead's
    clicks = joined.stages[1]
    assert clicks.busy_s == pytest.approx(3 * 0.3)
    assert clicks.spread_s == pytest.approx(0.2 * 3**0.5)
    assert joined.rates.mean_batch_s == pytest.approx(2.0 + 3 * 0.5)


@pytest.mark.parametrize(
    ("batch_s", "levels", "round_s"),
    [
        (5.8, (0, 0), 5.8),  # of every six seconds: always both
        (4.0, (LEVELS_APART, 2 * LEVELS_APART), 8.0),
    ],
)
def test_queries_that_are_always_in_a_batch_share_levels(
    batch_s: float, levels: tuple[int, int], round_s: float
) -> None:
    both = [part(one, batches=10, batch_s=batch_s, busy_s=(0.1, 0.1)) for one in ("a", "b")]
    joined = join(both, NAMES, {})
    assert tuple(stage.level for stage in joined.stages) == levels
    assert joined.rates.mean_batch_s == round_s


def test_rows_of_the_others_are_their_mean_batches_while_a_row_lasted() -> None:
    lead = rows(part("a", batches=10, batch_s=2.0, busy_s=(1.0,) * 4), np.ones(4), 6.0, 10)
    fast = part("b", batches=30, batch_s=0.5, busy_s=(0.1, 0.1))
    busy = np.where(np.arange(30)[:, None] < 15, [[0.1, 0.3]], [[0.3, 0.1]])
    changing = series_with(busy, row_s=np.full(30, 2.0), ended_s=1000.0)
    series = join([lead, dataclasses.replace(fast, series=changing)], NAMES, {}).series
    assert series is not None
    assert series.trouble(6) is None
    assert series.busy_s[:5, 4:] == pytest.approx(np.tile([0.3, 0.9], (5, 1)))  # three batches a row
    assert series.busy_s[5:, 4:] == pytest.approx(np.tile([0.9, 0.3], (5, 1)))
    assert series.busy_s[:, :4].tolist() == np.ones((10, 4)).tolist()


def test_batches_longer_than_a_row_are_the_mean_of_all_in_every_row() -> None:
    lead = rows(part("a", batches=60, batch_s=0.5, busy_s=(0.2,) * 4), np.full(4, 0.2), 1.0, 60)
    slow = part("b", batches=4, batch_s=9.0, busy_s=(2.0, 6.0))
    busy = np.array([[1.0, 6.0], [3.0, 6.0], [1.0, 6.0], [3.0, 6.0]])
    slow = dataclasses.replace(slow, series=series_with(busy, row_s=np.full(4, 15.0), ended_s=1000.0))
    series = join([lead, slow], NAMES, {}).series
    assert series is not None
    assert series.busy_s[:, 4:] == pytest.approx(np.tile([2.0 / 15, 6.0 / 15], (60, 1)))


def test_an_idle_query_beside_a_busy_one_is_next_to_no_load_and_still_known() -> None:
    lead = part("a", batches=10, batch_s=2.0, busy_s=(1.0,) * 4)
    idle = part("b", batches=0, batch_s=0.0, busy_s=(0.0, 0.0), idle_since_s=900.0)
    idle = dataclasses.replace(rows(idle, np.array([1.0, 5.0]), 2.0, 8), stages=())
    joined = join([lead, idle], NAMES, {})
    assert joined.busy_s[4:] == pytest.approx([10 * IDLE_WEIGHT, 50 * IDLE_WEIGHT])
    assert joined.rates.idle_since_s is None
    assert {stage.operator for stage in joined.stages} == {0, 1}


def test_all_are_idle_or_none_is() -> None:
    idle = [
        part(one, batches=0, batch_s=0.0, busy_s=(0.0, 0.0), idle_since_s=since_s)
        for one, since_s in (("a", 900.0), ("b", 950.0))
    ]
    assert join(idle, NAMES, {}).rates.idle_since_s == 950.0
    assert join(idle, NAMES, {"c": ("1",)}).rates.idle_since_s is None


def test_groups_that_stay_are_named_as_those_of_all_queries() -> None:
    both = [part(one, batches=10, batch_s=1.0, busy_s=(1.0, 1.0)) for one in ("a", "b")]
    joined = join([dataclasses.replace(one, pinned=(one.group_ids[1],)) for one in both], NAMES, {})
    assert joined.pinned == (joined.group_ids[1], joined.group_ids[3])


def test_the_least_room_for_state_is_room_for_all() -> None:
    both = [part(one, batches=10, batch_s=1.0, busy_s=(1.0, 1.0)) for one in ("a", "b")]
    limited = [
        dataclasses.replace(
            one,
            state_memory_bytes=memory,
            executors=tuple(dataclasses.replace(view, state_limit_bytes=limit) for view in one.executors),
        )
        for one, memory, limit in zip(both, (np.array([5.0, 6.0]), None), (100.0, 80.0), strict=True)
    ]
    joined = join(limited, NAMES, {})
    assert [one.state_limit_bytes for one in joined.executors] == [80.0, 80.0]
    assert joined.state_memory_bytes is not None
    assert joined.state_memory_bytes.tolist() == [5.0, 6.0, 0.0, 0.0]


def behind(lag_rows: float, *, batch_s: float = 3.0, lead_lag: float | None = None) -> Snapshot:
    """The lead takes 600 rows in each of ten batches, the other one 100 rows in each of twenty."""
    first = part("a", batches=10, batch_s=2.0, busy_s=(1.0,) * 4, input_rps=100.0, lag_rows=lead_lag)
    other = part("b", batches=20, batch_s=batch_s, busy_s=(0.1, 0.2), input_rps=100.0 / 3, lag_rows=lag_rows)
    return join([first, other], NAMES, {})


def test_batches_of_another_query_that_wait_count_as_rows_of_the_lead() -> None:
    """Ten of its batches are five rounds, and a batch and a half always waits."""
    rates = behind(1150.0).rates
    assert (rates.lag_rows, rates.waiting_rows) == (None, pytest.approx(3000.0))
    assert rates.others_lag == OthersLag(query="clicks", own_rows=pytest.approx(1000.0), rows=pytest.approx(3000.0))


@pytest.mark.parametrize(
    ("lag_rows", "batch_s"),
    [
        (150.0, 3.0),  # no more than what always waits
        (1150.0, 2.0),  # it rests between two batches: executors are not what it lacks
    ],
)
def test_rows_that_executors_do_not_help_with_are_no_lag(lag_rows: float, batch_s: float) -> None:
    rates = behind(lag_rows, batch_s=batch_s, lead_lag=70.0).rates
    assert (rates.others_lag, rates.waiting_rows) == (None, 70.0)


@pytest.mark.parametrize(("lead_lag", "waiting"), [(70.0, 3000.0), (9000.0, 9000.0)])
def test_of_two_queries_that_fall_behind_the_one_with_more_batches_to_do_counts(
    lead_lag: float, waiting: float
) -> None:
    assert behind(1150.0, lead_lag=lead_lag).rates.waiting_rows == pytest.approx(waiting)


def test_what_waits_of_another_query_is_no_rows_of_a_lead_that_takes_none() -> None:
    nothing = part("a", batches=10, batch_s=2.0, busy_s=(1.0,) * 4, input_rps=0.0)
    other = part("b", batches=20, batch_s=3.0, busy_s=(0.1, 0.2), input_rps=100.0 / 3, lag_rows=1150.0)
    assert join([nothing, other], NAMES, {}).rates.others_lag is None
