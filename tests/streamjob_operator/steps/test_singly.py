"""Batches one by one, those in which key groups move among them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import even, series_with

from streamjob_operator.series import BatchSeries, BatchTimes
from streamjob_operator.steps.singly import batch_times
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.batch.learned import Learned, MoveEvidence

SECONDS = (1.0, 3.0, 1.0, 3.0)
MOVE_S, MEGABYTE_S = 0.5, 1.0
KNOWN = Memory(
    batches=Knowledge(
        fixed_s=Learned(mean=0.25),
        moves=MoveEvidence(weight=2.0, x=1e6, y=2.0, xx=1e12, xy=1.5e6),  # 0.5 s, and 1.5 s with a megabyte
    )
)
BEFORE, AFTER = (0, 0, 1, 1), (0, 1, 1, 1)


def seen(*owners: tuple[int, ...], moved: dict[int, int], batches: dict[int, int] | None = None) -> Snapshot:
    """A batch every two seconds of the same work, each in a row of its own, on these executors; all in the window."""
    rows = len(owners)
    snapshot = even(2, 2, 20.0).observe(1000.0, 2.0 * rows)
    series = series_with(np.array([SECONDS] * rows), row_s=np.full(rows, 2.0), ended_s=1000.0)
    columns = {"moved": series.moved.copy(), "batches": series.batches.copy()}
    for name, values in (("moved", moved), ("batches", batches or {})):
        for row, value in values.items():
            columns[name][row] = value
    series = dataclasses.replace(series, owners=np.array(owners), **columns)
    rates = dataclasses.replace(snapshot.rates, batches=rows, other_busy_s=0.0)
    return dataclasses.replace(
        snapshot,
        series=series,
        rates=rates,
        owners=tuple(str(one) for one in owners[-1]),
        state_bytes=np.array([0.0, 1e6, 0.0, 0.0]),
    )


def with_series(snapshot: Snapshot, **columns: object) -> Snapshot:
    assert snapshot.series is not None
    series: BatchSeries = dataclasses.replace(snapshot.series, **columns)  # type: ignore[arg-type]
    return dataclasses.replace(snapshot, series=series)


def rows_of(snapshot: Snapshot, times: BatchTimes | None) -> list[int]:
    """Rows of the series that were predicted."""
    assert snapshot.series is not None
    return [] if times is None else np.flatnonzero(np.isin(snapshot.series.ended_at_s, times.ended_at_s)).tolist()


def predicted_s(snapshot: Snapshot, memory: Memory = KNOWN) -> dict[int, float]:
    """By row of the series."""
    times = batch_times(snapshot, memory)
    seconds = [] if times is None else times.predicted_s.tolist()
    return dict(zip(rows_of(snapshot, times), seconds, strict=True))


def test_a_batch_in_which_a_key_group_moves_takes_its_loading_longer() -> None:
    told = predicted_s(seen(BEFORE, BEFORE, AFTER, AFTER, moved={2: 1}))
    assert told == pytest.approx({0: 4.25, 1: 4.25, 2: 7.25 + MOVE_S + MEGABYTE_S, 3: 7.25})


def test_loading_beside_longer_work_costs_nothing() -> None:
    """Key group 2 comes to an executor that is not the slowest even with what it has to load."""
    told = predicted_s(seen((0, 1, 1, 1), (0, 1, 0, 1), (0, 1, 0, 1), moved={1: 1}))
    assert told == pytest.approx({0: 7.25, 1: 6.25, 2: 6.25})


def test_moves_that_load_side_by_side_on_two_slots_cost_once() -> None:
    snapshot = seen(BEFORE, (0, 1, 0, 1), moved={1: 2})
    two = tuple(dataclasses.replace(one, cores=2) for one in snapshot.executors)
    snapshot = dataclasses.replace(snapshot, executors=two, state_bytes=np.zeros(4))
    assert predicted_s(snapshot)[1] == pytest.approx(0.25 + 3.0 + MOVE_S)


def test_batches_are_predicted_while_moves_are_still_to_make() -> None:
    snapshot = dataclasses.replace(seen(BEFORE, AFTER, moved={1: 1}), moves_pending=2)
    assert list(predicted_s(snapshot, dataclasses.replace(KNOWN, acted_at_s=997.5))) == [0, 1]


def test_a_page_in_mid_batch_has_executors_of_the_next_batch_already() -> None:
    """Nothing has moved in the batch that the page counts last, so its key groups were where they had been."""
    told = predicted_s(seen(BEFORE, AFTER, AFTER, moved={2: 1}))
    assert told == pytest.approx({0: 4.25, 1: 4.25, 2: 8.75})


@pytest.mark.parametrize(
    ("owners", "moved", "batches", "known"),
    [
        pytest.param((BEFORE, AFTER, AFTER), {1: 2}, {}, [0, 2], id="not all that moved are told"),
        pytest.param((BEFORE, AFTER, AFTER), {1: 1}, {1: 2}, [0, 2], id="in which of two batches it moved"),
        pytest.param((BEFORE, AFTER, AFTER), {0: 1, 1: 1}, {}, [1, 2], id="where the first ones came from"),
        pytest.param(((0, 0, 1, 7), (0, 0, 1, 1)), {1: 1}, {}, [1], id="an executor that is gone"),
        pytest.param(((0, -1, 1, 1), (0, 0, 1, 1)), {}, {}, [1], id="one that had run nothing"),
    ],
)
def test_a_batch_of_which_nobody_knows_who_ran_what_is_not_predicted(
    owners: tuple[tuple[int, ...], ...], moved: dict[int, int], batches: dict[int, int], known: list[int]
) -> None:
    assert list(predicted_s(seen(*owners, moved=moved, batches=batches))) == known


def test_batches_of_before_executors_came_or_went_are_left_out() -> None:
    snapshot = with_series(seen(BEFORE, BEFORE, BEFORE, moved={}), executors_changed=np.array([0, 1, 0]))
    assert list(predicted_s(snapshot)) == [2]
    assert batch_times(with_series(snapshot, executors_changed=np.array([0, 0, 1])), KNOWN) is None


def test_loading_on_an_executor_that_ran_nothing_before_is_not_foretold() -> None:
    """It is cold, which costs more than loading does; in the batch after that it is not."""
    told = predicted_s(seen((0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 1, 0), moved={1: 1, 2: 1}))
    assert told == pytest.approx({0: 8.25, 2: 4.0 + MOVE_S + 0.25})


def test_with_nothing_known_before_nothing_is_predicted() -> None:
    assert batch_times(seen(BEFORE, AFTER, moved={1: 1}), Memory()) is None
    assert batch_times(dataclasses.replace(seen(BEFORE, moved={}), series=None), KNOWN) is None
