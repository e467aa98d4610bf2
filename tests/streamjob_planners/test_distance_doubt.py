"""What noise makes of a load distance."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import measures
from streamjob_planners.distance_doubt import distance_doubt


def _level(small_model, error, **changes):
    model = small_model(list(range(4)) * 4, [10.0] * 16, n_nodes=4, **changes)
    return dataclasses.replace(model, load_error=np.full(16, error))


def test_without_errors_there_is_no_doubt(small_model):
    model = _level(small_model, 0.0)
    assert distance_doubt(model, model.node_of) == 0.0
    assert distance_doubt(dataclasses.replace(model, load_error=None), model.node_of) == 0.0


def test_noise_goes_with_the_errors(small_model):
    small, large = (_level(small_model, error) for error in (0.5, 1.0))
    assert distance_doubt(large, large.node_of) == pytest.approx(2 * distance_doubt(small, small.node_of))


def test_noise_hardly_ever_makes_more_of_a_level_placement(small_model):
    model = _level(small_model, 1.0)
    doubt, rng = distance_doubt(model, model.node_of), np.random.default_rng(7)
    drawn = [
        measures.load_distance(dataclasses.replace(model, load=model.load + rng.normal(0.0, 1.0, 16)), model.node_of)
        for _ in range(2000)
    ]
    rarely = float(np.quantile(drawn, 0.998))
    assert rarely < doubt < 2 * rarely


def test_what_a_marked_node_holds_says_nothing_of_the_distance(small_model):
    errors = np.where(np.arange(16) % 4 == 3, 1.0, 0.0)
    marked = np.array([False, False, False, True])
    model = dataclasses.replace(_level(small_model, 0.0, marked=marked), load_error=errors)
    there = distance_doubt(model, model.node_of)
    on_open = distance_doubt(dataclasses.replace(model, load_error=np.roll(errors, 1)), model.node_of)
    assert there < on_open


def test_on_a_larger_node_the_same_noise_is_less(small_model):
    plain = _level(small_model, 1.0)
    large = _level(small_model, 1.0, capacity=np.full(4, 2.0))
    assert distance_doubt(large, large.node_of) == pytest.approx(distance_doubt(plain, plain.node_of) / 2)
