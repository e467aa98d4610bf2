"""Jobs whose key groups are hot in turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import LoadModel

WINDOWS = 24


@pytest.fixture
def turning(small_model) -> Callable[..., LoadModel]:
    """`sets`: the set of each key group; a set is `hot` times as heavy in every window that is its turn."""

    def make(node_of, sets, *, n_nodes, level=None, hot=3.0, noise=0.0, task_s=None, cost_s=0.01, **changes):
        sets, rng = np.array(sets), np.random.default_rng(5)
        own = np.ones(sets.size) if task_s is None else np.array(task_s, dtype=np.float64)
        turn = np.where(np.arange(WINDOWS)[:, None] % (sets.max() + 1) == sets, hot, 1.0)
        series = own * turn * rng.lognormal(0.0, noise, turn.shape)
        shape = BatchShape(
            level=np.zeros(sets.size, dtype=np.int64) if level is None else np.array(level),
            task_s=series.mean(axis=0),
            spread_s=np.zeros(sets.size),
            slots=np.ones(n_nodes, dtype=np.int64),
            speed=np.ones(n_nodes),
        )
        changes = {"migration_cost_s": np.full(sets.size, cost_s), **changes}
        load = series.mean(axis=0).tolist()
        return small_model(list(node_of), load, n_nodes=n_nodes, batch=shape, load_series=series, **changes)

    return make
