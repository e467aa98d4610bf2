"""Recommended settings, the user's own, and the checks made at start."""

from __future__ import annotations

import pytest

from streamjob_agent.bridge import OK, passes
from streamjob_agent.spark import merge_settings, recommended_settings
from streamjob_agent.spark.selftest import (
    check_ahead,
    check_joins,
    check_master,
    check_setting,
    check_version,
    check_wait,
    needless,
    run_checks,
)
from streamjob_agent.spark.source import probe_source


def test_no_user_settings_means_the_recommended_ones() -> None:
    assert merge_settings({}) == (recommended_settings(), ())


def test_the_user_wins_and_is_told() -> None:
    user = {"spark.locality.wait": "3s", "spark.executor.memory": "2g"}
    merged, (conflict,) = merge_settings(user)
    assert merged == {**recommended_settings(), **user}
    assert not conflict.required
    assert "spark.locality.wait=3s" in conflict.sentence
    assert "0s" in conflict.sentence


def test_dynamic_allocation_turns_actuation_off() -> None:
    _, (conflict,) = merge_settings({"spark.dynamicAllocation.enabled": "true"})
    assert conflict.required
    assert "actuation stays off" in conflict.sentence


def test_same_value_in_another_case_is_no_conflict() -> None:
    assert merge_settings({"spark.speculation": "False"})[1] == ()


@pytest.mark.parametrize(("version", "ok"), [("3.4.9", False), ("3.5.0", True), ("4.3.1", True), ("4.4.0", False)])
def test_versions(version: str, ok: bool) -> None:
    assert (check_version(version) == OK) is ok


@pytest.mark.parametrize("version", ["", "four", "4"])
def test_a_version_that_cannot_be_read_is_untested(version: str) -> None:
    assert "untested" in check_version(version)


@pytest.mark.parametrize(
    ("master", "ok"),
    [("local", False), ("local[4]", False), ("local[*]", False), ("local-cluster[3,1,1024]", True), ("k8s://h", True)],
)
def test_masters(master: str, ok: bool) -> None:
    assert (check_master(master) == OK) is ok


def test_a_setting_that_is_on_gives_its_reason() -> None:
    assert check_setting({"a": " TRUE "}, "a", "because") == "a is on: because"
    assert check_setting({}, "a", "because") == OK


def test_a_check_that_raises_tells_the_error() -> None:
    def fails() -> str:
        raise RuntimeError("no such\nmethod")

    checks = run_checks(version="4.3.0", master="yarn", conf={}, round_trip=fails, offer_ahead=lambda: None)
    assert checks.pop("coordinator_round_trip") == "RuntimeError: no such method"
    assert checks.pop("executors_can_leave").startswith("ok, but spark.decommission.enabled is off")
    assert set(checks.values()) == {OK}


CHECK = "spark.sql.streaming.stateStore.stateSchemaCheck"


def test_spark_35_may_refuse_a_joins_state_once_it_has_moved() -> None:
    for conf in ({}, {CHECK: "true"}):
        told = check_joins(conf, "3.5.9")
        assert passes(told)
        assert told.startswith("ok, but with Spark 3.5 partition 0 of a join stays on its executor")
        assert f"{CHECK}=false" in told
    assert check_joins({CHECK: " FALSE"}, "3.5.9") == OK


@pytest.mark.parametrize("version", ["4.0.5", "4.3.0", "four"])
def test_other_versions_compare_a_joins_schemas_on_the_driver(version: str) -> None:
    assert check_joins({}, version) == OK


@pytest.mark.parametrize("version", ["3.4.4", "4.4.0", "four"])
def test_state_is_opened_ahead_where_that_was_tried_alone(version: str) -> None:
    def never() -> None:
        raise AssertionError("it is not even compiled")

    answer = check_ahead(version, never)
    assert passes(answer)
    assert answer.endswith(f"a move's first task: Spark {version} is untested: 3.5 to 4.3 are known to work")


@pytest.mark.parametrize(
    ("version", "but"),
    [
        ("3.5.9", ", but far state of joins is loaded by a move's first task: Spark 3.5 does not tell its schemas"),
        ("4.0.5", ""),
        ("4.1.4", ""),
        ("4.2.1", ""),
        ("4.3.0", ""),
    ],
)
def test_state_is_opened_ahead_on_every_version_that_was_tried(version: str, but: str) -> None:
    offered: list[bool] = []
    answer = check_ahead(version, lambda: offered.append(True))
    assert passes(answer)
    assert answer == f"{OK}{but}"
    assert offered == [True]


def test_moves_go_on_where_state_cannot_be_opened_ahead() -> None:
    def changed() -> None:
        raise RuntimeError("no method getReadOnly\nin StateStore")

    answer = check_ahead("4.3.1", changed)
    assert passes(answer)
    assert answer.endswith("a move's first task: RuntimeError: no method getReadOnly in StateStore")


@pytest.mark.parametrize(
    ("conf", "version", "why_not"),
    [
        ({"spark.master": "local[*]"}, "4.3.0", "master local[*] runs every task inside the driver"),
        ({"spark.dynamicAllocation.enabled": "true"}, "4.3.0", "spark.dynamicAllocation.enabled is on"),
        ({"spark.speculation": "true"}, "4.3.0", "spark.speculation is on"),
        ({}, "3.0.0", "Spark 3.0.0 is untested"),
    ],
)
def test_settings_are_needless_where_actuation_will_stay_off(conf: dict[str, str], version: str, why_not: str) -> None:
    assert (needless(conf, version) or "").startswith(why_not)
    assert needless({"spark.master": "yarn", "spark.speculation": "false"}, "4.3.0") is None


def test_a_wait_of_the_jobs_own_is_told() -> None:
    answer = check_wait({"spark.locality.wait.process": "1s"})
    assert passes(answer)
    assert answer.startswith("ok, but spark.locality.wait.process=1s is the job's own")
    assert check_wait({}) == OK


@pytest.mark.parametrize(("answer", "goes_on"), [("ok", True), ("ok, but slowly", True), ("okay", False), ("", False)])
def test_what_one_should_know_does_not_turn_actuation_off(answer: str, goes_on: bool) -> None:
    assert passes(answer) is goes_on


def test_probe_source_is_one_unit() -> None:
    lines = probe_source("a.b").splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    assert lines[0] == "package a.b;"
    assert sum(line.startswith("package ") for line in lines) == 1
    assert len(imports) == len(set(imports))
    assert any("class Probe" in line for line in lines)
