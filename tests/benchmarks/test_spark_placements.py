"""The true work under a placement: stage by stage, each as long as its slowest executor."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cases
import numpy as np
import pytest
from own_seconds import over_bound
from placements import own_ms, placed_ms

from streamjob_planners.model import GroupId


def snapshot(owner_of: dict[int, list[str]], busy_s: list[float] | None = None) -> Any:
    """Two batches; `busy_s` by operator, the last partition of each first."""
    ids = [
        GroupId(operator=one, partition=at) for one in sorted(owner_of) for at in reversed(range(len(owner_of[one])))
    ]
    return SimpleNamespace(
        group_ids=tuple(ids),
        owners=tuple(owner_of[one.operator][one.partition] for one in ids),
        busy_s=np.array(busy_s or [0.0] * len(ids)),
        rates=SimpleNamespace(batches=2),
    )


def test_each_stage_is_as_long_as_its_slowest_executor_and_operators_are_numbered_from_the_end() -> None:
    case = cases.make_case("two-wait")
    first, second = case.workload().level_ms(0)
    even = [str(at % 4) for at in range(case.partitions)]
    found_ms = placed_ms(snapshot({1: even, 0: ["0", "1", "2", "3", *["3"] * 12]}), case.workload().level_ms(0), 1)
    wanted_ms = max(first[at::4].sum() for at in range(4)) + second[3:].sum()
    assert found_ms == pytest.approx(wanted_ms)


def test_an_executor_of_several_slots_runs_its_tasks_side_by_side() -> None:
    case = cases.make_case("straggler-wait")
    group_ms = case.workload().level_ms(0)[0]
    found_ms = placed_ms(snapshot({0: ["0", "1"] * (case.partitions // 2)}), case.workload().level_ms(0), case.cores)
    assert group_ms.max() <= found_ms < group_ms.sum() / case.cores


def test_what_spark_itself_does_for_a_task_is_the_median_of_its_stage() -> None:
    true_ms = np.array([[100.0, 200.0, 300.0], [10.0, 20.0, 30.0]])
    second, first = [0.070, 0.060, 0.050], [0.8, 0.5, 0.22]  # two batches, the last partition first
    seen = snapshot({0: ["0"] * 3, 1: ["0"] * 3}, busy_s=[*second, *first])
    assert own_ms(seen, true_ms) == pytest.approx(np.array([[50.0], [10.0]]))
    fast = snapshot({0: ["0"] * 3, 1: ["0"] * 3}, busy_s=[0.0] * 6)
    assert own_ms(fast, true_ms).tolist() == [[0.0], [0.0]]


def test_a_placement_is_held_against_the_bound_of_the_same_tasks() -> None:
    level_ms = np.array([[400.0, 100.0, 100.0, 100.0]])
    assert over_bound(level_ms, np.array([0, 1, 1, 1]), 2, 1) == pytest.approx(400.0 / 400.0, rel=1e-6)
    assert over_bound(level_ms + 100.0, np.array([0, 1, 1, 1]), 2, 1) == pytest.approx(600.0 / 550.0, rel=1e-6)
    assert over_bound(level_ms, np.array([0, 0, 1, 1]), 2, 1) == pytest.approx(500.0 / 400.0, rel=1e-6)
