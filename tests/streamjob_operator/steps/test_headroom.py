"""How much more load the placement survives: what batches leave of the trigger interval, and the sentence."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import placed, timed
from worlds import even

from streamjob_operator.steps.estimate import Estimate
from streamjob_operator.steps.headroom import room_of, sentence
from streamjob_operator.values import Room
from streamjob_planners.model import LoadModel

UNEVEN = timed([2.0, 3.0, 3.0], [0, 1, 1])  # 20 and 60 points


def estimated(model: LoadModel, other_load: float = 0.0, interval_s: float | None = None) -> Estimate:
    seen = even(2, 1, 10.0).observe(1000.0, 10.0)
    recent = dataclasses.replace(seen, rates=dataclasses.replace(seen.rates, trigger_interval_s=interval_s))
    return Estimate(model=model, other_load=other_load, growth_ratio=1.0, unmeasured_groups=0, recent=recent)


def alike(fixed_s: float = 0.0, *, interval_s: float | None, other_load: float = 0.0) -> float:
    assert UNEVEN.batch is not None
    model = dataclasses.replace(UNEVEN, batch=dataclasses.replace(UNEVEN.batch, fixed_s=fixed_s))
    room = room_of(estimated(model, other_load, interval_s))
    assert room is not None
    return room.alike_ratio


def test_the_fullest_executor_says_how_much_is_left() -> None:
    room = room_of(estimated(UNEVEN))
    assert room == Room(alike_ratio=pytest.approx(1 / 0.6), any_ratio=None, full_executor="1", mixes=0)


def test_what_batches_take_anyway_is_left_of_the_interval_to_nobody() -> None:
    assert alike(2.0, interval_s=10.0) == pytest.approx(0.8 / 0.6)
    assert alike(20.0, interval_s=10.0) == 0.0
    assert alike(2.0, interval_s=None) == pytest.approx(1 / 0.6), "they follow each other, and may get longer"


def test_without_predicted_batches_the_interval_says_nothing() -> None:
    room = room_of(estimated(placed([20.0, 60.0], [0, 1]), interval_s=10.0))
    assert room is not None
    assert room.alike_ratio == pytest.approx(1 / 0.6)


def test_work_that_is_on_no_key_group_counts_too() -> None:
    assert alike(interval_s=None, other_load=20.0) == pytest.approx(1 / 0.7)


def test_the_mixes_that_batches_held_are_counted() -> None:
    series = np.tile(UNEVEN.load, (6, 1))
    room = room_of(estimated(dataclasses.replace(UNEVEN, load_series=series)))
    assert room is not None
    assert (room.mixes, room.any_ratio) == (6, pytest.approx(1 / 0.6))


def test_without_load_there_is_nothing_to_say() -> None:
    assert room_of(estimated(placed([0.0], [0]))) is None


def test_the_sentence_speaks_of_mixes_only_where_there_were_enough() -> None:
    assert sentence(Room(alike_ratio=1.66, any_ratio=None, full_executor="1", mixes=0)) == (
        "Survives 1.7 x today's load if all of it grows alike; executor 1 is full first."
    )
    assert sentence(Room(alike_ratio=1.66, any_ratio=1.21, full_executor="1", mixes=6)) == (
        "Survives 1.2 x today's load whatever grows of what the last 6 batches held, 1.7 x if all of it grows alike; "
        "executor 1 is full first."
    )
