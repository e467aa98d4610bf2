"""Another number of key groups on the running job, by approval and by wish: its checkpoint is changed on a pod."""

from __future__ import annotations

import dataclasses
import itertools
import time
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
TRIGGER_S = 5.0
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
    job.until(_is_calm, BALANCED_S, "balanced, and batches that end before a driver has to")
    before = _now(job)
    wanted = FEW if before.key_groups == MANY else MANY
    job.patch({"balancing": {"keyGroups": {"count": wanted}}})
    told = _changed(job, before, wanted)
    status = job.until(settled(2, 3, 4), BALANCED_S, "balanced on the other key groups")
    say(f"{told}; load distance {status['load'].get('distance')}; {job.require_exact()}")


def _proposes(wanted: int) -> Callable[[Status], bool]:
    return lambda one: bool((one.get("keyGroups") or {}).get("proposed") == wanted)


def _is_calm(status: Status) -> bool:
    return settled(2, 3, 4)(status) and (status.get("batch") or {}).get("measuredSeconds", TRIGGER_S) < TRIGGER_S


def _now(job: Job) -> Before:
    """As things are while the driver runs and nothing is changed."""
    status = job.until(lambda one: "now" in (one.get("keyGroups") or {}), STEADY_S, "key groups were measured")
    batches = tuple(finished_batches(job.volume / "totals"))
    return Before(job.pods("driver"), status["keyGroups"]["now"], batches)


def _changed(job: Job, before: Before, wanted: int) -> str:
    """Wait until another driver has measured so many; what was seen, as a sentence."""
    begun_s = time.monotonic()
    job.until(lambda one: (one.get("keyGroups") or {}).get("step"), STOPPED_S, "a change has begun")
    job.feed.rate = QUIET  # what gathers meanwhile is one batch of executors that have just started
    job.until(lambda one: _runs_again(job, one, before), CHANGED_S, "another driver is Ready")
    ready_s = time.monotonic() - begun_s
    then = len(finished_batches(job.volume / "totals"))
    job.until(lambda one: one["keyGroups"].get("now") == wanted, STEADY_S, f"{wanted} key groups were measured")
    job.until(lambda _: len(finished_batches(job.volume / "totals")) > then, STEADY_S, "a batch of the next driver")
    assert _stores(job.volume / "checkpoint") == {wanted}
    away = f"the next driver Ready after {ready_s:.0f} s, {_silent_s(job, before):.0f} s without results"
    return f"{before.key_groups} key groups became {wanted}: {away}"


def _runs_again(job: Job, status: Status, before: Before) -> bool:
    found = status["keyGroups"]
    assert "failure" not in found, found["failure"]
    over = "step" not in found and condition(status, "Ready").startswith("True")
    return over and not job.pods("driver").items() <= before.driver.items()


def _stores(checkpoint: Path) -> set[int]:
    """How many key groups each stateful operator has by its folders of state."""
    operators = [one for one in (checkpoint / "state").iterdir() if one.name.isdigit()]
    return {sum(part.name.isdigit() for part in operator.iterdir()) for operator in operators}


def _silent_s(job: Job, before: Before) -> float:
    """The longest time between two batches' results since then, seconds: the driver was away in it."""
    since = finished_batches(job.volume / "totals")[len(before.batches) - 1 :]
    ended_s = [one.stat().st_mtime for one in since]
    return max(later - earlier for earlier, later in itertools.pairwise(ended_s))
