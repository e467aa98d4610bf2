"""What a person asks of a job on a cluster: modes, approval, pause, stop, refresh, /scale; by kubectl and plugin."""

from __future__ import annotations

import json
from typing import Any

import pytest
from e2e.simulated.pods import executor_pod
from kube_jobs import JOB, SKEWED
from kubectl import eventually
from paper_spark import PaperSpark
from stage import Stage, balanced, condition, last_reason


def test_recommend_tells_and_touches_nothing(stage: Stage) -> None:
    stage.operator()
    spark = stage.job(balancing={"mode": "Recommend"})
    status = stage.until(lambda one: last_reason(one) == "Recommended")
    assert status["lastPlan"]["decision"] == "Recommended"
    assert condition(status, "Balanced") == "False/Recommended"
    stage.patch({"balancing": {"mode": "Off"}})
    stage.until(lambda one: last_reason(one) == "ModeOff")
    assert (spark.moves, stage.generation()) == ([], 0)


def test_exactly_the_approved_plan_is_carried_out(stage: Stage) -> None:
    stage.operator()
    spark = stage.job(balancing={"mode": "Approve"})
    status = stage.until(lambda one: condition(one, "AwaitingApproval").startswith("True/"))
    shown = stage.plugin("plan", JOB)
    waiting = status["lastPlan"]["hash"]
    assert waiting in shown
    stage.annotate("streamjob.dev/approve=000000000000")
    assert last_reason(stage.cycles(2)) == "AwaitingApproval"
    assert spark.moves == []
    assert waiting in stage.plugin("approve", JOB, waiting)
    status = stage.until(balanced)
    assert status["lastPlan"]["hash"] == waiting
    assert len(spark.moves) == status["lastPlan"]["moves"]
    for move in spark.moves:  # what was shown is what was done
        assert f"{move.key.operator}/{move.key.partition}" in shown


def rising(stage: Stage) -> tuple[str, str]:
    """A job whose load rises from cycle to cycle, with the hashes of the two plans that were shown."""
    stage.operator()
    loads = [5.0] * 16
    stage.job(
        PaperSpark(loads, executors=2),
        executors={"min": 2, "max": 6},
        # Of a dozen batches: with four, one more or less at a window's end is an executor.
        balancing={"mode": "Approve", "statisticsPeriod": "3s"},
        scaling={"mode": "Approve", "rule": "utilization", "stabilization": {"up": "0s"}},
    )
    stage.until(lambda one: last_reason(one) == "Balanced")
    hashes = []
    for load, executors in ((11.0, 3), (15.3, 4)):
        loads[:] = [load] * 16
        status = stage.until(lambda one, wanted=executors: wants(one, wanted))
        hashes.append(status["approvable"][0]["hash"])
    return hashes[0], hashes[1]


def wants(status: dict[str, Any], executors: int) -> bool:
    """Whether a plan with that many executors waits."""
    shown = status.get("approvable") or [{}]
    return condition(status, "AwaitingApproval").startswith("True/") and shown[0].get("executors") == executors


def test_what_was_shown_is_started_though_more_is_wanted_by_then(stage: Stage) -> None:
    first, second = rising(stage)
    listed = stage.kubectl.get("streamjob", JOB)["status"]["approvable"]
    assert [one["hash"] for one in listed] == [second, first]
    assert ["until" in one for one in listed] == [False, True]
    assert first in stage.plugin("plan", JOB)
    assert "3 executors" in stage.plugin("approve", JOB, first)
    status = stage.until(lambda one: one["executors"]["target"] == 3)
    assert status["lastAction"]["message"].startswith(f"Approved. 3 executors as plan {first} says; now it would be: 4")
    stage.until(lambda one: wants(one, 4))


def test_a_plan_is_void_once_the_world_has_changed(stage: Stage) -> None:
    stage.operator()
    spark = stage.job(PaperSpark([10.0, 3.0, 3.0] * 8, executors=3), balancing={"mode": "Approve"})
    first = stage.until(lambda one: condition(one, "AwaitingApproval").startswith("True/"))["lastPlan"]["hash"]
    spark.decommission("2")
    status = stage.until(lambda one: one["executors"]["ready"] == 2 and one["lastPlan"]["hash"] != first)
    assert status["lastPlan"]["decision"] == "AwaitingApproval"
    before, moved = stage.generation(), len(spark.moves)
    stage.annotate(f"streamjob.dev/approve={first}")
    status = stage.cycles(2)
    assert condition(status, "AwaitingApproval").startswith("True/")
    assert status["lastPlan"]["hash"] != first
    assert (stage.generation(), len(spark.moves)) == (before, moved)


def test_a_paused_job_is_measured_and_left_alone(stage: Stage) -> None:
    stage.operator()
    spark = stage.job(balancing={"mode": "Recommend"})
    stage.until(lambda one: last_reason(one) == "Recommended")
    stage.plugin("pause", JOB)
    stage.patch({"balancing": {"mode": "Auto"}})
    status = stage.until(lambda one: last_reason(one) == "Paused")
    assert status["load"]["distance"] > 5
    assert spark.moves == []
    stage.plugin("resume", JOB)
    stage.until(balanced)
    assert spark.distance() <= 5


def is_marked(pod: dict[str, Any]) -> bool:
    return bool(pod["labels"].get("streamjob.dev/marked-for-removal") == "true")


def test_scale_is_followed_out_and_in_with_a_drain(stage: Stage) -> None:
    stage.operator()
    spark = stage.job(balancing={"maxLoadDistance": 10, "migrationBudget": {"maxCost": "10s", "maxMigrations": 1}})
    stage.until(balanced)
    for executor in ("0", "1", "2"):
        stage.kubectl.apply(executor_pod(JOB, spark.application, executor))
    stage.kubectl("scale", "streamjob", JOB, "--replicas=3")
    status = stage.until(lambda one: one["executors"]["summary"] == "3/3" and balanced(one))
    assert len([load for load in spark.loads().values() if load > 0]) == 3
    assert status["lastAction"]["reason"] in ("ScaleOut", "LoadDistance")
    selected = stage.kubectl.get("pods", f"--selector={stage.scale()['status']['selector']}")["items"]
    assert len(selected) == 3
    stage.kubectl("scale", "streamjob", JOB, "--replicas=2")
    status = stage.until(lambda one: one["executors"]["markedForRemoval"])
    (marked,) = status["executors"]["markedForRemoval"]
    name = f"paper-exec-{marked['id']}"
    pod = eventually(lambda: is_marked(found := stage.kubectl.get("pod", name)["metadata"]) and found)
    assert pod["annotations"]["controller.kubernetes.io/pod-deletion-cost"].startswith("-")
    stage.until(lambda one: one["executors"]["summary"] == "2/2" and not one["executors"]["markedForRemoval"])
    assert spark.removed == [marked["id"]]
    assert spark.removed_with_groups == []
    assert "ScaleIn" in stage.events()


def without_room(stage: Stage, executor_timeout: str) -> PaperSpark:
    """A job that is balanced on two executors, where no third one ever comes."""
    stage.operator()
    spark = PaperSpark(SKEWED, executors=2)
    spark.most_executors = 2
    stage.job(spark, scaling={"executorTimeout": executor_timeout})
    stage.until(balanced)
    return spark


def test_executors_that_do_not_come_are_given_up_with_a_reason(stage: Stage) -> None:
    spark = without_room(stage, executor_timeout="3s")
    stage.patch({"executors": {"replicas": 4}})
    status = stage.until(lambda one: condition(one, "ExecutorsAvailable") == "False/WaitingForExecutors")
    assert status["phase"] == "Scaling"
    status = stage.until(lambda one: condition(one, "ExecutorsAvailable") == "False/ExecutorsTimedOut")
    assert status["executors"]["target"] == 2
    assert spark.loads() == pytest.approx({"0": 70.0, "1": 70.0})


def test_executors_without_room_are_told_given_up_and_not_asked_for_again_and_again(stage: Stage) -> None:
    spark = without_room(stage, executor_timeout="20s")
    stage.kubectl.apply(executor_pod(JOB, spark.application, "2"))
    no_room = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes have room"}
    status = json.dumps({"status": {"conditions": [no_room]}})
    stage.kubectl("patch", "pod", "paper-exec-2", "--subresource=status", "--type=merge", "-p", status)
    stage.patch({"executors": {"replicas": 3}})
    waiting = stage.until(lambda one: condition(one, "ExecutorsAvailable") == "False/ExecutorUnschedulable")
    (told,) = (one["message"] for one in waiting["conditions"] if one["type"] == "ExecutorsAvailable")
    assert "paper-exec-2 does not start: 0/3 nodes have room" in told
    stage.until(lambda one: condition(one, "ExecutorsAvailable") == "False/ExecutorsTimedOut")
    retreated = stage.generation()
    after = stage.cycles(5)
    assert condition(after, "ExecutorsAvailable") == "False/ExecutorsTimedOut"
    assert (stage.generation(), after["executors"]["target"]) == (retreated, 2)
    assert stage.events()["ExecutorUnschedulable"] == 1
    assert spark.loads() == pytest.approx({"0": 70.0, "1": 70.0})


def test_a_window_keeps_key_groups_where_they_are(stage: Stage) -> None:
    stage.operator()
    always = {"cron": "* * * * *", "duration": "5m", "deny": ["Move"]}
    spark = stage.job(scaling={"windows": [always]})
    stage.until(lambda one: last_reason(one) == "WindowDenies")
    status = stage.cycles(2)
    assert (last_reason(status), condition(status, "Balanced")) == ("WindowDenies", "False/WindowDenies")
    assert (spark.moves, stage.generation()) == ([], 0)
    stage.patch({"scaling": {"windows": []}})
    stage.until(balanced)
    assert spark.distance() <= 5


def test_stop_ends_the_running_drain(stage: Stage) -> None:
    stage.operator()
    spark = stage.job(
        PaperSpark([10.0] * 40, executors=4),
        executors={"min": 2, "max": 4},
        balancing={"migrationBudget": {"maxCost": "10s", "maxMigrations": 1}},
    )
    stage.until(balanced)
    stage.patch({"executors": {"replicas": 3}})
    stage.until(lambda one: one["executors"]["markedForRemoval"])
    stage.plugin("pause", JOB)
    stage.plugin("stop", JOB)
    status = stage.until(lambda one: one.get("handled", {}).get("stop") and not one["executors"]["markedForRemoval"])
    assert status["executors"]["target"] == 4
    eventually(lambda: stage.events().get("Stopped") == 1)
    generation, moved = stage.generation(), len(spark.moves)
    stage.cycles(2)
    assert (stage.generation(), len(spark.moves), spark.removed) == (generation, moved, [])


def test_a_refresh_is_followed_once_and_the_annotation_stays(stage: Stage) -> None:
    stage.operator()
    stage.job(balancing={"mode": "Recommend", "statisticsPeriod": "20s", "planDeadline": "1s"})
    first = stage.until(lambda one: one.get("lastCycle"), 120.0)["lastCycle"]["id"]
    stage.plugin("refresh", JOB)
    status = stage.until(lambda one: one["lastCycle"]["id"] != first, 15.0)
    token = stage.kubectl.get("streamjob", JOB)["metadata"]["annotations"]["streamjob.dev/refresh"]
    assert status["handled"]["refresh"] == token


def test_history_top_and_explain_say_what_happened(stage: Stage) -> None:
    stage.operator()
    stage.job()
    stage.until(balanced)
    assert "LoadDistance" in stage.plugin("history", JOB)
    assert JOB in stage.plugin("top")
    explained = stage.plugin("explain", JOB)
    assert "Balanced" in explained
    assert "MetricsAvailable" in explained
