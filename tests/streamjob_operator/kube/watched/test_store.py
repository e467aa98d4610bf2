"""What the watches have told, in whatever order it comes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjob_operator.kube.api.kinds import PODS, STREAM_JOBS
from streamjob_operator.kube.pods.executors import APPLICATION
from streamjob_operator.kube.watched import store as store_module
from streamjob_operator.kube.watched.relist import make_stores
from streamjob_operator.kube.watched.store import Store

SPARK = {"spark-role": "executor", APPLICATION: "spark-1"}


def document(name: str, version: int, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "n", "resourceVersion": str(version), "labels": labels}
    return {"metadata": metadata | {"managedFields": [{}]}, "status": {"phase": "Running"}}


@given(st.permutations([("put", 1), ("put", 3), ("put", 7), ("drop", 5)]))
def test_the_newest_version_wins_in_whatever_order_it_is_told(told: list[tuple[str, int]]) -> None:
    store = Store(STREAM_JOBS)
    for what, version in told:
        if what == "put":
            store.put(document("a", version))
        else:
            store.drop("n", "a", version)
    found = store.get("n", "a")
    assert found is not None
    assert found["metadata"]["resourceVersion"] == "7"


@given(st.permutations([("put", 1), ("put", 3), ("drop", 5)]))
def test_what_is_gone_does_not_come_back_by_older_news(told: list[tuple[str, int]]) -> None:
    store = Store(STREAM_JOBS)
    for what, version in told:
        if what == "put":
            store.put(document("a", version))
        else:
            store.drop("n", "a", version)
    assert store.get("n", "a") is None
    assert store.fitting(None, {}) == []


def test_a_list_takes_away_what_no_watch_has_told_of() -> None:
    store = Store(STREAM_JOBS)
    for name, version in (("gone", 4), ("there", 5), ("newer", 9)):
        store.put(document(name, version))
    assert store.relisted({("n", "there")}, 6, None) == [("n", "gone")]
    assert [one["metadata"]["name"] for one in store.fitting("n", {})] == ["newer", "there"]
    assert store.relisted(set(), 20, "elsewhere") == []


def test_a_readers_copy_is_his_own() -> None:
    store = Store(STREAM_JOBS)
    store.put(document("a", 1))
    first = store.get("n", "a")
    assert first is not None
    first["status"]["phase"] = "Failed"
    again = store.get("n", "a")
    assert again is not None
    assert again["status"] == {"phase": "Running"}


@pytest.mark.parametrize("wanted", [SPARK, {"team": "blue"}, {**SPARK, "team": "blue"}], ids=["known", "other", "both"])
def test_lists_by_labels(wanted: dict[str, str]) -> None:
    store = Store(PODS, labels=(APPLICATION,))
    store.put(document("b", 1, **SPARK, team="blue"))
    store.put(document("a", 2, **SPARK, team="blue"))
    store.put(document("c", 3, **{**SPARK, APPLICATION: "spark-2"}, team="red"))
    store.put(document("a", 4, **SPARK, team="blue"))
    assert [one["metadata"]["name"] for one in store.fitting("n", wanted)] == ["a", "b"]
    store.drop("n", "b", 9)
    assert [one["metadata"]["name"] for one in store.fitting("n", wanted)] == ["a"]
    assert store.fitting("elsewhere", wanted) == []


APPS = st.sampled_from("xyz")
WANTED = {"spark-role": st.just("driver"), "app": APPS, APPLICATION: st.just("spark-1")}


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["driver", "executor"]), APPS)),
    st.fixed_dictionaries({}, optional=WANTED),
)
def test_lists_are_the_same_whatever_has_places(told: list[tuple[str, str, str]], wanted: dict[str, str]) -> None:
    stores = [Store(PODS), Store(PODS, labels=(APPLICATION,), findable=("spark-role", "driver"))]
    for version, (name, role, app) in enumerate(told):
        for store in stores:
            store.put(document(name, version, **{"spark-role": role, "app": app, APPLICATION: f"spark-{version % 2}"}))
    plain, placed = (store.fitting("n", wanted) for store in stores)
    assert placed == plain


def test_a_driver_is_found_by_any_label_and_no_other_pod_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stores = make_stores()
    for at in range(50):
        stores[PODS].put(document(f"driver-{at}", at, app=f"job-{at}", team="blue", **{"spark-role": "driver"}))
        stores[PODS].put(document(f"executor-{at}", at, app=f"job-{at}", **SPARK))
    reads: list[str] = []
    loads = store_module.json.loads
    monkeypatch.setattr(store_module.json, "loads", lambda text: reads.append(text) or loads(text))
    found = stores[PODS].fitting("n", {"spark-role": "driver", "team": "blue", "app": "job-7"})
    assert [one["metadata"]["name"] for one in found] == ["driver-7"]
    assert len(reads) == 1


def test_pods_that_no_watch_tells_of_are_not_kept() -> None:
    store = Store(PODS)
    store.put(document("a", 1))
    assert len(store) == 0
    store.put(document("b", 2, **SPARK))
    store.put(document("b", 3))  # somebody took the label away
    assert len(store) == 0
