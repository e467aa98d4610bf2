"""The distribution of batch times against a hundred thousand drawn batches."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.batch.predict import predict
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.sizing.lateness import Duration, duration, largest


@pytest.mark.parametrize("nodes", [1, 2, 7, 40])
def test_the_largest_of_several_has_the_mean_and_spread_of_drawn_ones(nodes: int) -> None:
    rng = np.random.default_rng(nodes)
    mean, spread = rng.uniform(4.0, 5.0, nodes), rng.uniform(0.1, 0.6, nodes)
    drawn = rng.normal(mean, spread, (100_000, nodes)).max(axis=1)
    found, variance = largest(mean, spread)
    assert found == pytest.approx(drawn.mean(), abs=0.01)
    assert variance == pytest.approx(drawn.var(), rel=0.05)


def test_without_spread_it_is_late_or_it_is_not() -> None:
    sharp = Duration(mean_s=4.0, spread_s=0.0)
    assert (sharp.late_ratio(4.0), sharp.late_ratio(3.9), sharp.late_ratio(4.1)) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("common", [0.0, 0.1])
def test_how_often_a_batch_is_late_is_as_often_as_drawn_ones_are(common: float) -> None:
    rng = np.random.default_rng(3)
    groups, nodes = 24, 4
    shape = BatchShape(
        level=np.repeat([0, 1], groups // 2),
        task_s=rng.uniform(0.5, 1.5, groups),
        spread_s=np.full(groups, 0.3),
        slots=np.ones(nodes, dtype=np.int64),
        speed=np.ones(nodes),
        fixed_s=0.5,
    )
    owner = np.arange(groups) % nodes
    tasks = rng.normal(shape.task_s, shape.spread_s, (100_000, groups))
    sums = np.stack(
        [tasks[:, (owner == node) & (shape.level == level)].sum(axis=1) for level in (0, 1) for node in range(4)]
    )
    drawn = 0.5 + sums[:4].max(axis=0) + sums[4:].max(axis=0)
    drawn = drawn * rng.normal(1.0, common, drawn.size)
    found = duration(shape, owner, predict(shape, owner), common)
    assert found.mean_s == pytest.approx(drawn.mean(), rel=0.01)
    for limit_s in np.quantile(drawn, [0.5, 0.9, 0.95, 0.99]):
        late = float((drawn > limit_s).mean())
        assert found.late_ratio(float(limit_s)) == pytest.approx(late, abs=0.02)


def test_more_time_never_makes_it_late_more_often() -> None:
    some = Duration(mean_s=4.0, spread_s=0.7)
    ratios = [some.late_ratio(limit_s) for limit_s in np.linspace(0.0, 10.0, 50)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == 1.0
