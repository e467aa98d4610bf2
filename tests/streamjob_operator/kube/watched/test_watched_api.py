"""When the API server is asked although the watches know something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from kubernetes.client import Configuration
from scripted_server import Answer, Script, serving

from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, SECRETS
from streamjob_operator.kube.api.listing import AS_METADATA
from streamjob_operator.kube.api.refusals import Conflict, Refused
from streamjob_operator.kube.watched.api import WatchedApi
from streamjob_operator.kube.watched.relist import MOST_SINGLES, fill, make_stores, relist


def document(version: int, name: str = "a", **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "n", "resourceVersion": str(version), "labels": labels}}


class World:
    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.stores = make_stores()

    def api(self, *answers: Answer) -> tuple[WatchedApi, Script]:
        script = self._stack.enter_context(serving(Script(*answers)))
        return WatchedApi(Configuration(host=script.url), self.stores), script

    def version(self) -> str | None:
        found = self.stores[PARTITION_MAPS].get("n", "a")
        return None if found is None else str(found["metadata"]["resourceVersion"])


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as stack:
        yield World(stack)


def test_what_is_watched_costs_no_request(world: World) -> None:
    api, script = world.api(Answer(status=500))
    world.stores[PARTITION_MAPS].put(document(1))
    world.stores[PODS].put(document(2, **{"spark-role": "executor"}))
    assert api.get(PARTITION_MAPS, "a", "n")
    assert len(api.list(PODS, "n", labels="spark-role=executor")) == 1
    assert api.list(PODS, "n", labels="spark-role=driver") == []
    assert script.asked == []


@pytest.mark.parametrize("selector", ["app=x", "app", "app!=x,spark-role=driver", None])
def test_what_is_watched_in_part_is_asked_for(world: World, selector: str | None) -> None:
    listed = {"metadata": {"resourceVersion": "7"}, "items": [document(1)]}
    api, script = world.api(Answer(body=listed))
    assert len(api.list(PODS, "n", labels=selector)) == len(script.asked) == 1


def test_absence_is_the_servers_own_word_and_what_it_has_is_kept(world: World) -> None:
    api, script = world.api(Answer(status=404), Answer(body=document(3)))
    assert api.get(PARTITION_MAPS, "a", "n") is None
    assert api.get(PARTITION_MAPS, "a", "n")
    assert api.get(PARTITION_MAPS, "a", "n")
    assert len(script.asked) == 2


def test_what_was_written_is_known_at_once(world: World) -> None:
    api, script = world.api(Answer(body=document(5)))
    world.stores[PARTITION_MAPS].put(document(4))
    api.apply(PARTITION_MAPS, document(4))
    world.stores[PARTITION_MAPS].put(document(4))  # what the watch tells late
    assert world.version() == "5"
    api.merge_patch(SECRETS, "a", "n", {})
    assert len(script.asked) == 2


@pytest.mark.parametrize("status", [409, 404])
def test_after_a_conflict_the_server_is_asked(world: World, status: int) -> None:
    api, _ = world.api(Answer(status=status), Answer(body=document(9)))
    world.stores[PARTITION_MAPS].put(document(4))
    with pytest.raises(Conflict if status == 409 else Refused):
        api.apply(PARTITION_MAPS, document(4))
    assert world.version() is None
    found = api.get(PARTITION_MAPS, "a", "n")
    assert found is not None
    assert found["metadata"]["resourceVersion"] == "9"


def test_what_is_in_doubt_is_missing_from_no_list(world: World) -> None:
    """A job of the same checkpoint was not there for the other one, whose driver was started beside its own."""
    api, script = world.api(Answer(status=409), listed(9, document(9)))
    world.stores[PARTITION_MAPS].put(document(4))
    with pytest.raises(Conflict):
        api.apply(PARTITION_MAPS, document(4))
    assert [one["metadata"]["resourceVersion"] for one in api.list(PARTITION_MAPS, "n")] == ["9"]
    world.stores[PARTITION_MAPS].put(document(9))
    assert [one["metadata"]["resourceVersion"] for one in api.list(PARTITION_MAPS, "n")] == ["9"]
    assert len(script.asked) == 2


def test_a_deletion_that_speaks_of_a_former_object_is_not_repeated(world: World) -> None:
    """A watch that has missed the end of one and the beginning of the other, of the same name."""
    api, script = world.api(Answer(status=409), Answer(body=document(9)))
    world.stores[PARTITION_MAPS].put(document(4))
    with pytest.raises(Conflict):
        api.delete(PARTITION_MAPS, "a", "n", uid="former")
    assert api.get(PARTITION_MAPS, "a", "n")
    assert (world.version(), len(script.asked)) == ("9", 2)


def test_a_list_fills_the_stores_and_empties_them(world: World) -> None:
    api, script = world.api(listed(5), listed(6, document(3)), listed(7, document(4, **{"spark-role": "driver"})))
    told: list[str] = []
    assert fill(api, world.stores, (), lambda _: True, told.append)
    assert [len(store) for store in world.stores.values()] == [0, 1, 1]
    assert "labelSelector=spark-role" in script.asked[2].path
    script.answers = [listed(9)]
    relist(api, world.stores, ("n",), print)
    assert [len(store) for store in world.stores.values()] == [0, 0, 0]


def listed(version: int, *items: dict[str, Any]) -> Answer:
    return Answer(body={"metadata": {"resourceVersion": str(version)}, "items": list(items)})


def test_a_list_of_versions_reads_the_documents_that_are_news(world: World) -> None:
    known, older, missed = (document(at, name) for at, name in ((3, "known"), (4, "older"), (6, "missed")))
    newer = document(7, "older")
    api, script = world.api(listed(8, known, newer, missed), Answer(body=newer), Answer(body=missed), listed(9))
    for one in (known, older, document(2, "gone")):
        world.stores[PARTITION_MAPS].put(one)
    relist(api, {PARTITION_MAPS: world.stores[PARTITION_MAPS]}, ("n",), print)
    assert [one.path.rsplit("/", 1)[-1] for one in script.asked] == ["partitionmaps?limit=500", "older", "missed"]
    assert script.asked[0].accept == AS_METADATA
    assert world.stores[PARTITION_MAPS].versions("n") == {"known": 3, "older": 7, "missed": 6}


def test_where_much_is_news_all_documents_are_read_in_pages(world: World) -> None:
    there = [document(at, f"map-{at}") for at in range(1, MOST_SINGLES + 2)]
    api, script = world.api(listed(60, *there))
    relist(api, {PARTITION_MAPS: world.stores[PARTITION_MAPS]}, (), print)
    assert [one.accept for one in script.asked] == [AS_METADATA, "application/json"]
    assert len(world.stores[PARTITION_MAPS]) == len(there)


def test_what_goes_between_a_list_of_versions_and_its_reading_is_not_kept(world: World) -> None:
    api, _ = world.api(listed(8, document(6)), Answer(status=404))
    relist(api, {PARTITION_MAPS: world.stores[PARTITION_MAPS]}, (), print)
    assert len(world.stores[PARTITION_MAPS]) == 0


def test_filling_goes_on_until_nobody_waits(world: World) -> None:
    api, _ = world.api(Answer(status=403))
    told: list[str] = []
    assert not fill(api, world.stores, (), lambda _: len(told) == 3, told.append)
    assert len(told) == 3


def test_a_namespace_without_rights_keeps_no_other_from_being_listed(world: World) -> None:
    """Its tenant may have deleted it, and with it the operator's binding there."""
    forbidden = Answer(status=403)
    api, _ = world.api(forbidden, listed(5), listed(6, document(3)), listed(7))
    told: list[str] = []
    assert fill(api, world.stores, ("closed", "n"), lambda _: True, told.append)
    assert world.version() == "3"
    assert [one.split(" is not ")[0] for one in told] == ["Namespace closed"]
    api, _ = world.api(forbidden, listed(8), listed(9), listed(10))
    relist(api, world.stores, ("closed", "n"), told.append)
    assert world.version() is None
    assert len(told) == 2
    api, _ = world.api(forbidden)
    with pytest.raises(Refused):
        relist(api, world.stores, ("closed", "n"), told.append)
