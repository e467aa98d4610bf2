"""Versions side by side, as an upgrade has them: definitions first, then the operator, agents when their jobs restart.

`tests/data/skew` holds what the first version wrote, and stays as it is: every later one must read it. What a later one
would write is the same with a field more in every object of it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamjob_agent.kube.feed import Feed
from streamjob_agent.kube.pacing import REST_S
from streamjob_agent.map_form import assignment_from_spec, status_from_map
from streamjob_agent.map_plan import unknown_fields
from streamjob_agent.wire import Assignment, status_from_json
from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.partition_map.maps import view_of
from streamjob_operator.kube.report.compose import read_status
from streamjob_operator.kube.report.findings import SILENT_S, silent_after_s
from streamjob_operator.spec import SpecError, parse_job

SKEW = Path(__file__).parents[2] / "data" / "skew"
NEW = "aFieldOfTheNextVersion"
FREE = ("sparkConf", "podTemplate", "matchLabels", "owners", "selfTest", "self_test", "metadata")
"""Maps whose keys are the user's, or the job's."""
Path_ = tuple[str | int, ...]


def first(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SKEW / name).read_text(encoding="utf-8"))
    return found


def objects(document: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Where a later version may have a field more."""
    if isinstance(document, dict):
        yield path
        for name, value in document.items():
            if name not in FREE:
                yield from objects(value, (*path, name))
    elif isinstance(document, list):
        for at, value in enumerate(document):
            yield from objects(value, (*path, at))


def grown(document: dict[str, Any], path: Path_) -> dict[str, Any]:
    """The document with one field more there, as its default would be filled in."""
    later = copy.deepcopy(document)
    place: Any = later
    for step in path:
        place = place[step]
    place[NEW] = {"policy": "New"}
    return later


def told(path: Path_) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in (*path, NEW)).removeprefix(".")


JOB, MAP, STATUS = first("job.json"), first("map.json"), first("agent-status.json")
OF_SPEC = [path for path in objects(JOB) if path[:1] == ("spec",)]
OF_STATUS = list(objects(JOB["status"]))
OF_PLAN = [(), ("pace",)]
OF_REPORT = list(objects(MAP["status"]))


def test_what_the_first_version_wrote_is_read() -> None:
    reading = read_job(JOB)
    assert reading.job is not None, reading.mistakes
    assert reading.unknown == ()
    status = read_status(JOB)
    assert status.driver is not None
    assert (status.driver.restarts, len(status.conditions)) == (3, 1)
    assert assignment_from_spec(MAP["spec"]).generation == 3
    assert status_from_map(MAP["status"]) == status_from_json(json.dumps(STATUS))


@pytest.mark.parametrize("path", OF_SPEC, ids=map(told, OF_SPEC))
def test_an_operator_reads_a_job_of_newer_definitions_and_says_what_it_leaves_out(path: Path_) -> None:
    reading = read_job(grown(JOB, path))
    assert reading.mistakes == ()
    assert reading.job == read_job(JOB).job
    assert reading.unknown == (told(path),)


def test_a_mistake_beside_a_newer_field_is_still_one() -> None:
    document = grown(JOB, ("spec",))
    document["spec"]["executors"]["min"] = 0
    reading = read_job(document)
    assert reading.job is None
    assert any(one.startswith("spec.executors.min") for one in reading.mistakes)


def test_whoever_writes_a_file_is_told_of_an_unknown_field() -> None:
    document = {name: value for name, value in grown(JOB, ("spec",)).items() if name != "status"}
    document["metadata"] = {"name": "orders"}
    with pytest.raises(SpecError, match=f"spec.{NEW}: there is no such field"):
        parse_job(json.dumps(document))


@pytest.mark.parametrize("path", OF_STATUS, ids=map(told, OF_STATUS))
def test_an_operator_reads_the_status_of_a_newer_one_whole(path: Path_) -> None:
    """After a step back: what was counted and remembered is not lost."""
    assert read_status({**JOB, "status": grown(JOB["status"], path)}) == read_status(JOB)


@pytest.mark.parametrize("path", OF_PLAN, ids=map(told, OF_PLAN))
def test_an_agent_follows_the_plan_of_a_newer_operator_and_says_what_it_leaves_out(path: Path_) -> None:
    later = grown(MAP["spec"], path)
    assert assignment_from_spec(later) == assignment_from_spec(MAP["spec"])
    assert unknown_fields(later) == (told(path),)
    taken: list[Assignment] = []
    feed = Feed(taken.append, lambda _: None)
    feed.offer({"metadata": {"uid": "u", "generation": 1}, "spec": later})
    assert (len(taken), feed.unreadable, feed.unknown) == (1, None, (told(path),))


def test_a_plan_that_an_older_agent_must_not_follow_has_another_form() -> None:
    feed = Feed(lambda _: None, lambda _: None)
    feed.offer({"metadata": {"uid": "u", "generation": 1}, "spec": {**MAP["spec"], "form": 2}})
    assert feed.unreadable is not None
    assert "form: '2' given" in feed.unreadable


@pytest.mark.parametrize("path", OF_REPORT, ids=map(told, OF_REPORT))
def test_an_operator_reads_the_report_of_a_newer_agent(path: Path_) -> None:
    metadata = {"resourceVersion": "1"}
    later = view_of({"metadata": metadata, "spec": MAP["spec"], "status": grown(MAP["status"], path)})
    assert later == view_of({"metadata": metadata, **MAP})


@pytest.mark.parametrize("path", list(objects(STATUS)), ids=map(told, objects(STATUS)))
def test_the_page_of_a_newer_agent_is_read(path: Path_) -> None:
    assert status_from_json(json.dumps(grown(STATUS, path))) == status_from_json(json.dumps(STATUS))


def test_what_an_agent_leaves_out_is_told() -> None:
    status = {**MAP["status"], "ignored": [NEW]}
    assert view_of({"metadata": {"resourceVersion": "1"}, "spec": MAP["spec"], "status": status}).ignored == (NEW,)


@pytest.mark.parametrize("told", [30, 30.0, None, "30", True, -1, 0, float("nan"), [30]])
def test_how_often_an_agent_reports_is_what_it_says_itself(told: object) -> None:
    """An older one says nothing, and reports each ten seconds; what else stands there is whoever's who writes it."""
    status = {**MAP["status"], **({} if told is None else {"heartbeatSeconds": told})}
    seen = view_of({"metadata": {"resourceVersion": "1"}, "spec": MAP["spec"], "status": status})
    assert (seen.heartbeat_s, silent_after_s(seen)) == ((30.0, 90.0) if told in (30, 30.0) and told else (None, 60.0))


def test_an_agent_at_rest_is_not_silent_to_an_operator_of_before_even_if_a_report_fails() -> None:
    """It counts a minute from one report to the next, whatever the agent says of its heartbeats."""
    assert 2 * REST_S <= SILENT_S
