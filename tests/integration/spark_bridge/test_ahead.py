"""Far state is opened where a group goes once its task has ended where it was; and what happens where it cannot be."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_operators import KNOWN, append_to, begun, totals_in_state, with_known
from test_placement import rotated, start_counts

from streamjob_agent.spark.source import compile_opening

pytestmark = pytest.mark.spark

STATE = "org.apache.spark.sql.execution.streaming.state"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
OLDEST = (3, 5)
FORMAT_SINCE = {"2": (4, 0)}
JOIN_FORMAT_SINCE = {"2": (4, 0), "3": (4, 1), "4": (4, 3)}  # 3.5 does not tell the driver how a join opens its stores


@pytest.fixture
def far_stream(file_stream: Any, spark_cluster: Any, tmp_path: pathlib.Path) -> Iterator[Any]:
    """A checkpoint under a name that is not a file's: state there is as far for the probe as an object store."""
    conf = spark_cluster.session.conf
    # A name for each test: executors keep a file system by its name, and would read the snapshots of the test before.
    name = f"far{uuid.uuid4().hex}"
    mount = f"fs.viewfs.mounttable.{name}.link./all"
    # Other tests have the same session.
    before = {key: conf.get(key, None) for key in (mount, PROVIDER, CHANGELOG, FORMAT, JOIN_FORMAT)}
    (tmp_path / "far").mkdir()
    conf.set(mount, f"file://{tmp_path}/far")
    file_stream.checkpoint = f"viewfs://{name}/all/checkpoint"
    yield file_stream
    for key, value in before.items():
        if value is None:
            conf.unset(key)
        else:
            conf.set(key, value)


def ahead(watch: Any) -> int:
    return int(watch.bridge.diagnostics()[1]["ahead"])


def not_opened(watch: Any) -> list[str]:
    """What executors say of stores that they could not open ahead."""
    context = watch.cluster.session.sparkContext
    folder = pathlib.Path(os.environ.get("SPARK_HOME") or context._jvm.System.getenv("SPARK_HOME")) / "work"
    logs = (folder / str(context.applicationId)).glob("*/stderr")
    return [line for log in logs for line in log.read_text(errors="replace").splitlines() if "not opened ahead" in line]


def homes(watch: Any, query: Any) -> set[tuple[str, str]]:
    """Partition and executor, as Spark's coordinator has them."""
    rows = [line.split("\t") for line in watch.bridge._probe.locations(str(query.id)).splitlines()]
    return {(row[1], row[4].rpartition("_")[2]) for row in rows}


def moved_and_opened_ahead(watch: Any, far_stream: Any, query: Any, seen: Any, keys: int) -> Any:
    """Owners after all have moved, each store opened ahead of its task."""
    before = ahead(watch)
    wanted = watch.move_all(query, rotated(watch, seen))
    far_stream.write(files=2, keys=keys)
    assert watch.run(query) == wanted
    assert ahead(watch) == before + len(wanted)
    return wanted


def needs(watch: Any, major: int, minor: int) -> None:
    version = tuple(int(part) for part in watch.bridge.spark_version().split(".")[:2])
    if version < (major, minor):
        pytest.skip(f"Spark {major}.{minor} and newer have it")


@pytest.mark.parametrize(
    ("provider", "changelog", "version"),
    [
        ("HDFSBackedStateStoreProvider", "false", "1"),
        ("RocksDBStateStoreProvider", "false", "1"),
        ("RocksDBStateStoreProvider", "true", "1"),
        ("RocksDBStateStoreProvider", "true", "2"),
    ],
)
def test_groups_leave_when_their_task_has_ended_and_counts_are_exact(
    watch: Any, far_stream: Any, collected: Any, provider: str, changelog: str, version: str
) -> None:
    needs(watch, *FORMAT_SINCE.get(version, OLDEST))
    far_stream.session.conf.set(PROVIDER, f"{STATE}.{provider}")
    far_stream.session.conf.set(CHANGELOG, changelog)
    far_stream.session.conf.set(FORMAT, version)
    astray = watch.bridge.diagnostics()[1]["astray"]
    far_stream.write()
    query = start_counts(far_stream, collected)
    seen = watch.run(query)
    for step in (1, 1, 2):
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
    faults, counters = watch.bridge.diagnostics()
    assert "ahead" not in faults
    assert counters["astray"] == astray, "each was opened where the group went"
    assert not_opened(watch) == []


@pytest.mark.parametrize(("join", "version"), [("2", "1"), ("2", "2"), ("3", "2"), ("4", "1")])
def test_all_stores_of_a_join_are_opened_ahead_and_pairs_are_exact(
    watch: Any, far_stream: Any, join: str, version: str
) -> None:
    needs(watch, *JOIN_FORMAT_SINCE[join])
    far_stream.session.conf.set(JOIN_FORMAT, join)
    far_stream.session.conf.set(PROVIDER, f"{STATE}.RocksDBStateStoreProvider")
    far_stream.session.conf.set(CHANGELOG, "true")
    far_stream.session.conf.set(FORMAT, version)
    pairs: collections.Counter[tuple[str, int, int]] = collections.Counter()

    def keep(frame: Any, _: int) -> None:
        pairs.update((row.k, row.v, row.w) for row in frame.collect())

    far_stream.lines_per_file = 40
    far_stream.write(keys=10)
    joined = far_stream.read().join(far_stream.read().withColumnRenamed("v", "w"), "k")
    writer = joined.writeStream.outputMode("append").foreachBatch(keep)
    query = writer.option("checkpointLocation", far_stream.checkpoint).start()
    seen = watch.run(query)
    for _ in range(2):
        before = ahead(watch)
        wanted = watch.move_all(query, rotated(watch, seen))
        far_stream.write(keys=10)
        watch.run(query)  # one batch or two: its sides list the folder one after another, and a file may come between
        assert ahead(watch) == before + len(wanted)
        far_stream.write(keys=10)
        assert watch.run(query) == wanted
        seen = wanted
    query.stop()
    by_key = collections.defaultdict(list)
    for key, value in far_stream.written:
        by_key[key].append(value)
    assert pairs == collections.Counter((k, v, w) for k, values in by_key.items() for v in values for w in values)
    assert watch.failed_tasks == 0
    assert "ahead" not in watch.bridge.diagnostics()[0]
    assert not_opened(watch) == []


@pytest.mark.parametrize(("changelog", "version"), [("false", "1"), ("true", "2")])
def test_column_families_are_opened_ahead_and_what_python_keeps_in_them_is_exact(
    watch: Any, far_stream: Any, collected: Any, changelog: str, version: str
) -> None:
    far_stream.session.conf.set(PROVIDER, f"{STATE}.RocksDBStateStoreProvider")
    far_stream.session.conf.set(CHANGELOG, changelog)
    far_stream.session.conf.set(FORMAT, version)
    far_stream.write(keys=12)
    query, seen = begun(
        watch, lambda: append_to(collected, totals_in_state(far_stream), far_stream.checkpoint, "update")
    )
    for _ in range(2):
        seen = moved_and_opened_ahead(watch, far_stream, query, seen, 12)
    query.stop()
    assert collected.rows == far_stream.expected()
    assert watch.failed_tasks == 0
    assert "ahead" not in watch.bridge.diagnostics()[0]
    assert not_opened(watch) == []


def test_state_that_began_with_an_initial_one_is_opened_ahead_as_any_other(
    watch: Any, far_stream: Any, collected: Any
) -> None:
    """Batch 0, which takes it in, has tasks without an executor of their own, and RDDs that tell nothing of stores."""
    far_stream.session.conf.set(PROVIDER, f"{STATE}.RocksDBStateStoreProvider")
    far_stream.session.conf.set(CHANGELOG, "true")
    far_stream.write(keys=12)
    before = ahead(watch)
    query, first = begun(
        watch, lambda: append_to(collected, totals_in_state(far_stream, KNOWN), far_stream.checkpoint, "update")
    )
    far_stream.write(keys=20)
    seen = watch.run(query)
    assert sorted(collections.Counter(seen.values()).values()) == [2, 3, 3]
    assert ahead(watch) == before + sum(first[key] != seen[key] for key in first)
    for _ in range(2):
        seen = moved_and_opened_ahead(watch, far_stream, query, seen, 20)
    query.stop()
    assert collected.rows == with_known(far_stream)
    assert watch.failed_tasks == 0
    assert "ahead" not in watch.bridge.diagnostics()[0]
    assert not_opened(watch) == []


def test_a_stage_that_runs_again_or_a_batch_that_fails_finds_a_version_too_new_and_stays_exact(
    watch: Any, far_stream: Any, collected: Any
) -> None:
    """Groups have left, their stores are open elsewhere at the next version; the batch asks for its own once more."""
    fails: list[bool] = []

    def twice(frame: Any, batch: int) -> None:
        frame.collect()
        watch.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        if fails:
            raise ValueError("made to fail")
        collected(frame, batch)

    far_stream.write()
    query = start_counts(far_stream, twice)
    seen = watch.run(query)
    for _ in range(2):
        wanted = watch.move_all(query, rotated(watch, seen))
        far_stream.write()
        watch.run(query)
        far_stream.write()
        assert watch.run(query) == wanted
        seen = wanted
    wanted = watch.move_all(query, rotated(watch, seen))
    before = ahead(watch)
    fails.append(True)
    far_stream.write()
    with pytest.raises(Exception, match="made to fail"):
        query.processAllAvailable()
    assert ahead(watch) == before + len(wanted), "their version was never committed"
    fails.clear()
    query = start_counts(far_stream, twice)
    far_stream.write()
    assert watch.run(query) == wanted
    query.stop()
    assert collected.rows == far_stream.expected()
    assert "ahead" not in watch.bridge.diagnostics()[0]


def test_executors_with_several_slots_open_what_comes_and_are_not_held_up(watch: Any, tmp_path: pathlib.Path) -> None:
    script = pathlib.Path(__file__).parent / "ahead_slots.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, timeout=300)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["rows"] == found["expected"]
    assert found["obeyed"] == [True, True]
    assert found["ahead"] == 16, "eight key groups, twice"
    assert found["astray"] == 0
    assert "ahead" not in found["faults"]


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
