"""Rows that came during a long batch are in none yet: what was taken is then less than what arrives."""

import dataclasses

import numpy as np
import pytest
from situations import busy, situation_of
from worlds import series_with

from streamjob_operator.scaling.late import late_ratio
from streamjob_operator.scaling.utilization.needs import by_load
from streamjob_operator.values import Snapshot

ARRIVING_RPS = 280.0


def batches(*seconds: float, window: int = 1) -> Snapshot:
    """Batches on end, each with what arrived during the one before; the newest `window` of them are the window."""
    snapshot, took_s = busy(4, 50.0), np.array(seconds)
    rows = ARRIVING_RPS * np.append(took_s[0], took_s[:-1])
    busy_s = np.tile((rows / rows.sum())[:, None], len(snapshot.group_ids))
    series = series_with(busy_s, row_s=took_s, ended_s=snapshot.taken_at_s, input_rps=rows / took_s)
    series = dataclasses.replace(series, batch_s=took_s)
    window_s = float(took_s[-window:].sum())
    return dataclasses.replace(
        snapshot,
        window_s=window_s,
        busy_s=snapshot.busy_s * window_s / snapshot.window_s,
        series=series,
        rates=dataclasses.replace(snapshot.rates, input_rps=float(rows[-window:].sum()) / window_s),
    )


@pytest.mark.parametrize("seconds", [(3.0, 3.6, 4.4, 11.9), (1.0, 1.0, 1.0, 6.0), (2.0, 2.0, 2.0, 2.0)])
@pytest.mark.parametrize("window", [1, 2, 3])
def test_rows_that_arrive_are_known_from_what_the_next_batch_took(seconds: tuple[float, ...], window: int) -> None:
    snapshot = batches(*seconds, window=window)
    assert snapshot.rates.input_rps * late_ratio(snapshot) == pytest.approx(ARRIVING_RPS)


@pytest.mark.parametrize("seconds", [(12.0, 6.0, 3.0, 1.0), (2.6, 2.5, 2.6, 3.0)])
def test_batches_that_get_shorter_or_vary_leave_nothing_late(seconds: tuple[float, ...]) -> None:
    assert late_ratio(batches(*seconds)) == 1.0


def test_without_a_series_or_a_batch_before_the_window_nothing_is_known_to_be_late() -> None:
    snapshot = batches(3.0, 3.6, 4.4, 11.9, window=4)
    assert late_ratio(dataclasses.replace(snapshot, series=None)) == 1.0
    assert late_ratio(batches(11.9)) == 1.0


def test_a_fleet_is_not_calm_while_rows_wait_for_a_long_batch() -> None:
    """Four executors at 50 percent: three would do for what was taken, not for what arrived."""
    steady, late = situation_of(batches(4.4, 4.4, 4.4)), situation_of(batches(4.4, 4.4, 11.9))
    assert by_load(steady).calm <= 4
    assert by_load(late).executors == by_load(steady).executors
    assert by_load(late).calm > 4
