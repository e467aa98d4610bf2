"""Spark's settings: ours where they must be, the user's everywhere else, and a sentence where one gives way."""

from __future__ import annotations

import pytest
from driver_jobs import job_facts
from hypothesis import given
from hypothesis import strategies as st

from streamjob_operator.kube.driver.settings import container_memory, merged, properties


def test_a_driver_without_settings_of_its_own_gets_what_it_needs() -> None:
    found, conflicts = merged(job_facts())
    assert conflicts == ()
    assert found["spark.master"] == "k8s://https://kubernetes.default.svc"
    assert found["spark.driver.host"] == "orders-driver.streams.svc"
    assert found["spark.kubernetes.driver.pod.name"] == "orders-driver"
    assert found["spark.kubernetes.executor.label.streamjob.dev/job"] == "orders"
    assert found["spark.kubernetes.container.image"] == "registry.example/orders:1"
    assert found["spark.executor.instances"] == "3"
    assert "spark.driver.bindAddress" not in found  # the pod's address is known only in the pod


def test_the_users_settings_stay() -> None:
    theirs = {"spark.sql.shuffle.partitions": "128", "spark.driver.port": "5000", "spark.executor.memoryOverhead": "9g"}
    found, conflicts = merged(job_facts({"sparkConf": theirs}))
    assert conflicts == ()
    assert theirs.items() <= found.items()


@pytest.mark.parametrize(
    ("key", "value", "used"),
    [
        ("spark.master", "local[2]", "k8s://https://kubernetes.default.svc"),
        ("spark.kubernetes.namespace", "elsewhere", "streams"),
        ("spark.submit.deployMode", "cluster", "client"),
        ("spark.kubernetes.allocation.pods.allocator", "statefulset", "direct"),
    ],
)
def test_a_setting_that_must_give_way_is_told(key: str, value: str, used: str) -> None:
    found, conflicts = merged(job_facts({"sparkConf": {key: value}}))
    assert found[key] == used
    assert conflicts == (f"sparkConf: {key} is '{value}', and '{used}' is used: StreamJob needs it that way.",)


def test_the_same_value_as_ours_is_no_conflict() -> None:
    assert merged(job_facts({"sparkConf": {"spark.speculation": "False"}}))[1] == ()


def test_a_bind_address_is_left_out_and_told() -> None:
    found, conflicts = merged(job_facts({"sparkConf": {"spark.driver.bindAddress": "0.0.0.0"}}))
    assert "spark.driver.bindAddress" not in found
    assert len(conflicts) == 1
    assert conflicts[0].startswith("sparkConf: spark.driver.bindAddress is given")


def read_properties(text: str) -> dict[str, str]:
    """As java.util.Properties reads a file: escapes undone, the first bare separator splits."""
    found = {}
    for line in text.splitlines():
        plain: list[str] = []
        split: int | None = None
        escaped = False
        for character in line:
            if escaped:
                plain.append({"n": "\n", "r": "\r", "t": "\t"}.get(character, character))
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == "=" and split is None:
                split = len(plain)
            else:
                plain.append(character)
        assert split is not None
        found["".join(plain[:split])] = "".join(plain[split:])
    return found


words = st.text(st.characters(codec="utf-8", exclude_characters="\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=12)


@given(st.dictionaries(words, words, max_size=4))
def test_java_reads_what_was_written(settings: dict[str, str]) -> None:
    assert read_properties(properties(settings)) == settings


def test_one_value_cannot_become_two_settings() -> None:
    text = properties({"spark.app.name": "a\nspark.master=local", "k": " b"})
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize(
    ("heap", "needed"), [("512m", "896Mi"), ("1g", "1434Mi"), ("4g", "5735Mi"), ("1t", "1468007Mi")]
)
def test_the_container_has_room_for_python_beside_the_heap(heap: str, needed: str) -> None:
    assert container_memory(heap) == needed
