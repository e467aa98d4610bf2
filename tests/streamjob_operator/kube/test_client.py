"""The client against scripted answers: what is retried, what is not, and what the caller hears."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import Configuration
from scripted_server import Answer, Script, serving

from streamjob_operator.kube.api.access import configuration
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS, SECRETS, STREAM_JOBS
from streamjob_operator.kube.api.refusals import Conflict, Gone, NotFound, Refused
from streamjob_operator.kube.api.retry import Retry
from streamjob_operator.ports import Unavailable


class World:
    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.waits: list[float] = []
        self.calls: list[tuple[str, str, int]] = []

    def api(self, *answers: Answer) -> tuple[KubeApi, Script]:
        script = self.stack.enter_context(serving(Script(*answers)))
        settings = Configuration(host=script.url)
        retry = Retry(attempts=3, sleep=self.waits.append, chance=lambda: 0.0)
        return KubeApi(settings, retry=retry, called=lambda *call: self.calls.append(call)), script


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as stack:
        yield World(stack)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_passing_failures_are_tried_again(world: World, status: int) -> None:
    api, script = world.api(Answer(status=status), Answer(status=status), Answer(body={"kind": "Pod"}))
    assert api.get(PODS, "a", "n") == {"kind": "Pod"}
    assert [asked.path for asked in script.asked] == ["/api/v1/namespaces/n/pods/a"] * 3
    assert world.waits == [0.2, 0.4]
    assert world.calls == [("get", "pods", status)] * 2 + [("get", "pods", 200)]


def test_what_a_failing_webhook_says_is_passed_on(world: World) -> None:
    """The API server answers 500 for it, as for everything that passes by itself."""
    said = 'Internal error occurred: failed calling webhook "policy.example": no endpoints available'
    api, _ = world.api(Answer(status=500, body={"kind": "Status", "code": 500, "message": said}))
    with pytest.raises(Unavailable, match="failed calling webhook"):
        api.create(PODS, {"metadata": {"name": "a", "namespace": "n"}})


def test_retry_after_is_honoured_within_bounds(world: World) -> None:
    busy = [Answer(status=429, headers={"Retry-After": seconds}) for seconds in ("2", "9999")]
    api, _ = world.api(*busy, Answer())
    api.get(PODS, "a", "n")
    assert world.waits == [2.0, 5.0]


def test_an_answer_that_is_cut_off_is_asked_for_again(world: World) -> None:
    api, _ = world.api(Answer(cut=True, body={"half": 1}), Answer(body="<html>"), Answer(body={"whole": 1}))
    assert api.get(PODS, "a", "n") == {"whole": 1}


def test_after_the_last_attempt_nothing_is_known(world: World) -> None:
    api, script = world.api(Answer(status=503))
    with pytest.raises(Unavailable, match=r"did not get /api/v1/namespaces/n/pods/a: 503 "):
        api.get(PODS, "a", "n")
    assert len(script.asked) == 3


def test_nobody_listens() -> None:
    api = KubeApi(Configuration(host="http://127.0.0.1:9"), retry=Retry(attempts=2, sleep=lambda _: None))
    with pytest.raises(Unavailable, match="API server"):
        api.get(PODS, "a", "n")


@pytest.mark.parametrize(("status", "kind"), [(409, Conflict), (422, Refused), (403, Refused), (404, NotFound)])
def test_a_refusal_comes_at_once_with_its_sentence(world: World, status: int, kind: type[Refused]) -> None:
    body = {"kind": "Status", "code": status, "reason": "Because", "message": "spec.x: no"}
    api, script = world.api(Answer(status=status, body=body))
    with pytest.raises(kind, match=r"spec\.x: no") as caught:
        api.merge_patch(STREAM_JOBS, "a", "n", {"status": {}}, subresource="status")
    assert (caught.value.status, caught.value.reason, len(script.asked)) == (status, "Because", 1)


def test_what_is_not_there(world: World) -> None:
    api, _ = world.api(Answer(status=404))
    assert api.get(PODS, "a", "n") is None
    assert api.list(PODS, "n") == []
    assert api.delete(PODS, "a", "n") is False


def test_a_list_is_read_page_by_page(world: World) -> None:
    first = {"metadata": {"continue": "more", "resourceVersion": "7"}, "items": [{"a": 1}]}
    api, script = world.api(
        Answer(body=first), Answer(body={"metadata": {"resourceVersion": "7"}, "items": [{"b": 2}]})
    )
    assert api.list(PODS, labels="x=y") == [{"a": 1}, {"b": 2}]
    assert script.asked[0].path == "/api/v1/pods?labelSelector=x%3Dy&limit=500"
    assert script.asked[1].path == "/api/v1/pods?continue=more&labelSelector=x%3Dy&limit=500"


def test_apply_states_kind_manager_and_subresource(world: World) -> None:
    api, script = world.api(Answer())
    api.apply(STREAM_JOBS, {"metadata": {"name": "a", "namespace": "n"}}, subresource="status", force=True)
    (asked,) = script.asked
    assert asked.path.startswith("/apis/streamjob.dev/v1alpha1/namespaces/n/streamjobs/a/status?")
    assert "fieldManager=streamjob-operator" in asked.path
    assert "force=True" in asked.path or "force=true" in asked.path
    assert asked.content_type == "application/apply-patch+yaml"
    assert asked.body["kind"] == "StreamJob"


def test_a_delete_can_spare_a_namesake(world: World) -> None:
    api, script = world.api(Answer())
    assert api.delete(PODS, "a", "n", uid="u1", grace_s=0)
    assert script.asked[0].body["preconditions"] == {"uid": "u1"}
    assert script.asked[0].body["gracePeriodSeconds"] == 0


def test_a_watch_gives_changes_until_its_end_and_tells_when_it_is_too_old(world: World) -> None:
    lines = [{"type": "ADDED", "object": {"n": 1}}, {"type": "MODIFIED", "object": {"n": 2}}]
    gone = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}
    api, script = world.api(Answer(body="\n".join(map(json.dumps, [*lines, gone])) + "\n"))
    watch = api.watch(PODS, "n", "7")
    assert [next(watch), next(watch)] == [("ADDED", {"n": 1}), ("MODIFIED", {"n": 2})]
    with pytest.raises(Gone, match="too old"):
        next(watch)
    assert "resourceVersion=7" in script.asked[0].path


def test_a_watch_that_is_cut_off(world: World) -> None:
    api, _ = world.api(Answer(body=json.dumps({"type": "ADDED", "object": {}}) + "\n", cut=True))
    with pytest.raises(Unavailable, match="cut off"):
        list(api.watch(PODS, "n", "7"))


def test_a_kubeconfig_that_is_not_there(tmp_path: object) -> None:
    with pytest.raises(Unavailable) as caught:
        configuration(f"{tmp_path}/none")
    assert str(caught.value) == f"No way to the API server is known: {tmp_path}/none: there is no such kubeconfig."


def test_a_kubeconfig_that_is_no_text_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"\xff")
    with pytest.raises(Unavailable, match=r"API server is known: .*/config: 'utf-8' codec"):
        configuration(tmp_path / "config")


@pytest.mark.parametrize("text", ["clusters: [a\n", "some words\n", "- a list\n", "contexts: 1\ncurrent-context: a\n"])
def test_a_kubeconfig_that_is_none_is_told_by_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(Unavailable, match="No way to the API server is known") as caught:
        configuration(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_dry_run_is_asked_for_as_one(world: World) -> None:
    """Or a trial would make the pod."""
    api, script = world.api(Answer(body={"kind": "Pod"}))
    document = {"metadata": {"name": "a", "namespace": "n"}}
    api.create(PODS, document, dry_run=True)
    api.create(PODS, document)
    assert ["dryRun=All" in asked.path for asked in script.asked] == [True, False]


@pytest.mark.parametrize(
    "name", ["../../kube-system/secrets/login", "..", "a/status", "a?watch=true", "a%2Fb", "a\\b", ""]
)
def test_a_name_that_would_lead_to_another_object_is_never_asked_for(world: World, name: str) -> None:
    """A StreamJob names secrets and pods of its own namespace; the operator may read those of others."""
    api, script = world.api(Answer(body={"kind": "Secret"}))
    assert api.get(SECRETS, name, "team-a") is None
    with pytest.raises(NotFound, match="can be named"):
        api.merge_patch(PODS, name, "team-a", {})
    assert script.asked == []


def test_an_authority_that_was_replaced_is_trusted_from_the_next_connection_on(rotating: Any) -> None:
    settings = Configuration(host=f"https://127.0.0.1:{rotating.port}")
    settings.ssl_ca_cert = str(rotating.ca)
    api = KubeApi(settings, retry=Retry(attempts=2, sleep=lambda _: None))
    assert api.get(PODS, "a", "n") == {}
    rotating.rotate("second")
    with pytest.raises(Unavailable, match="certificate verify failed"):
        api.get(PODS, "a", "n")
    rotating.tell("second")
    assert api.get(PODS, "a", "n") == {}
