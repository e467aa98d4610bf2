"""Worlds that do not change, whose tasks vary, with one batch in each window: there is nothing to gain."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from sim_worlds import merged, operators, run

from streamjob_planners.batch.predict import predict
from streamjob_sim.score import Score

LEARNED = 10
"""Batches with which what a job does is learned."""
EVEN: dict[str, Any] = {}
SKEWED: dict[str, Any] = {"skew": {"keys": 400, "exponent": 0.8}}
PAYBACK = 10
WORLDS = pytest.mark.parametrize(
    ("skew", "cores"),
    [
        pytest.param(SKEWED, 1, marks=pytest.mark.slow, id="skewed, a slot each"),
        pytest.param(SKEWED, 2, marks=pytest.mark.long, id="skewed, two slots each"),
        pytest.param(EVEN, 1, marks=pytest.mark.long, id="even, a slot each"),
        pytest.param(EVEN, 2, marks=pytest.mark.long, id="even, two slots each"),
    ],
)
"""Where there is skew there is something that noise may be taken for."""


def noisy(batches: int, skew: dict[str, Any], cores: int) -> dict[str, Any]:
    """Two chained stages; a window of the statistics period holds a single batch."""
    stage = {"partitions": 16 * cores, **skew}
    return {
        "duration": f"{60 * batches}s",
        "operators": operators(stage, {"name": "second", **stage}),
        "arrival": {"rate": 200.0 * cores},
        "batch": {"trigger": "60s", "noise": 0.3},
        "executors": {"cores": cores},
        "policy": {"balancing": {"maxIterations": 300, "payback": PAYBACK}},
    }


def late_moves(score: Score) -> int:
    return sum(batch.moves for batch in score.batches[LEARNED:])


def truly_gained_s(score: Score) -> list[float]:
    """What each plan gained within its payback, less what it cost, by the mean of all batches; seconds."""
    task_s = np.mean([batch.task_s - batch.loading_s for batch in score.batches], axis=0)
    gains = []
    for turn in score.turns[LEARNED:]:
        verdict, model = (None, None) if turn.record is None else (turn.record.verdict, turn.record.model)
        if verdict is None or not verdict.act or verdict.plan is None or model is None or model.batch is None:
            continue
        shape = dataclasses.replace(model.batch, task_s=task_s)
        before_s, after_s = (predict(shape, place).batch_s for place in (model.node_of, verdict.plan.node_of))
        gains.append(PAYBACK * (before_s - after_s) - verdict.cost_s)
    return gains


def test_noise_alone_moves_hardly_anything() -> None:
    score = run(noisy(40, SKEWED, cores=1), planner="greedy")
    assert len(score.batches) >= 39
    assert late_moves(score) <= 3
    assert all(gain_s >= 0 for gain_s in truly_gained_s(score))


def test_executors_that_stay_empty_are_not_filled_again_and_again() -> None:
    few = {"operators": operators({"partitions": 6, **SKEWED}), "executors": {"initial": 8, "cores": 1}}
    score = run(merged(noisy(40, SKEWED, cores=1), {**few, "policy": {"executors": {"min": 8, "max": 8}}}))
    assert len(score.batches) >= 39
    assert late_moves(score) == 0


DISTANT: dict[str, Any] = {"policy": {"balancing": {"objective": "loadDistance", "maxLoadDistance": 2}}}


def test_noise_alone_moves_hardly_anything_by_load_distance() -> None:
    score = run(merged(noisy(40, SKEWED, cores=1), DISTANT), planner="greedy")
    assert len(score.batches) >= 39
    assert late_moves(score) <= 3


def test_where_tasks_hardly_vary_the_load_distance_falls_as_without_regard_to_noise() -> None:
    calm = merged(noisy(20, SKEWED, cores=1), {"batch": {"noise": 0.01}, "executors": {"placement": "Piled"}})
    score = run(merged(calm, DISTANT), planner="greedy")
    plans = [turn.record.verdict.plan for turn in score.turns if turn.record is not None and turn.record.verdict.plan]
    assert plans[0].before.load_distance > 10.0
    assert plans[-1].before.load_distance <= 2.0


@WORLDS
@pytest.mark.timeout(900)
def test_a_thousand_noisy_batches(skew: dict[str, Any], cores: int) -> None:
    score = run(noisy(1000, skew, cores), planner="greedy")
    assert late_moves(score) <= 10
    assert all(gain_s >= 0 for gain_s in truly_gained_s(score))


@WORLDS
@pytest.mark.timeout(900)
def test_a_thousand_noisy_batches_by_load_distance(skew: dict[str, Any], cores: int) -> None:
    score = run(merged(noisy(1000, skew, cores), DISTANT), planner="greedy")
    assert late_moves(score) <= 10
