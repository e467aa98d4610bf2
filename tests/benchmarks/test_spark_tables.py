"""Tables of the comparison from made-up runs whose figures are known."""

from __future__ import annotations

from typing import Any

import pytest
import table
from predictions import lines, row
from shifts import Shift, after_shifts


def window(at_s: float, measured_s: float, predicted_s: float) -> dict[str, Any]:
    return {
        "begins_at_s": at_s,
        "ends_at_s": at_s + 10.0,
        "batches": 2,
        "measured_s": measured_s,
        "predicted_s": predicted_s,
        "fixed_s": 0.8,
        "fixed_error_s": 0.1,
        "spread_s": [0.02, 0.04],
    }


def run(system: str, batches_ms: list[float], **more: Any) -> dict[str, Any]:
    skipped = [9000.0] * 8
    durations_ms = [*skipped, *batches_ms]
    return {
        "case": "two-wait",
        "system": system,
        "round": 0,
        "skip": 8,
        "phase": 11,
        "durations_ms": durations_ms,
        "makespan_ms": [3000.0] * len(durations_ms),
        "warm_at_s": 100.0,
        **more,
    }


def test_errors_are_those_of_warm_windows_without_their_sign() -> None:
    windows = [window(90.0, 1.0, 9.0), window(100.0, 5.0, 5.5), window(110.0, 5.0, 4.75), window(120.0, 5.0, 5.0)]
    found = row("two-wait", [run("streamjob", [4000.0], windows=windows)])
    assert found["windows"] == 3
    assert found["batches"] == 6
    assert found["error_p50_pct"] == pytest.approx(5.0)
    assert found["error_p90_pct"] == pytest.approx(9.0)
    assert found["signed_p50_pct"] == pytest.approx(0.0)
    assert found["fixed_ms"] == 800
    assert found["spread_ms"] == [20, 30, 40]
    assert (found["singles"], found["single_p50_pct"]) == (0, None), "a run from before batches were told one by one"


def test_single_batches_count_from_the_first_warm_one_on() -> None:
    singles = [(95.0, 4.0, 9.0), (102.0, 4.0, 4.4), (112.0, 5.0, 5.0), (122.0, 5.0, 4.0), (132.0, 5.0, 5.25)]
    windows = [window(100.0, 5.0, 5.5)]
    found = row("two-wait", [run("streamjob", [4000.0], windows=windows, singles=singles)])
    assert found["singles"] == 3, "the first two began before the run was warm"
    assert found["single_p50_pct"] == pytest.approx(5.0)
    assert "| 3 | 5.0 | 17.0 |" in list(lines([found]))[1]


def test_a_case_is_held_against_its_bound_and_the_fixed_part_of_its_empty_one() -> None:
    placed = [(50.0, 1.9), (110.0, 1.2), (120.0, 1.1), (130.0, 1.05)]
    ours = run("streamjob", [4000.0] * 16, placed_over_bound=placed, placed_with_own=placed[2:])
    sides = {"vanilla": {0: run("vanilla", [6000.0] * 16)}, "streamjob": {0: ours}}
    empty = {**run("vanilla", [1000.0] * 16), "case": "none-two-wait"}
    found = table.row("two-wait", sides, table.fixed_cost_ms([empty], "two-wait"))
    assert found["p50_ratio"] == {"mean": 0.667, "spread": 0.0, "trials": 1}
    assert found["p50_over_bound_and_fixed"] == {"mean": 1.0, "spread": 0.0, "trials": 1}
    assert found["placed_over_bound"] == {"mean": 1.1, "spread": 0.0, "trials": 1}
    assert found["placed_over_bound_at_end"] == {"mean": 1.05, "spread": 0.0, "trials": 1}
    assert found["placed_with_own"] == {"mean": 1.075, "spread": 0.0, "trials": 1}


def test_the_fixed_part_is_unknown_while_the_empty_case_was_not_run() -> None:
    assert table.fixed_cost_ms([run("vanilla", [1000.0])], "two-wait") is None


def test_slow_batches_are_counted_after_each_shift_and_until_the_job_is_balanced_again() -> None:
    fast, slow = [1.0] * 6, [2.0, 2.0, 1.0, 2.0, 1.0, 1.0]
    found = after_shifts([*fast, *slow, *fast, 2.0], 6, [1.0] * 19)
    assert found == [
        Shift(slow=3, until_balanced=None),  # its last two are not enough to be sure
        Shift(slow=0, until_balanced=0),
    ]
    assert after_shifts([*fast, *slow, 1.0], 7, [1.0] * 13) == [Shift(slow=2, until_balanced=3)]


def test_the_seldom_shifted_case_tells_the_median_and_the_worst_shift() -> None:
    durations = [2000.0 if at in (40, 41, 80) else 1000.0 for at in range(128)]
    ours = run("streamjob", [], case="seldom-wait", phase=40) | {
        "durations_ms": durations,
        "makespan_ms": [500.0] * 128,
    }
    assert table.shift_figures([ours], 500.0) == {
        "shifts": 3,
        "slow_after_shift": {"median": 1, "worst": 2},
        "until_balanced": {"median": 1, "worst": 2},
    }
