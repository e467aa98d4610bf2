"""Predictions of single batches: each batch counts once, by what was known before it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from rich.console import Console

from streamjob_operator.asking.decision import decided
from streamjob_operator.asking.show import decision_sentences
from streamjob_operator.digest import digest
from streamjob_operator.series import BatchTimes, joined
from streamjob_operator.singles import SingleBatches, single_batches
from streamjob_operator.values import CycleRecord
from streamjob_operator.view_panels import figures_panel


def times(ends: list[float], measured: list[float], predicted: list[float]) -> BatchTimes:
    return BatchTimes(ended_at_s=np.array(ends), measured_s=np.array(measured), predicted_s=np.array(predicted))


EARLY = times([10.0, 20.0], [4.0, 5.0], [4.4, 5.0])
LATE = times([20.0004, 30.0], [5.0, 2.0], [9.0, 1.0])
"""Two windows that overlap: the batch that ended at 20 was predicted again, with what it had taught itself."""


def test_a_batch_counts_once_by_its_first_prediction() -> None:
    found = joined([EARLY, LATE])
    assert found is not None
    assert found.ended_at_s.tolist() == [10.0, 20.0, 30.0]
    assert found.predicted_s.tolist() == [4.4, 5.0, 1.0]
    assert joined([]) is None


def test_errors_are_parts_of_the_measured_seconds_of_batches_that_took_any() -> None:
    assert times([1.0, 2.0, 3.0], [4.0, 0.0, 2.0], [5.0, 1.0, 1.0]).error_ratio == pytest.approx([0.25, 0.5])


def test_half_and_nine_of_ten() -> None:
    found = single_batches([None, EARLY, LATE])
    assert found is not None
    assert (found.batches, found.median_pct) == (3, pytest.approx(10.0))
    assert found.most_pct == pytest.approx(np.percentile([0.0, 10.0, 50.0], 90))
    assert single_batches([None]) is None
    assert single_batches([times([1.0], [0.0], [1.0])]) is None, "a batch that took no time has no error"


def test_one_batch_is_no_distribution() -> None:
    one = SingleBatches(batches=1, median_pct=3.2, most_pct=3.2)
    assert one.sentence == "One batch was predicted by itself, and off by 3 percent."


def test_people_see_it_in_the_live_view_and_in_explain(make_record: Callable[..., CycleRecord]) -> None:
    record = dataclasses.replace(make_record("00120012", at_s=1006.0, act=False), batch_times=EARLY)
    console = Console(width=160)
    with console.capture() as shown:
        console.print(figures_panel([digest(record)], 10.0, 0))
    assert "nine of ten by 9 % at most, of 2 predicted ones" in shown.get()
    assert single_batches([EARLY]) == decided(record, "small", 1, 6).singles
    told = "Of 2 batches that were predicted one by one, half were off by 5 percent at most, nine of ten by 9."
    assert list(decision_sentences(decided(record, "small", 1, 6)))[-1] == told
