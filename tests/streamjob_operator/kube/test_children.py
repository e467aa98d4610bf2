"""What a StreamJob owns goes with it, whatever happened before; nothing of a former life under its name is used."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import pytest
from agent_reports import agent
from fake_api import FakeApi
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from kept import Kept

from streamjob_agent.wire import Assignment
from streamjob_operator.kube.api.children import FormerLife, NotOurs
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, ROLE_BINDINGS, ROLES, STREAM_JOBS
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.partition_map.maps import Maps

PLAN = Assignment(generation=7, application_id="spark-1", query_id="q", executors_target=3, marked_for_removal=("2",))
KINDS = {one.plural: one for one in (PARTITION_MAPS, ROLES, ROLE_BINDINGS)}
NOT_OWNED = (PODS.plural, STREAM_JOBS.plural, "events")
"""Pods of an adopted driver are somebody else's, and an event names what it is about."""


def job(uid: str = "uid-j", name: str = "j") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "n", "uid": uid}}


def owners(api: FakeApi, plural: str, name: str) -> list[str]:
    return [one["uid"] for one in api.objects[(plural, "n", name)]["metadata"].get("ownerReferences", ())]


def test_a_map_keeps_its_owner_when_a_plan_is_written() -> None:
    api: Any = FakeApi()
    maps = Maps(api, job())
    maps.write([PLAN], maps.ensure())
    assert owners(api, "partitionmaps", "j") == ["uid-j"]


def test_a_map_of_a_former_life_is_not_seen_and_gives_way() -> None:
    api: Any = FakeApi()
    former = Maps(api, job("uid-former"))
    former.write([PLAN], former.ensure())
    maps = Maps(api, job())
    assert maps.read() is None
    assert maps.ensure().generation == 0
    assert owners(api, "partitionmaps", "j") == ["uid-j"]


def test_a_map_that_lost_its_owner_is_one_of_a_former_life() -> None:
    api: Any = FakeApi()
    api.put(PARTITION_MAPS, {"metadata": {"name": "j", "namespace": "n"}, "spec": {"generation": 9}})
    assert Maps(api, job()).ensure().generation == 0


def test_a_map_that_belongs_to_something_else_is_left_alone() -> None:
    api: Any = FakeApi()
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "j", "uid": "uid-other"}
    api.put(PARTITION_MAPS, {"metadata": {"name": "j", "namespace": "n", "ownerReferences": [other]}, "spec": {}})
    with pytest.raises(NotOurs, match="PartitionMap j is there already"):
        Maps(api, job()).ensure()


def test_a_map_of_a_former_life_that_is_still_going_is_waited_for() -> None:
    api: Any = FakeApi()
    metadata = {"name": "j", "namespace": "n", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}
    api.put(PARTITION_MAPS, {"metadata": metadata, "spec": {}})
    with pytest.raises(FormerLife, match="PartitionMap j"):
        Maps(api, job()).ensure()


def test_a_role_of_somebody_else_is_not_taken_over() -> None:
    kept = Kept()
    kept.driver(account="spark")
    kept.api.put(ROLES, {"metadata": {"name": "orders-map", "namespace": "n"}, "rules": ["theirs"]})
    with pytest.raises(NotOurs, match="Role orders-map is there already"):
        kept.look()
    assert kept.found(ROLES, "orders-map")["rules"] == ["theirs"]


def test_a_restored_status_of_a_former_life_is_not_used() -> None:
    kept = Kept()
    kept.annotate(Annotation.STOP, "yesterday")
    kept.look()
    there = kept.found(STREAM_JOBS, "orders")
    assert there["status"]["handled"] == {"stop": "yesterday"}
    kept.api.objects.clear()
    kept.api.put(STREAM_JOBS, {**there, "metadata": {**there["metadata"], "uid": "uid-restored", "annotations": {}}})
    assert "handled" not in kept.look() or kept.status()["handled"] == {}
    assert kept.status()["uid"] == "uid-restored"


def test_nothing_of_a_restored_status_is_left_for_later_turns() -> None:
    """Its fields belong to the tool that restored it: server-side apply takes none of them away."""
    kept = Kept(applicationRef=None, application={"image": "i", "mainFile": "local:///job.py"})
    kept.look()
    there = kept.found(STREAM_JOBS, "orders")
    driver = {**kept.look()["driver"], "restarts": 7, "restartAt": "2100-01-01T00:00:00Z", "exitCode": 1}
    former = {**there["status"], "driver": driver, "lastPlan": {"hash": "former"}, "handled": {"stop": "yesterday"}}
    kept.api.objects.clear()
    metadata = {**there["metadata"], "uid": "uid-restored"}
    kept.api.restore(STREAM_JOBS, {**there, "metadata": metadata, "status": former})
    kept.restart()
    for _ in range(3):
        status = kept.look()
        assert (status["phase"], status["why"]) == ("Submitting", "DriverStarting")
        assert "lastPlan" not in status
        assert not status.get("handled")
        assert (status["driver"].get("restarts"), status["driver"].get("exitCode")) == (0, None)


class Lives(RuleBasedStateMachine):
    """One name, several StreamJobs after each other, and everything that happens to them in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = Kept()
        self.plans = 0

    @property
    def job(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.kept.api.objects.get((STREAM_JOBS.plural, "n", "orders"))
        return found

    @property
    def has_map(self) -> bool:
        return (PARTITION_MAPS.plural, "n", "orders") in self.kept.api.objects

    @rule()
    def turn(self) -> None:
        self.kept.now_s += 1.0
        with contextlib.suppress(FormerLife):  # until Kubernetes has taken it away
            self.kept.keeper.turn()

    @rule()
    def kubernetes_takes_away_what_has_no_owner(self) -> None:
        objects = self.kept.api.objects
        live = {one["metadata"]["uid"] for one in objects.values()}
        for key, one in list(objects.items()):
            references = one["metadata"].get("ownerReferences", ())
            if references and not live & {owner["uid"] for owner in references}:
                self.kept.api.delete(KINDS[key[0]], key[2], "n")

    @rule(account=st.sampled_from(["spark", "other"]))
    def a_driver_comes(self, account: str) -> None:
        self.kept.driver(account=account)

    @precondition(lambda self: self.has_map)
    @rule()
    def its_agent_reports(self) -> None:
        self.kept.reports(agent())

    @precondition(lambda self: self.job is not None and Maps(self.kept.api, self.job).read() is not None)
    @rule()
    def a_plan_is_written(self) -> None:
        maps = Maps(self.kept.api, self.job or {})
        seen = maps.read()
        assert seen is not None
        maps.write([dataclasses.replace(PLAN, generation=seen.generation + 1)], seen)
        self.plans += 1

    @precondition(lambda self: self.job is not None)
    @rule(token=st.sampled_from(["a", "b"]))
    def its_moves_are_stopped(self, token: str) -> None:
        self.kept.annotate(Annotation.STOP, token)

    @precondition(lambda self: self.job is not None and "deletionTimestamp" not in self.job["metadata"])
    @rule()
    def it_is_deleted(self) -> None:
        there = self.kept.found(STREAM_JOBS, "orders")
        metadata = {**there["metadata"], "deletionTimestamp": "2001-09-09T01:46:40Z"}
        self.kept.api.put(STREAM_JOBS, {**there, "metadata": metadata})

    @precondition(lambda self: self.job is None)
    @rule()
    def it_is_made_again(self) -> None:
        self.kept.create()
        self.plans = 0

    @precondition(lambda self: self.job is not None)
    @rule()
    def a_turn_of_the_newest_life(self) -> None:
        """After a turn nothing that is there is of a former life."""
        self.kubernetes_takes_away_what_has_no_owner()
        self.kept.keeper.turn()
        if self.job is None or "deletionTimestamp" in self.job["metadata"]:
            return
        seen = Maps(self.kept.api, self.job).read()
        assert seen is not None
        assert self.plans > 0 or seen.generation == 0
        assert (self.job.get("status") or {}).get("uid") == self.job["metadata"]["uid"]

    @invariant()
    def all_children_are_owned(self) -> None:
        for (plural, _, name), one in self.kept.api.objects.items():
            if plural not in NOT_OWNED:
                assert len(one["metadata"].get("ownerReferences", ())) == 1, (plural, name)


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
