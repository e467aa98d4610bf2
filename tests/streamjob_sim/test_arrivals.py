"""Executors that were asked for carry their share in the first batch after they are ready; the plan holds from then."""

from __future__ import annotations

import pytest
from sim_worlds import elastic, run

from streamjob_sim.score import Score

DOUBLED = {
    "duration": "25m",
    "arrival": {"rate": 3000, "noise": 0.05, "steps": [{"at": "5m", "rate": 7000}]},
    "batch": {"noise": 0.05},
    "executors": {"initial": 3},
    "policy": elastic("utilization"),  # which asks for more than one
}


def first_share(score: Score, index: int) -> tuple[int, float]:
    """Batches, and an executor's part of an even share of the work, up to the first batch in which it has some."""
    ready_s = score.lives[index].ready_at_s
    for number, batch in enumerate((one for one in score.batches if one.started_s >= ready_s), start=1):
        busy_s = batch.executor_busy_s
        if index < busy_s.size and busy_s[index] > 0:
            return number, float(busy_s[index] * batch.executors / busy_s.sum())
    raise AssertionError(f"executor {index} never got a key group")


@pytest.mark.parametrize("seed", range(1, 4))
def test_from_ready_to_carrying_its_share_is_one_boundary(seed: int) -> None:
    score = run(DOUBLED, seed=seed)
    newcomers = [index for index, one in enumerate(score.lives) if one.ready_at_s > 0 and one.gone_at_s > 1500]
    assert len(newcomers) >= 2
    shares = [first_share(score, index) for index in newcomers]
    assert {number for number, _ in shares} == {1}
    assert min(share for _, share in shares) > 0.5
    assert score.violations == ()


@pytest.mark.parametrize("seed", range(1, 4))
def test_the_share_is_not_planned_again(seed: int) -> None:
    score = run(DOUBLED, seed=seed)
    first_s = min(one.ready_at_s for one in score.lives if one.ready_at_s > 0)
    at_once = next(batch.moves for batch in score.batches if batch.started_s >= first_s)
    later = sum(batch.moves for batch in score.batches if batch.started_s > first_s) - at_once
    groups = score.batches[0].task_s.size
    assert 0 < at_once <= groups
    assert later <= 2 * groups  # what scale-outs in the backlog ask for, and the drains after it
    assert not any(batch.moves for batch in score.batches if batch.started_s > 1200.0)  # none travels for ever
