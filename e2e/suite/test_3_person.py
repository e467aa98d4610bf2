"""A person steers: Recommend touches nothing, Approve waits for the hash of the plan."""

from __future__ import annotations

from e2e.suite.evidence import Sayer
from e2e.suite.feed import RUSH
from e2e.suite.job import Job, Status, condition, settled

PLAN_S, GROW_S = 120.0, 240.0


def _modes(job: Job, mode: str) -> None:
    job.patch({"balancing": {"mode": mode}, "scaling": {"mode": mode}})


def _decided(status: Status, decision: str) -> bool:
    return bool(status.get("lastPlan", {}).get("decision") == decision)


def _more_executors_wait(status: Status) -> bool:
    """Not a plan of moves alone, which the next cycle may replace by one for more executors."""
    waits = condition(status, "AwaitingApproval").startswith("True")
    return waits and status["lastPlan"]["message"].count("executors in place of") > 0


def test_recommend_says_what_it_would_do_and_touches_nothing(job: Job, say: Sayer) -> None:
    job.until(settled(2), GROW_S, "balanced on two executors")
    _modes(job, "Recommend")
    job.feed.rate = RUSH
    before = job.map()["spec"]["generation"]
    status = job.until(lambda one: _decided(one, "Recommended"), PLAN_S, "a recommendation")
    assert job.map()["spec"]["generation"] == before
    assert len(job.pods("executor")) == 2
    say(status["lastPlan"]["message"])


def test_approve_waits_for_the_annotation_and_then_acts(job: Job, say: Sayer) -> None:
    _modes(job, "Approve")
    status = job.until(_more_executors_wait, PLAN_S, "a plan for more executors that waits")
    assert len(job.pods("executor")) == 2
    job.annotate("streamjob.dev/approve=0000000000000000")
    job.annotate(f"streamjob.dev/approve={status['lastPlan']['hash']}")
    status = job.until(lambda one: (one.get("executors") or {}).get("target", 0) > 2, PLAN_S, "the approved executors")
    _modes(job, "Auto")
    job.annotate("streamjob.dev/approve-")
    status = job.until(settled(3, 4), GROW_S, "balanced on more executors")
    say(f"{status['executors']['ready']} executors")
