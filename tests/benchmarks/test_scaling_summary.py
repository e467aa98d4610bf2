"""From runs to rows of the table of scaling rules: sums and their spread are of the same seeds."""

from __future__ import annotations

import dataclasses

import pytest
from benchmarks.scaling.pieces import Piece
from benchmarks.scaling.summary import beside, gathered, totals, whole

from streamjob_sim.scaling_score import ScalingScore

NOTHING = ScalingScore(**dict.fromkeys((one.name for one in dataclasses.fields(ScalingScore)), 0))


def run(trace: str, rule: str, seed: int, hours: float, late_rows: float = 0.0) -> tuple[Piece, ScalingScore]:
    score = dataclasses.replace(NOTHING, executor_h=hours, late_rows_ratio=late_rows)
    return Piece(trace=trace, rule=rule, seed=seed, part=1.0), score


RUNS = [
    run("ramp", "ours", 2, 10.0, 0.1),
    run("step", "ours", 2, 20.0, 0.3),
    run("ramp", "theirs", 2, 11.0, 0.2),
    run("step", "theirs", 2, 22.0, 0.4),
    run("step", "ours", 3, 26.0, 0.1),
    run("ramp", "ours", 3, 8.0, 0.1),
    run("ramp", "theirs", 3, 9.0, 0.0),
    run("step", "theirs", 3, 24.0, 0.0),
]


def test_hours_are_summed_and_shares_averaged_seed_by_seed() -> None:
    ours, theirs = totals(gathered(RUNS))
    assert (ours.rule, theirs.rule) == ("ours", "theirs")
    assert ours.executor_h.mean == pytest.approx(32.0)  # 30 and 34
    assert ours.executor_h.spread == pytest.approx(8.0**0.5)
    assert ours.late_rows_ratio.mean == pytest.approx(0.15)  # 0.2 and 0.1
    assert theirs.executor_h.spread == pytest.approx(0.0)  # 33 twice


def test_rules_are_compared_on_the_same_seeds() -> None:
    (row,) = beside(gathered(RUNS), "ours")
    assert row.executor_h.mean == pytest.approx(-1.0)  # -3 and 1
    assert (row.rule, row.seeds, row.cheaper, row.punctual) == ("theirs", 2, 1, 1)


def test_a_seed_of_which_a_run_is_missing_is_left_out() -> None:
    wanted = [piece for piece, _ in RUNS]
    there = gathered(whole(RUNS[:-1], wanted))
    assert {len(seeds) for seeds in there.values()} == {1}
    assert totals(there)[0].executor_h.mean == pytest.approx(30.0)
    assert {len(seeds) for seeds in gathered(whole(reversed(RUNS), wanted)).values()} == {2}
