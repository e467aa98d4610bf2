"""The batch's ledger against placements worked out from scratch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import measures
from streamjob_planners.batch.predict import levels_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.ledger.batch import BatchLedger


def test_ends_and_work_per_slot_stay_those_of_the_placement(small_model):
    rng = np.random.default_rng(2)
    task_s = rng.lognormal(0.0, 0.5, 24)
    model = small_model(rng.integers(0, 4, 24).tolist(), task_s.tolist(), n_nodes=4)
    shape = BatchShape(
        level=np.arange(24) % 3,
        task_s=task_s,
        spread_s=np.zeros(24),
        slots=np.array([1, 2, 3, 1]),
        speed=np.array([1.0, 0.5, 1.0, 1.5]),
    )
    ledger, node_of = BatchLedger(shape, model.node_of), model.node_of.copy()
    for _ in range(100):
        group, target = int(rng.integers(24)), int(rng.integers(4))
        if node_of[group] != target:
            foreseen_s, full_s = ledger.joined_s(group, target), ledger.full_with_s(group, np.array([target]))[0]
            ledger.move(group, target)
            node_of[group] = target
            level = int(shape.level[group])
            assert ledger.node_s[level, target] == pytest.approx(foreseen_s)
            assert ledger.full_s[level, target] == pytest.approx(full_s)
    ledger.lengthen({3: 2.0})
    longer = dataclasses.replace(shape, task_s=task_s + 2.0 * (np.arange(24) == 3))
    assert ledger.node_s == pytest.approx(levels_s(longer, node_of, longer.task_s))
    assert ledger.rms_s(4) == pytest.approx(measures.level_rms_s(model, longer, node_of))
