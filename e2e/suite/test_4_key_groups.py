"""Another number of key groups on the running job, by approval and by wish: its checkpoint is changed on a pod."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from proof import finished_batches

from e2e.suite.evidence import Sayer
from e2e.suite.feed import QUIET, Feed
from e2e.suite.job import NAME, NAMESPACE, Job, Status, condition, settled
from e2e.suite.shell import Shell
from e2e.suite.world import World

FEW, MANY = 8, 16
LOPSIDED = 200
"""Scans per second, most of them of one key group: it takes three of the five seconds between two batches."""
STEADY_S, PROPOSED_S, STOPPED_S, CHANGED_S, BALANCED_S = 240.0, 240.0, 90.0, 240.0, 240.0


@dataclasses.dataclass(frozen=True, slots=True)
class Before:
    """What there is before a change: the driver's pod, key groups, and batches whose results were written."""

    driver: dict[str, str]
    key_groups: int
    batches: tuple[Path, ...]


@pytest.fixture
def lopsided(job: Job) -> Iterator[Job]:
    """The job with one key group, shared by several depots, that no number of executors makes short enough."""
    job.until(settled(2, 3, 4), STEADY_S, "balanced")
    groups, scaling = {"mode": "Approve", "max": MANY}, {"mode": "Recommend", "maxLatency": "6s"}
    job.patch({"balancing": {"keyGroups": groups}, "scaling": scaling})
    assert isinstance(job.feed, Feed)
    job.feed.rate, job.feed.lopsided = LOPSIDED, True
    yield job
    job.feed.rate, job.feed.lopsided = QUIET, False
    job.patch({"balancing": {"keyGroups": {"mode": "Recommend"}}, "scaling": {"mode": "Auto", "maxLatency": None}})
    job.annotate("streamjob.dev/approve-")


def test_more_key_groups_are_proposed_approved_and_made(
    lopsided: Job, installed: World, tmp_path: Path, say: Sayer
) -> None:
    job, shell = lopsided, Shell(tmp_path, installed.kubeconfig, installed.helm_program, {"NAME": NAME}, NAMESPACE)
    job.until(_proposes(MANY), PROPOSED_S, f"{MANY} key groups are proposed")
    before = _now(job)
    assert f"{MANY} key groups of {NAME} are approved" in shell(f"kubectl streamjob approve NAME key-groups-{MANY}")
    say(_changed(job, before, MANY))


def test_a_person_sets_the_number_of_key_groups(job: Job, say: Sayer) -> None:
    job.until(settled(2, 3, 4), BALANCED_S, "balanced")
    before = _now(job)
    wanted = FEW if before.key_groups == MANY else MANY
    job.patch({"balancing": {"keyGroups": {"count": wanted}}})
    told = _changed(job, before, wanted)
    job.feed.rate = QUIET
    status = job.until(settled(2, 3, 4), BALANCED_S, "balanced on the other key groups")
    say(f"{told}; load distance {status['load'].get('distance')}; {job.require_exact()}")


def _proposes(wanted: int) -> Callable[[Status], bool]:
    return lambda one: bool((one.get("keyGroups") or {}).get("proposed") == wanted)


def _now(job: Job) -> Before:
    """As things are while the driver runs and nothing is changed."""
    status = job.until(lambda one: "now" in (one.get("keyGroups") or {}), STEADY_S, "key groups were measured")
    batches = tuple(finished_batches(job.volume / "totals"))
    return Before(job.pods("driver"), status["keyGroups"]["now"], batches)


def _changed(job: Job, before: Before, wanted: int) -> str:
    """Wait until another driver has measured so many; what was seen, as a sentence."""
    job.until(lambda one: (one.get("keyGroups") or {}).get("step"), STOPPED_S, "a change has begun")
    job.until(lambda one: _runs_with(job, one, before, wanted), CHANGED_S, f"another driver with {wanted} key groups")
    assert _stores(job.volume / "checkpoint") == {wanted}
    return f"{before.key_groups} key groups became {wanted}, {_silent_s(job, before):.0f} s without results"


def _runs_with(job: Job, status: Status, before: Before, wanted: int) -> bool:
    found = status.get("keyGroups") or {}
    assert "failure" not in found, found["failure"]
    ready = "step" not in found and condition(status, "Ready").startswith("True")
    return ready and found.get("now") == wanted and not job.pods("driver").items() <= before.driver.items()


def _stores(checkpoint: Path) -> set[int]:
    """How many key groups each stateful operator has by its folders of state."""
    operators = [one for one in (checkpoint / "state").iterdir() if one.name.isdigit()]
    return {sum(part.name.isdigit() for part in operator.iterdir()) for operator in operators}


def _silent_s(job: Job, before: Before) -> float:
    """The longest time between two batches' results since then, seconds: the driver was away in it."""
    since = finished_batches(job.volume / "totals")[len(before.batches) - 1 :]
    ended_s = [one.stat().st_mtime for one in since]
    return max(later - earlier for earlier, later in itertools.pairwise(ended_s))
