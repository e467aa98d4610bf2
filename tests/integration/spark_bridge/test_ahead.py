"""Far state is opened where a group goes once its task has ended where it was; and what happens where it cannot be."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_placement import rotated, start_counts

from streamjob_agent.spark.selftest import AHEAD_IN
from streamjob_agent.spark.source import compile_opening

pytestmark = pytest.mark.spark

STATE = "org.apache.spark.sql.execution.streaming.state"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
FAR = "fs.viewfs.mounttable.far.link./all"
"""A folder under a name that is not a file's: state there is as far for the probe as an object store."""


@pytest.fixture
def far_stream(file_stream: Any, spark_cluster: Any, tmp_path: pathlib.Path) -> Iterator[Any]:
    conf = spark_cluster.session.conf
    before = {key: conf.get(key, None) for key in (FAR, PROVIDER, CHANGELOG)}  # other tests have the same session
    (tmp_path / "far").mkdir()
    conf.set(FAR, f"file://{tmp_path}/far")
    file_stream.checkpoint = "viewfs://far/all/checkpoint"
    yield file_stream
    for key, value in before.items():
        if value is None:
            conf.unset(key)
        else:
            conf.set(key, value)


def ahead(watch: Any) -> int:
    return int(watch.bridge.diagnostics()[1]["ahead"])


def homes(watch: Any, query: Any) -> set[tuple[str, str]]:
    """Partition and executor, as Spark's coordinator has them."""
    rows = [line.split("\t") for line in watch.bridge._probe.locations(str(query.id)).splitlines()]
    return {(row[1], row[4].rpartition("_")[2]) for row in rows}


def needs_ahead(watch: Any) -> None:
    version = tuple(int(part) for part in watch.bridge.spark_version().split(".")[:2])
    if version != AHEAD_IN:
        pytest.skip(f"state is opened ahead on Spark {AHEAD_IN} alone")


@pytest.mark.parametrize(
    ("provider", "changelog"),
    [
        ("HDFSBackedStateStoreProvider", "false"),
        ("RocksDBStateStoreProvider", "false"),
        ("RocksDBStateStoreProvider", "true"),
    ],
)
def test_groups_leave_when_their_task_has_ended_and_counts_are_exact(
    watch: Any, far_stream: Any, collected: Any, provider: str, changelog: str
) -> None:
    needs_ahead(watch)
    far_stream.session.conf.set(PROVIDER, f"{STATE}.{provider}")
    far_stream.session.conf.set(CHANGELOG, changelog)
    far_stream.write()
    query = start_counts(far_stream, collected)
    seen = watch.run(query)
    for step in (1, 1, 2, 1, 2, 2):
        before = ahead(watch)
        wanted = watch.move_all(query, rotated(watch, seen, step))
        far_stream.write()
        assert watch.run(query) == seen, "they stay for the batch after which they leave"
        assert homes(watch, query) == {(str(key.partition), owner) for key, owner in wanted.items()}
        assert ahead(watch) == before + len(wanted)
        far_stream.write(files=2)
        assert watch.run(query) == wanted
        seen = wanted
    query.stop()
    assert collected.rows == far_stream.expected()
    assert watch.failed_tasks == 0
    assert "ahead" not in watch.bridge.diagnostics()[0]


@pytest.fixture
def without_classes(watch: Any, spark_cluster: Any) -> Iterator[Callable[[], None]]:
    """Executors are given a jar that lacks the class."""
    context = spark_cluster.session.sparkContext
    probe = watch.bridge._probe
    yield lambda: probe.openAhead(compile_opening(context)[0], context._jvm.java.util.HashMap())
    probe.openAhead(*compile_opening(context))


def test_moves_go_on_where_executors_cannot_open_state_ahead(
    watch: Any, far_stream: Any, collected: Any, without_classes: Callable[[], None]
) -> None:
    without_classes()
    far_stream.write()
    query = start_counts(far_stream, collected)
    seen = watch.run(query)
    for _ in range(3):
        wanted = watch.move_all(query, rotated(watch, seen))
        far_stream.write(files=3)
        assert watch.run(query) == wanted
        seen = wanted
    query.stop()
    assert collected.rows == far_stream.expected()
    faults, _ = watch.bridge.diagnostics()
    assert "Opening" in faults["ahead"][1]
