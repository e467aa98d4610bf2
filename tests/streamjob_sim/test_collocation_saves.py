"""The load that collocation saves is learned from what is measured, and saves an executor (ALBIC paper, 4.1)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from streamjob_operator.steps import estimate
from streamjob_sim.reading import read_world
from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.world import World

WORLD = Path(__file__).parents[2] / "samples" / "worlds" / "talkative.yaml"
START = 4


def run(planner: str) -> Score:
    world: World = read_world(WORLD).model_copy(update={"duration_s": 900.0})
    # Each look at the clock is half a millisecond: how far a plan comes within its deadline is the machine's otherwise.
    return simulate(world, job_of(world), planner, seed=0, clock=itertools.count(step=0.0005).__next__)


def most_wanted(score: Score) -> int:
    return max(turn.wanted for turn in score.turns if turn.wanted is not None)


def test_what_collocation_saves_avoids_scaling_out() -> None:
    score = run("albic")
    assert most_wanted(score) == START
    last = score.turns[-1].record
    assert last is not None
    assert last.verdict.plan is not None
    assert last.verdict.plan.before.collocation_factor == pytest.approx(100.0)
    assert not score.violations


def test_a_planner_that_knows_no_traffic_scales_out() -> None:
    assert most_wanted(run("search")) > START


def test_without_the_estimate_the_same_planner_scales_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "seconds_per_byte", lambda _: 0.0)
    assert most_wanted(run("albic")) > START
