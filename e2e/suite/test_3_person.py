"""A person steers: Recommend touches nothing, Approve waits for the hash of the plan."""

from __future__ import annotations

from e2e.suite.evidence import Sayer
from e2e.suite.feed import RUSH
from e2e.suite.job import Job, Status, settled

PLAN_S, GROW_S = 120.0, 240.0


def _modes(job: Job, mode: str) -> None:
    job.patch({"balancing": {"mode": mode}, "scaling": {"mode": mode}})


def _decided(status: Status, decision: str) -> bool:
    return bool(status.get("lastPlan", {}).get("decision") == decision)


def _carried_out(status: Status, plan_hash: str) -> bool:
    """Whether that plan is the newest one, and was carried out."""
    return _decided(status, "Applied") and status["lastPlan"]["hash"] == plan_hash


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
    waiting = job.until(lambda one: _decided(one, "AwaitingApproval"), PLAN_S, "a plan that waits")
    generation = job.map()["spec"]["generation"]
    job.annotate("streamjob.dev/approve=000000000000")
    told = "names 000000000000, which is another plan"
    job.until(lambda one: told in one["lastCycle"]["message"], PLAN_S, "the other hash is told")
    assert job.map()["spec"]["generation"] == generation
    shown = job.until(lambda one: bool(one.get("approvable")), PLAN_S, "a plan that may be approved")["approvable"][0]
    job.annotate(f"streamjob.dev/approve={shown['hash']}")  # the rate still rises: another plan may be shown by now
    status = job.until(lambda one: _carried_out(one, shown["hash"]), PLAN_S, "that plan was carried out")
    assert job.map()["spec"]["generation"] > generation
    say(f"{waiting['lastPlan']['message']} Then: {status['lastPlan']['message']}")
    _modes(job, "Auto")
    job.annotate("streamjob.dev/approve-")
    job.until(settled(2, 3, 4), GROW_S, "balanced")
