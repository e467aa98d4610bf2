"""The operator's page says what cycles did, and forgets jobs that are gone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from worlds import World, job

from streamjob_operator.kube.process import telemetry_names as names
from streamjob_operator.kube.process.telemetry import Telemetry
from streamjob_operator.ports import Unavailable
from streamjob_operator.series import BatchTimes
from streamjob_operator.spec import StreamJob

FIXED = job(("min: 1, max: 6", "min: 2, max: 2"))


def skewed() -> World:
    return World(loads=[40.0, 30.0, 5.0, 5.0], owners=["0", "0", "1", "1"], executors={"0": "ready", "1": "ready"})


def samples(telemetry: Telemetry) -> dict[tuple[str, tuple[str, ...]], float]:
    """(name, values of the labels beyond the job's, by the label's name) -> value."""
    found = {}
    for family in text_string_to_metric_families(telemetry.page().decode()):
        for sample in family.samples:
            more = tuple(value for label, value in sample.labels.items() if label not in names.JOB_LABELS)
            found[(sample.name, more)] = sample.value
    return found


def turned(world: World, telemetry: Telemetry, turns: int) -> dict[tuple[str, tuple[str, ...]], float]:
    return turned_as(FIXED, world, telemetry, turns)


def turned_as(
    which: StreamJob, world: World, telemetry: Telemetry, turns: int
) -> dict[tuple[str, tuple[str, ...]], float]:
    for _ in range(turns):
        world.turn(which, reporters=(telemetry.reporter("prod", which),))
    return samples(telemetry)


def test_every_series_of_a_cycle_has_its_name_in_the_one_file() -> None:
    telemetry = Telemetry()
    page = turned(skewed(), telemetry, 4)
    known = {one.name for one in names.FAMILIES}
    suffixes = ("_bucket", "_sum", "_count", "_created")
    for name, _ in page:
        assert name in known or any(name == f"{one}{suffix}" for one in known for suffix in suffixes), name
    assert len(known) == len(names.FAMILIES)


def test_ended_planning_processes_are_counted() -> None:
    telemetry, kills = Telemetry(), [2]
    assert samples(telemetry)[(names.PLANNER_KILLS.name, ())] == 0
    telemetry.watch_planning(lambda: kills[0])
    assert samples(telemetry)[(names.PLANNER_KILLS.name, ())] == 2


def test_moves_and_their_promise_are_told() -> None:
    telemetry, world = Telemetry(), skewed()
    page = turned(world, telemetry, 4)
    assert page[(names.MOVES.name, ())] == len(world.moved) > 0
    assert page[(names.CYCLES.name, ("Acted", "BatchTime"))] == 1
    assert 0 < page[(names.BUDGET_USED.name, ())] < 1
    assert page[(names.EXECUTORS.name, ("ready",))] == 2
    assert page[(names.STEP_SECONDS.name, ("solve",))] == 0  # the clock of these tests stands still
    assert page[(names.PREDICTION_ERROR.name, ())] == pytest.approx(
        page[(names.LOAD_DISTANCE.name, ())] - page[(names.PREDICTED_DISTANCE.name, ())]
    )
    loads = dict.fromkeys(world.owners, 0.0)
    for load, owner in zip(world.loads, world.owners, strict=True):
        loads[owner] += load
    assert page[(names.LOAD_SURVIVED.name, ("alike",))] == pytest.approx(100.0 / max(loads.values()), abs=0.01)
    assert page[("streamjob_operator_cycle_seconds_count", ())] == 4


def test_what_is_not_measured_is_not_there() -> None:
    telemetry, world = Telemetry(), skewed()
    turned(world, telemetry, 3)
    world.observe_error = Unavailable("nobody answers")
    page = turned(world, telemetry, 1)
    assert page[(names.CYCLES.name, ("Held", "MetricsUnavailable"))] == 1
    for gone in (names.LOAD_DISTANCE, names.LOAD_MEAN, names.MOVES_PENDING):
        assert (gone.name, ()) not in page


def test_measurements_that_are_missing_grow_old() -> None:
    """Or the alert on their age would never fire: it is for when there are none."""
    world, telemetry, ages = skewed(), Telemetry(), list[float]()
    for error in (None, None, Unavailable("down"), Unavailable("down"), Unavailable("down"), None):
        world.observe_error = error
        ages.append(turned(world, telemetry, 1)[(names.METRICS_AGE.name, ())])
    period_s = FIXED.spec.balancing.statistics_period_s
    assert [ages[at + 1] - ages[at] for at in (2, 3)] == [period_s] * 2
    assert ages[5] < period_s


def test_the_series_of_a_deleted_job_vanish() -> None:
    telemetry = Telemetry()
    turned(skewed(), telemetry, 2)
    renamed = FIXED.model_copy(update={"metadata": FIXED.metadata.model_copy(update={"name": "other"})})
    assert turned_as(renamed, skewed(), telemetry, 2)[(names.JOBS.name, ())] == 2
    telemetry.forget("prod", "small")
    telemetry.forget("prod", "never-seen")
    page = telemetry.page().decode()
    assert 'job_name="small"' not in page
    assert 'job_name="other"' in page


def test_requests_to_the_api_server_are_counted() -> None:
    telemetry = Telemetry()
    for status in (200, 200, 409):
        telemetry.api_called("apply", "partitionmaps", status)
    page = samples(telemetry)
    assert page[(names.API_REQUESTS.name, ("200", "partitionmaps", "apply"))] == 2
    assert page[(names.API_REQUESTS.name, ("409", "partitionmaps", "apply"))] == 1


def test_every_batch_that_was_predicted_is_counted_once_though_windows_overlap() -> None:
    telemetry, record = Telemetry(), skewed().turn(FIXED)
    reporter = telemetry.reporter("prod", FIXED)
    assert ("streamjob_job_batch_prediction_error_ratio_count", ()) not in samples(telemetry)
    early = BatchTimes(
        ended_at_s=np.array([10.0, 20.0]), measured_s=np.array([4.0, 5.0]), predicted_s=np.array([4.4, 5.0])
    )
    late = BatchTimes(
        ended_at_s=np.array([20.0, 30.0]), measured_s=np.array([5.0, 2.0]), predicted_s=np.array([9.0, 6.0])
    )
    for one in (early, late, None):
        reporter.report(dataclasses.replace(record, batch_times=one))
    page, name = samples(telemetry), names.SINGLE_ERRORS.name
    assert page[(f"{name}_count", ())] == 3
    assert page[(f"{name}_sum", ())] == pytest.approx(0.1 + 0.0 + 2.0)
    below = {end: page[(f"{name}_bucket", (end,))] for end in ("0.02", "0.05", "0.1", "0.15", "1.0", "+Inf")}
    assert below == {"0.02": 1, "0.05": 1, "0.1": 1, "0.15": 2, "1.0": 2, "+Inf": 3}
