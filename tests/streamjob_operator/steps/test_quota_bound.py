"""A job whose namespace has a quota of executors: the answers of a cycle, with measurements and without."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import even, job, warm

from streamjob_operator.outage import Known, Outage, Rung
from streamjob_operator.ports import Quota
from streamjob_operator.scaling.quota import Allowance
from streamjob_operator.scaling.rule import Fleet, Wish
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.fail_safe import fail_safe
from streamjob_operator.steps.scale import allowed, decide
from streamjob_operator.values import Hold, Memory, Reason

AUTO = job()
NOW_S = 1000.0
SAID = "a test; 5 are needed, but namespace streams may have 12, other jobs hold 9, and {} may be this job's"


@dataclasses.dataclass
class Bound:
    """Allows so many, and remembers what was asked."""

    most: int
    asked: list[tuple[int, int, int, bool]] = dataclasses.field(default_factory=list)

    def allow(self, least: int, needed: int, holds: int, *, follows: bool) -> Allowance | None:
        self.asked.append((least, needed, holds, follows))
        return Allowance(executors=self.most, most=12, others=9, where="namespace streams")


def answer(most: int, fleet: Fleet, of: StreamJob = AUTO, memory: Memory = Memory()) -> tuple[int, Reason, str]:  # noqa: B008
    wish = Wish(executors=5, needed=5, why="a test")
    decision = decide(wish, fleet, memory, of, NOW_S, Bound(most))
    return decision.target, decision.reason, decision.message


def steady(executors: int) -> Fleet:
    return Fleet(ready=executors, wanted=executors, marked=0)


def test_a_job_grows_as_far_as_it_may() -> None:
    message = f"3 executors in place of 2: {SAID.format(3)}."
    assert answer(3, steady(2)) == (3, Reason.SCALE_OUT, message)


def test_a_job_that_may_have_no_more_stays_and_says_why() -> None:
    assert answer(3, steady(3)) == (3, Reason.QUOTA_BINDS, f"3 executors stay: {SAID.format(3)}.")


def test_executors_that_have_not_come_are_waited_for_all_the_same() -> None:
    assert answer(3, Fleet(ready=2, wanted=3, marked=0))[1] is Reason.WAITING_FOR_EXECUTORS


def test_a_job_gives_back_what_another_one_needs() -> None:
    assert answer(3, steady(4)) == (3, Reason.SCALE_IN, f"3 executors in place of 4: {SAID.format(3)}.")


def test_a_quota_that_is_large_enough_says_nothing() -> None:
    assert answer(5, steady(2)) == (5, Reason.SCALE_OUT, "5 executors in place of 2: a test.")


def test_what_others_are_told_of_a_job() -> None:
    """Its bounds and drained executors count; who only recommends follows nothing; who never scales does not ask."""
    bound, fleet = Bound(3), Fleet(ready=2, wanted=3, marked=1)
    allowed(5, fleet, AUTO, bound)
    allowed(5, fleet, job(("scaling: {mode: Auto", "scaling: {mode: Recommend")), bound)
    allowed(5, fleet, job(("scaling: {mode: Auto", "scaling: {mode: Approve")), bound)
    allowed(5, fleet, job(("scaling: {mode: Auto", "scaling: {mode: Off")), bound)
    told = job(("scaling: {mode: Auto", "scaling: {mode: Off"), ("min: 1, max: 6", "min: 1, max: 6, replicas: 5"))
    allowed(5, fleet, told, bound)
    assert bound.asked == [(1, 5, 4, True), (1, 5, 4, False), (1, 5, 4, False), (1, 5, 4, True)]


@pytest.mark.parametrize("rule", ["batch-time", "utilization"])
def test_a_whole_cycle_stays_within_it(rule: str) -> None:
    of = job(("scaling: {mode: Auto", f"scaling: {{rule: {rule}, mode: Auto"))
    world = warm(even(2, 6, 30.0), of)
    world.quota = Bound(3)
    first = world.turn(of)
    assert (first.verdict.reason, first.verdict.executors_target) == (Reason.SCALE_OUT, 3)
    for _ in range(6):
        record = world.turn(of)
        assert len(world.executors) <= 3
    assert record.scaling is not None
    assert (record.scaling.target, record.scaling.reason) == (3, Reason.QUOTA_BINDS)
    assert record.scaling.needed > 3  # what it needs is told all the same


def without_measurements(quota: Quota | None) -> tuple[int | None, str]:
    of = job(("executorTimeout: 60s}", "executorTimeout: 60s, failSafe: {outAfter: 20s}}"))
    seen = even(2, 6, 10.0)
    seen.now_s, seen.generation = NOW_S, 4
    memory = Memory(
        application_id="app-1",
        executors=("0", "1"),
        executors_target=2,
        first_seen_s=0.0,
        outage=Outage(since_s=910.0, reason="MetricsStale", base=2, rung=Rung.OUT_ONLY),
        generation=4,
        known=Known(needed=5, batch_s=1.0, state_bytes=1e6),
    )
    verdict = fail_safe(Hold(Reason.METRICS_STALE, "Old."), seen.look(), memory, of, NOW_S, quota).verdict
    return verdict.executors_target, verdict.message


def test_without_measurements_it_holds_too() -> None:
    assert without_measurements(None)[0] == 5
    target, message = without_measurements(Bound(3))
    assert target == 3
    assert "5 are needed, but namespace streams may have 12" in message
    assert without_measurements(Bound(1))[0] != 1  # nobody leaves without measurements
