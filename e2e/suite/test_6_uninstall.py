"""The operator goes, the jobs stay; it comes back, and looks after them again."""

from __future__ import annotations

import time

from e2e.suite.evidence import Sayer
from e2e.suite.feed import checked_scans
from e2e.suite.job import NAME, Job, settled
from e2e.suite.world import CHART, RELEASE, SYSTEM, World

WITHOUT_S, GOES_ON_S, BALANCED_S = 20.0, 60.0, 150.0


def test_uninstall_leaves_the_jobs_running(job: Job, installed: World, say: Sayer) -> None:
    status = job.until(settled(2, 3, 4), BALANCED_S, "balanced")
    job.until_executors(status["executors"]["ready"])
    pods = job.pods("driver") | job.pods("executor")
    installed.helm("uninstall", RELEASE, "--wait", "--timeout=90s")
    assert installed.kubectl(SYSTEM).list("deployments") == []
    time.sleep(WITHOUT_S)
    before, until_s = checked_scans(job.volume / "totals"), time.monotonic() + GOES_ON_S
    while (after := checked_scans(job.volume / "totals")) <= before and time.monotonic() < until_s:
        time.sleep(1.0)
    assert after > before
    assert job.pods("driver") | job.pods("executor") == pods
    assert job.kubectl.get("streamjob", NAME)
    say(f"{after - before} scans more, the same {len(pods)} pods")


def test_installed_again_it_goes_on(job: Job, installed: World, say: Sayer) -> None:
    cycle = job.status().get("lastCycle", {}).get("id")
    pods = job.pods("driver") | job.pods("executor")
    command = ("install", RELEASE, str(CHART), *installed.chart_values(), "--wait", "--timeout=120s")
    installed.helm(*command)
    job.until(lambda one: one.get("lastCycle", {}).get("id") != cycle, BALANCED_S, "a new cycle")
    job.until(settled(2, 3, 4), BALANCED_S, "balanced")
    after = job.pods("driver") | job.pods("executor")
    assert after.items() <= pods.items()  # nothing was started anew
    gone = pods.keys() - after.keys()
    assert gone <= scaled_in(job)  # less to do than before is a reason to go, a new operator is none
    say(f"{job.require_exact()}; {len(gone)} executors scaled in")


def scaled_in(job: Job) -> set[str]:
    """Pods of executors that were drained for want of work, as events tell."""
    events = job.kubectl.list("events", "--field-selector=reason=MarkedForRemoval")
    return {event["involvedObject"]["name"] for event in events}
