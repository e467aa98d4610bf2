"""Two jobs on pods, each of which needs two executors, in a namespace that may have three."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from e2e.suite.evidence import Sayer
from e2e.suite.feed import Feed
from e2e.suite.job import LOOK_S, Job, Status, condition
from e2e.suite.world import CHART, RELEASE, RESTRICTED, ROOT, World, config_map, filled

NAMESPACE, NAMES = "shared", ("first", "second")
MOST, NEEDED = 3, 2
READY_S, SHARED_S, SERVED_S = 240.0, 180.0, 240.0


@pytest.fixture(scope="module")
def jobs(installed: World) -> Iterator[tuple[Job, ...]]:
    """Both, with scans coming in, and an operator that knows the quota."""
    quota = f"--set=operator.executorQuotas.{NAMESPACE}={MOST}"
    installed.helm("upgrade", RELEASE, str(CHART), "--reuse-values", quota, "--wait", "--timeout=120s")
    kubectl = installed.namespace(NAMESPACE, RESTRICTED)
    volume = installed.volume(kubectl, NAMESPACE)
    kubectl.apply(config_map("app", job__py=ROOT / "samples" / "demo" / "job.py"))
    made = []
    for name in NAMES:
        for folder in (volume / name, volume / name / "input"):
            folder.mkdir()
            folder.chmod(0o777)  # pods run as users of their own
        feed = Feed(volume / name)
        feed.start()
        kubectl.apply(_stream_job(name, installed.images.agent))
        made.append(Job(kubectl, volume / name, feed, name))
    yield tuple(made)
    for job in made:
        job.feed.end()
        kubectl("delete", "streamjob", job.name, "--wait=false")


def _stream_job(name: str, image: str) -> dict[str, Any]:
    """The suite's job under another name, in folders of its own; it says itself how many executors it needs."""
    made: dict[str, Any] = yaml.safe_load(filled("parcels.yaml", AGENT_IMAGE=image))
    made["metadata"]["name"] = name
    spec, application = made["spec"], made["spec"]["application"]
    application["args"] = [one.replace("/data/", f"/data/{name}/") for one in application["args"]]
    application["checkpoint"] = f"/data/{name}/checkpoint"
    application["sparkConf"] |= {"spark.eventLog.enabled": "false"}
    del application["executor"]["podTemplate"]["spec"]["topologySpreadConstraints"]
    del spec["metrics"]  # the suite's Prometheus knows its own jobs
    spec["executors"] = {"min": 1, "max": NEEDED}
    always = {"cron": "* * * * *", "duration": "1h", "executors": NEEDED}
    spec["scaling"] = {"mode": "Auto", "stabilization": {"down": "5s"}, "hints": [always]}
    return made


def _target(status: Status) -> int:
    return int((status.get("executors") or {}).get("target") or 1)


def _until(jobs: tuple[Job, ...], check: Callable[[list[int]], bool], timeout_s: float) -> list[int]:
    """Executors of each job, once `check` holds of them; never more than the quota."""
    until_s = time.monotonic() + timeout_s
    while not check(have := _sizes(jobs)):
        told = [job.status().get("lastCycle") for job in jobs]
        assert time.monotonic() < until_s, f"not within {timeout_s:.0f} s; executors {have}; {told}"
        time.sleep(LOOK_S)
    return have


def _sizes(jobs: tuple[Job, ...]) -> list[int]:
    """By job; nothing while pods come or go."""
    targets = [_target(job.status()) for job in jobs]
    assert sum(targets) <= MOST
    pods = [len(job.pods("executor")) for job in jobs]
    return targets if targets == pods else []


def test_jobs_on_pods_share_what_their_namespace_may_have(jobs: tuple[Job, ...], say: Sayer) -> None:
    for job in jobs:
        job.until(lambda one: condition(one, "Ready").startswith("True"), READY_S, "Ready")
    have = _until(jobs, lambda sizes: sorted(sizes) == [MOST - NEEDED, NEEDED], SHARED_S)
    bound = jobs[have.index(MOST - NEEDED)]
    status = bound.until(lambda one: _reason(one) == "QuotaBinds", SHARED_S, "told that the quota binds")
    say(status["lastCycle"]["message"])


def _reason(status: Status) -> str:
    return str((status.get("lastCycle") or {}).get("reason", ""))


def test_the_one_of_higher_priority_gets_what_it_needs_once_the_other_is_drained(
    jobs: tuple[Job, ...], say: Sayer
) -> None:
    before = _sizes(jobs)
    assert sorted(before) == [MOST - NEEDED, NEEDED]
    bound = jobs[before.index(min(before))]
    bound.patch({"scaling": {"priority": 1}})
    began_s = time.monotonic()
    _until(jobs, lambda sizes: sizes == before[::-1], SERVED_S)
    took_s = time.monotonic() - began_s
    told = [job.require_exact() for job in jobs]
    say(f"{bound.name} has {NEEDED} executors after {took_s:.0f} s; {' and '.join(told)}")
