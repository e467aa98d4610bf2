"""Heavy and light groups are told apart by the widest gap between neighbours, or not at all."""

from __future__ import annotations

import numpy as np

from streamjob_planners.two_kinds import heavy_ones


def test_heavy_groups_are_a_kind_apart_or_none():
    load = np.array([1.0, 0.9, 9.0, 1.1, 8.0, 1.2, 0.8, 1.0])
    assert np.flatnonzero(heavy_ones(load, 2, 4)).tolist() == [2, 4]
    assert heavy_ones(load, 3, 4) is None, "two are too few"
    assert heavy_ones(load, 1, 1) is None, "two are too many"
    assert heavy_ones(np.geomspace(1.0, 20.0, 40), 3, 20) is None, "no gap between neighbours"
    assert heavy_ones(np.zeros(8), 2, 4) is None
    assert heavy_ones(load[:2], 4, 4) is None, "fewer groups than heavy ones"
