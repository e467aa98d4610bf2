"""A skewed PySpark job as pods: balanced, scaled out under load, drained and scaled in; exact, no task failed."""

from __future__ import annotations

from e2e.suite.evidence import Sayer
from e2e.suite.feed import QUIET, RUSH
from e2e.suite.job import Job, condition, settled

START_S, GROW_S, SHRINK_S = 180.0, 240.0, 400.0
CONTAINER_LIMIT, STATE_LIMIT = (f"streamjob_executor_{what}_limit_bytes" for what in ("memory", "state"))
MIB, HEAP_MIB, OVERHEAD_MIB = 1024**2, 512, 700


def test_a_job_starts_as_pods_and_gets_ready(job: Job, say: Sayer) -> None:
    status = job.until(lambda one: condition(one, "Ready").startswith("True"), START_S, "Ready")
    assert len(job.pods("driver")) == 1
    say(f"driver {status['driver']['pod']}")


def test_it_is_balanced(job: Job, say: Sayer) -> None:
    status = job.until(settled(2), START_S, "balanced on two executors")
    say(f"load distance {status['load'].get('distance')}")


def test_the_memory_that_its_state_may_have_is_what_containers_have_left(job: Job, say: Sayer) -> None:
    """State in RocksDB is in the container, outside the heap, where the JVM's own pools are, too."""
    pods = job.kubectl.list("pods", f"--selector=streamjob.dev/job={job.name},spark-role=executor")
    assert {one["spec"]["containers"][0]["resources"]["limits"]["memory"] for one in pods} == {
        f"{HEAP_MIB + OVERHEAD_MIB}Mi"
    }
    page = job.agent_page().splitlines()
    containers, states = (
        [float(line.split()[-1]) for line in page if line.startswith(name + "{")]
        for name in (CONTAINER_LIMIT, STATE_LIMIT)
    )
    assert containers == [(HEAP_MIB + OVERHEAD_MIB) * MIB] * len(job.pods("executor"))
    assert len(states) == len(containers)
    assert all(OVERHEAD_MIB / 2 * MIB < one < OVERHEAD_MIB * MIB for one in states)
    say(f"{', '.join(f'{one / MIB:.0f}' for one in states)} MiB of {OVERHEAD_MIB}")


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
