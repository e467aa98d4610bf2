"""The spread over windows, against the paper's formula written out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners.baselines.uhlb import draw_hash
from streamjob_planners.spread import spread


def test_it_is_the_sum_of_the_variances_of_the_windows(small_model):
    series = np.random.default_rng(1).uniform(0.0, 10.0, (5, 6))
    model = small_model([0, 1, 2, 0, 1, 2], [5.0] * 6, n_nodes=3, load_series=series)
    found = spread(model, model.node_of)
    loads = [[row[0] + row[3], row[1] + row[4], row[2] + row[5]] for row in series]
    assert found.imbalance == pytest.approx(sum(np.var(one) for one in loads))
    assert found.rms == pytest.approx(np.sqrt(np.mean([np.var(one) for one in loads])))
    assert found.peak == pytest.approx(max(max(one) - np.mean(one) for one in loads))
    assert found.swing == pytest.approx(np.std(loads, axis=0))


def test_marked_nodes_and_missing_series(small_model):
    series = np.array([[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]])
    marked = np.array([False, False, True])
    model = small_model([0, 1, 2], [4.0] * 3, n_nodes=3, marked=marked, load_series=series)
    assert spread(model, model.node_of).peak == pytest.approx(-2.0)  # what the marked node holds is still to come
    assert spread(dataclasses.replace(model, load_series=None), model.node_of) is None
    assert spread(dataclasses.replace(model, load_series=series[:0]), model.node_of) is None


def test_the_hashes_are_2_universal():
    rng = np.random.default_rng(0)
    collisions = np.mean([np.equal(*draw_hash(100, 10, rng)[[3, 57]]) for _ in range(4000)])
    assert collisions <= 0.1 + 3 * np.sqrt(0.09 / 4000)
    with pytest.raises(ValueError, match="n_nodes"):
        draw_hash(3, 0, rng)
