"""An executor's container as Spark sizes it from the settings."""

from __future__ import annotations

import pytest

from streamjob_agent.spark.memory_limit import ROCKSDB_BOUNDED, container_bytes, heap_room_bytes, native_room_bytes

MIB, GIB = 1024**2, 1024**3


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ({}, GIB + 384 * MIB),
        ({"memory": "8g"}, 8 * GIB + int(0.1 * 8 * GIB)),
        ({"memory": "2048"}, 2 * GIB + 384 * MIB),
        ({"memory": "4g", "memoryOverheadFactor": "0.4"}, 4 * GIB + int(0.4 * 4 * GIB)),
        ({"memory": "4g", "memoryOverhead": "600m"}, 4 * GIB + 600 * MIB),
        ({"memory": "4g", "memoryOverhead": "600"}, 4 * GIB + 600 * MIB),
        ({"minMemoryOverhead": "512m"}, GIB + 512 * MIB),
        ({"pyspark.memory": "1g"}, 2 * GIB + 384 * MIB),
        ({"memory": "much"}, None),
    ],
)
def test_a_container_holds_heap_and_overhead(conf: dict[str, str], expected: int | None) -> None:
    settings = {f"spark.executor.{name}": value for name, value in conf.items()}
    assert container_bytes("k8s://https://api", settings) == expected


def test_off_heap_memory_counts_where_it_is_on() -> None:
    size = {"spark.memory.offHeap.size": "1073741824"}
    assert container_bytes("yarn", size) == GIB + 384 * MIB
    assert container_bytes("yarn", {**size, "spark.memory.offHeap.enabled": "true"}) == 2 * GIB + 384 * MIB


def test_the_older_name_of_the_factor_is_read() -> None:
    conf = {"spark.executor.memory": "10g", "spark.kubernetes.memoryOverheadFactor": "0.4"}
    assert container_bytes("k8s://https://api", conf) == 14 * GIB


def test_without_containers_nothing_is_a_limit() -> None:
    assert container_bytes("local-cluster[3,1,1024]", {}) is None


def test_state_on_the_heap_has_the_heap_at_most() -> None:
    conf = {"spark.executor.memory": "512m"}
    assert heap_room_bytes("local-cluster[3,1,1024]", conf) == 512 * MIB
    assert heap_room_bytes("k8s://https://api", {}) == GIB
    assert heap_room_bytes("local[4]", conf) is None, "its tasks run on the driver's heap"
    assert heap_room_bytes("yarn", {"spark.executor.memory": "much"}) is None


def test_state_outside_the_heap_has_the_overhead_less_the_pools_of_the_jvm() -> None:
    conf = {
        "spark.executor.memory": "4g",
        "spark.executor.memoryOverhead": "600m",
        "spark.executor.pyspark.memory": "1g",
    }
    assert native_room_bytes("k8s://https://api", conf, 150 * MIB) == 450 * MIB
    assert native_room_bytes("k8s://https://api", conf, 700 * MIB) == 0
    assert native_room_bytes("spark://host:7077", conf, 150 * MIB) is None, "no container"


def test_rocksdb_that_holds_itself_to_a_limit_leaves_none_to_planners() -> None:
    assert native_room_bytes("k8s://https://api", {ROCKSDB_BOUNDED: "true"}, 0) is None
