"""A skewed PySpark job as pods: balanced, scaled out under load, drained and scaled in; exact, no task failed."""

from __future__ import annotations

from e2e.suite.evidence import Sayer
from e2e.suite.feed import QUIET, RUSH
from e2e.suite.job import Job, condition, settled

START_S, GROW_S, SHRINK_S = 180.0, 240.0, 400.0


def test_a_job_starts_as_pods_and_gets_ready(job: Job, say: Sayer) -> None:
    status = job.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    assert len(job.pods("driver")) == 1
    say(f"driver {status['driver']['pod']}")


def test_it_is_balanced(job: Job, say: Sayer) -> None:
    status = job.until(settled(2), START_S, "balanced on two executors")
    say(f"load distance {status['load'].get('distance')}")


def test_it_is_scaled_out_under_load(job: Job, say: Sayer) -> None:
    job.patch({"executors": {"max": 4}})
    job.feed.rate = RUSH
    status = job.until(settled(3, 4), GROW_S, "balanced on more executors")
    job.until_executors(status["executors"]["ready"])
    say(f"{status['executors']['ready']} executors, load distance {status['load'].get('distance')}")


def test_it_is_drained_and_scaled_in(job: Job, say: Sayer) -> None:
    job.feed.rate = QUIET
    job.until(settled(2), SHRINK_S, "balanced on two executors again")
    job.until_executors(2)
    removed = job.spark().removed
    assert removed
    say(f"executors removed: {', '.join(sorted(removed))}")


def test_results_are_exact_and_no_task_failed(job: Job, say: Sayer) -> None:
    say(job.require_exact())
    events = job.spark()
    assert events.failed_tasks == ()
    say(f"0 of {events.tasks:,} tasks failed")
