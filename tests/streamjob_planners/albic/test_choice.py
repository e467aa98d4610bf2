"""Which target is walked to."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.albic.improved.choice import Target, best_of
from streamjob_planners.albic.settings import AlbicSettings

SETTINGS = AlbicSettings(least_gain_ratio=0.01, move_price_ratio=0.05)


def _target(gain: float, moved: float) -> Target:
    return Target(node_of=np.zeros(1, dtype=np.int64), gain=gain, moved=moved, gathers=False)


def test_the_last_pairs_are_gathered_before_all_traffic_is_cut_anew():
    pairs, cut = _target(gain=0.004, moved=0.01), _target(gain=0.1, moved=0.8)
    assert best_of([pairs, cut], SETTINGS) is pairs


@pytest.mark.parametrize(
    ("gain", "moved"),
    [(0.009, 0.001), (0.0, 0.0), (-0.1, 0.2), (0.02, 0.5)],
    ids=["too little to start", "nothing to do", "a loss", "not worth its moves"],
)
def test_what_does_not_pay_is_left(gain, moved):
    assert best_of([_target(gain, moved)], SETTINGS) is None


def test_a_loss_is_never_the_way_to_a_gain():
    loss, cut = _target(gain=-0.001, moved=0.01), _target(gain=0.1, moved=0.8)
    assert best_of([loss, cut], SETTINGS) is cut
