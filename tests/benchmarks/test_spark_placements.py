"""The true work under a placement: stage by stage, each as long as its slowest executor."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cases
import pytest
from placements import placed_ms

from streamjob_planners.model import GroupId


def snapshot(owner_of: dict[int, list[str]]) -> Any:
    ids = [
        GroupId(operator=one, partition=at) for one in sorted(owner_of) for at in reversed(range(len(owner_of[one])))
    ]
    return SimpleNamespace(group_ids=tuple(ids), owners=tuple(owner_of[one.operator][one.partition] for one in ids))


def test_each_stage_is_as_long_as_its_slowest_executor_and_operators_are_numbered_from_the_end() -> None:
    case = cases.make_case("two-wait")
    first, second = case.workload().level_ms(0)
    even = [str(at % 4) for at in range(case.partitions)]
    found_ms = placed_ms(snapshot({1: even, 0: ["0", "1", "2", "3", *["3"] * 12]}), case)
    wanted_ms = max(first[at::4].sum() for at in range(4)) + second[3:].sum()
    assert found_ms == pytest.approx(wanted_ms)


def test_an_executor_of_several_slots_runs_its_tasks_side_by_side() -> None:
    case = cases.make_case("straggler-wait")
    group_ms = case.workload().level_ms(0)[0]
    found_ms = placed_ms(snapshot({0: ["0", "1"] * (case.partitions // 2)}), case)
    assert group_ms.max() <= found_ms < group_ms.sum() / case.cores
