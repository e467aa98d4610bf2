"""An executor that becomes slow in mid-run gets less to do, and its part back when it has recovered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sim_worlds import run

from streamjob_sim.score import Score

SLOW_S, WELL_S, END_S, PERIOD_S = 600.0, 1200.0, 1800.0, 60.0
KEPT = 1 / 3


def world() -> dict[str, Any]:
    """Four executors of two slots, 32 equal key groups: 1.9 s of work for each executor, and a batch every 10 s."""
    slow = {
        "kind": "ExecutorSlow",
        "executor": "2",
        "at": f"{SLOW_S:g}s",
        "for": f"{WELL_S - SLOW_S:g}s",
        "share": KEPT,
    }
    return {
        "duration": f"{END_S:g}s",
        "arrival": {"rate": 1500},
        "batch": {"noise": 0.05},
        "faults": [slow],
    }


def speeds(score: Score, at_s: float) -> dict[str, float]:
    """Of the executors that differ, as remembered at that turn."""
    record = next(turn.record for turn in score.turns if turn.at_s == at_s)
    assert record is not None
    assert record.memory is not None
    return {name: pace.speed for name, pace in record.memory.batches.paces.items() if pace.speed != 1.0}


def mean_batch_s(score: Score, start_s: float, end_s: float) -> float:
    return float(np.mean([batch.length_s for batch in score.batches if start_s < batch.end_s <= end_s]))


def bound_s(kept: float) -> float:
    """Ten seconds' records in 32 equal tasks, one executor with `kept` of its speed: the best of all splits."""
    task_s = 15_000 / 32 / 1000 + 0.005
    ends = (max(np.ceil((32 - n) / 6) * task_s, np.ceil(n / 2) * task_s / kept) for n in range(33))
    return 0.2 + float(min(ends))


def test_a_slow_executor_is_relieved_within_three_cycles_and_trusted_again_when_it_has_recovered() -> None:
    score = run(world(), planner="search")
    assert speeds(score, SLOW_S) == {}
    assert speeds(score, SLOW_S + 3 * PERIOD_S) == {"2": pytest.approx(KEPT, rel=0.2)}
    relieved_s = SLOW_S + 3 * PERIOD_S
    # Noise makes the slowest of eight slots take a little longer than the mean, at any placement.
    noise = mean_batch_s(score, 0.0, SLOW_S) / bound_s(1.0)
    assert mean_batch_s(score, relieved_s, WELL_S) <= 1.1 * noise * bound_s(KEPT)
    told = [turn.record.verdict.message for turn in score.turns if turn.at_s == relieved_s and turn.record]
    assert "Executor 2 works at 0.3" in told[0]
    assert speeds(score, WELL_S + 3 * PERIOD_S) == {}
    assert mean_batch_s(score, WELL_S + 3 * PERIOD_S, END_S) <= 1.1 * noise * bound_s(1.0)
