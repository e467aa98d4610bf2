"""Every trace, shortened, under rules of the registry: what no rule may ever do."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from streamjob_operator.scaling import registry
from streamjob_operator.values import CycleRecord, Reason
from streamjob_sim import foreknown
from streamjob_sim.faults import Fault, FaultKind
from streamjob_sim.job import SimulatedJob
from streamjob_sim.scaling_score import flaps, latencies_s, scaling_score
from streamjob_sim.score import Score
from streamjob_sim.simulate import job_of, simulate
from streamjob_sim.traces.catalogue import TRACES, names, world_of

POLICY: dict[str, Any] = {
    "executors": {"min": 2, "max": 9},
    "balancing": {
        "mode": "Auto",
        "planner": "greedy",
        "statisticsPeriod": "60s",
        "planDeadline": "1s",
        "maxIterations": 50,
    },
    "scaling": {"mode": "Auto", "stabilization": {"down": "2m"}},
}
PART = 0.15


TRIGGER_S = 10.0
RULES = pytest.mark.parametrize("rule", ["batch-time", "utilization"])


def run(trace: str, rule: str = registry.DEFAULT, seed: int = 1, faults: tuple[Fault, ...] = ()) -> Score:
    policy = {**POLICY, "scaling": {**POLICY["scaling"], "rule": rule}}
    world = world_of(trace, seed, policy, PART)
    world = world.model_copy(update={"faults": (*world.faults, *faults)})
    return simulate(world, job_of(world), seed=seed, clock=lambda: 0.0)


def shrinking(score: Score) -> list[CycleRecord]:
    """Cycles that marked executors, or wanted fewer."""
    records = [turn.record for turn in score.turns if turn.record is not None]
    return [one for one in records if one.verdict.act and one.verdict.reason is Reason.SCALE_IN]


@RULES
@pytest.mark.parametrize("trace", names())
def test_no_invariant_breaks(trace: str, rule: str) -> None:
    score = run(trace, rule)
    assert score.violations == ()
    assert {2 <= turn.wanted <= 9 for turn in score.turns if turn.wanted is not None} == {True}
    assert "PlanRefused" not in score.reasons, "bounds of moves and budgets, as the independent judge has them"
    assert all(one.snapshot is not None for one in shrinking(score))
    assert scaling_score(score, 20.0).executor_h > 0


@pytest.mark.parametrize("trace", names())
def test_by_batch_time_none_leaves_while_rows_wait(trace: str) -> None:
    """Whatever else is seen: no more waits at a scale-in than two triggers bring, and no more than in the cycle before
    it or than a trigger brings."""
    score = run(trace, "batch-time")
    most_rps = float(np.diff(score.arrived).max())
    lags = {
        turn.record.at_s: turn.record.snapshot.rates.lag_rows
        for turn in score.turns
        if turn.record is not None and turn.record.snapshot is not None
    }
    for one in shrinking(score):
        assert one.snapshot is not None
        lag = one.snapshot.rates.lag_rows
        before = [rows for at_s, rows in lags.items() if at_s < one.at_s and rows is not None][-1:]
        assert lag is not None
        assert lag <= 2.0 * TRIGGER_S * most_rps
        assert lag <= 1.05 * max([TRIGGER_S * most_rps, *before])


@RULES
@pytest.mark.parametrize("trace", names())
def test_on_absent_data_the_number_of_executors_stays(trace: str, rule: str) -> None:
    """Measurements are gone for a third of the trace, in its middle, where rates go up or down in most of them."""
    length_s = PART * TRACES[trace].duration_s
    gone = Fault(kind=FaultKind.METRICS_UNAVAILABLE, **{"at": f"{0.4 * length_s:g}s", "for": f"{length_s / 3:g}s"})
    score = run(trace, rule, faults=(gone,))
    blind = [turn for turn in score.turns if turn.record is not None and turn.record.snapshot is None]
    assert len(blind) >= 4
    assert not any(turn.record.verdict.act for turn in blind if turn.record is not None)
    assert len({turn.wanted for turn in blind}) == 1
    assert score.violations == ()


def test_a_run_repeats_exactly_and_seeds_differ() -> None:
    one, same = run("step"), run("step")
    assert [batch.end_s for batch in one.batches] == [batch.end_s for batch in same.batches]
    rates = [world_of("step", seed, POLICY).arrival.points for seed in (1, 2)]
    assert rates[0] != rates[1]


def test_an_unknown_trace_is_told_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no trace 'tide'; choose one of diurnal, weekly"):
        world_of("tide", 1, POLICY)


def test_a_trace_of_an_outage_loses_no_row() -> None:
    """What the silence kept back comes in the burst after it."""
    world = world_of("outage", 1, POLICY)
    points = [(one.at_s, one.rate) for one in world.arrival.points]
    level = points[0][1]
    at_s, rates = zip(*points, strict=True)
    came = float(np.trapezoid(rates, at_s))
    assert came == pytest.approx(level * world.duration_s, rel=0.02)


def test_latency_counts_from_the_oldest_row_of_a_batch() -> None:
    score = run("step")
    late = latencies_s(score)
    # All that waits is taken: a batch's oldest row came right after the batch before it had begun.
    starts = [batch.started_s for batch in score.batches]
    waited = [batch.end_s - before for batch, before in zip(score.batches[1:], starts, strict=False)]
    assert late[1:] == pytest.approx(waited, abs=1.5)


def test_a_late_batch_counts_by_its_rows_too() -> None:
    """Three batches that take all that came in 10, 70 and 10 s: one result of three is late, with most of the rows."""
    rows, ends_s = (100.0, 700.0, 100.0), (12.0, 82.0, 92.0)
    batches = run("step").batches
    few = tuple(
        dataclasses.replace(one, taken=taken, end_s=end_s)
        for one, taken, end_s in zip(batches, rows, ends_s, strict=False)
    )
    found = scaling_score(dataclasses.replace(run("step"), batches=few, arrived=10.0 * np.arange(101.0)), 20.0)
    assert found.late_ratio == pytest.approx(1 / 3)
    assert found.late_rows_ratio == pytest.approx(7 / 9)


def test_a_flap_is_a_change_taken_back_soon() -> None:
    assert flaps([(0.0, 2), (100.0, -1), (2000.0, 1), (2100.0, 1), (2200.0, -2)]) == 2


def test_rules_that_look_into_the_world_know_what_a_batch_needs() -> None:
    world = world_of("step", 1, POLICY)
    job = SimulatedJob(world, np.random.default_rng(0))
    # 3200 rows/s an executor; 0.8 of a trigger interval but for its fixed part and 5 ms a task are there for rows.
    assert foreknown.needed(job, 10 * 3200.0 * 3 * 0.74, 0.0) == 3
    need = foreknown.needs(job)
    assert foreknown.mean(job).decide(None, None)[0].executors <= foreknown.peak(job).decide(None, None)[0].executors  # type: ignore[arg-type]
    assert need.max() <= 9
