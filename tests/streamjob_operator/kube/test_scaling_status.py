"""What a status keeps of a scaling decision is enough to ask the batch model again."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import even, job, warm

from streamjob_operator.asking.decision import decided
from streamjob_operator.asking.predictions import predicted
from streamjob_operator.kube.models.scaling import MOST_SHARES, ScalingStatus
from streamjob_operator.kube.report.scaling import measured_of, scaling_of, stages_of
from streamjob_operator.values import CycleRecord


def record(groups_each: int = 4) -> CycleRecord:
    of, world = job(), even(2, groups_each, 240.0 / (2 * groups_each))
    world.loads[0] *= 3.0
    warm(world, of)
    return world.turn(of)


def kept(of: CycleRecord) -> ScalingStatus:
    found = scaling_of(of)
    assert found is not None
    return ScalingStatus.model_validate_json(found.model_dump_json(by_alias=True, exclude_none=True))


def test_the_same_is_predicted_from_the_status_as_from_the_record() -> None:
    of = record()
    before, after = decided(of, "j", None, None).measured, measured_of(kept(of))
    for executors in (1, 2, 3, 6):
        one, other = (predicted(measured, executors, 20.0) for measured in (before, after))
        assert other.batch_s == pytest.approx(one.batch_s, rel=1e-3)
        assert other.most_rps == pytest.approx(one.most_rps, rel=1e-3)


def test_of_many_key_groups_the_heaviest_is_kept() -> None:
    of = record(groups_each=MOST_SHARES)
    status = kept(of)
    assert status.stages[-1].shares is None
    assert len(status.model_dump_json()) < 2000
    before, after = decided(of, "j", None, None).measured, measured_of(status)
    for executors in (1, 2, 6):
        one, other = (predicted(measured, executors, 20.0) for measured in (before, after))
        assert other.batch_s == pytest.approx(one.batch_s, rel=0.02)


def test_what_each_task_has_alike_is_kept_beside_what_goes_with_its_size() -> None:
    of = record()
    before = decided(of, "j", None, None).measured
    each_s = before.work.task_fixed_s + before.work.task_row_s * before.rows
    fixed_s = 0.02 + 0.3 * (each_s - 0.02)
    work = dataclasses.replace(before.work, task_fixed_s=fixed_s, task_row_s=(each_s - fixed_s) / before.rows)
    stages = tuple(stages_of(dataclasses.replace(before, work=work)))
    assert stages[-1].task_seconds == pytest.approx(0.7 * 0.02, rel=1e-3)
    after = measured_of(kept(of).model_copy(update={"stages": stages})).work
    assert after.task_fixed_s == pytest.approx(fixed_s, rel=1e-3)
    assert after.task_row_s == pytest.approx(work.task_row_s, rel=1e-3)


def test_the_decision_is_told() -> None:
    status = kept(record())
    assert status.needed is not None
    assert status.reason
    assert status.message


def test_a_cycle_that_measured_nothing_leaves_the_section_alone() -> None:
    of, world = job(), even(2, 4, 30.0)
    world.rates = {"batches": 0}
    assert scaling_of(world.turn(of)) is None
