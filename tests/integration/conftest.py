"""A real Spark with three executor processes, and queries over files whose right answer plain Python can compute.

Everything is shared by the tests of one run, because a cluster takes about twenty seconds to start.
"""

from __future__ import annotations

import collections
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

PARTITIONS = 8
WAIT_S = 60.0
YOUNG = str(pathlib.Path(__file__).with_name("young"))
"""Settings of all drivers of these tests, but for those that have their own."""


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = WAIT_S) -> Any:
    """The first true answer of `condition`; fails with `what` when there is none in time."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {timeout_s:.0f} s: {what}")


class SparkCluster:
    """The session, and what tests do to its executors from outside."""

    wait_until = staticmethod(wait_until)

    def __init__(self, session: Any) -> None:
        self.session = session

    def executor_ids(self) -> set[str]:
        """Ids of the registered executors, the driver left out."""
        store = self.session.sparkContext._jsc.sc().statusStore().executorList(True)
        ids = {store.apply(i).id() for i in range(store.size())}
        return {executor for executor in ids if executor != "driver"}

    def wait_for_executors(self, count: int) -> set[str]:
        """The executors once there are `count` of them."""
        wait_until(lambda: len(self.executor_ids()) == count, f"{count} executors", 90.0)
        return self.executor_ids()

    def kill(self, executor_id: str) -> None:
        """SIGKILL the process of one executor of this application."""
        os.kill(self._pid(executor_id), signal.SIGKILL)

    def _pid(self, executor_id: str) -> int:
        application = self.session.sparkContext.applicationId
        for folder in pathlib.Path("/proc").iterdir():
            words = _command(folder)
            if application in words and _after(words, "--executor-id") == executor_id:
                return int(folder.name)
        raise AssertionError(f"no process of executor {executor_id}")


def _command(folder: pathlib.Path) -> list[str]:
    if not folder.name.isdigit():
        return []
    try:
        return (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:  # the process has ended since the listing
        return []


def _after(words: list[str], word: str) -> str | None:
    return words[words.index(word) + 1] if word in words[:-1] else None


class FileStream:
    """Files of `key,value` lines, one micro-batch each, and the counts and sums that are right for them."""

    def __init__(self, session: Any, folder: pathlib.Path, lines_per_file: int = 200) -> None:
        self.session = session
        self.folder = folder
        self.lines_per_file = lines_per_file
        self.checkpoint = str(folder / "checkpoint")
        self.input = folder / "input"
        self.input.mkdir(parents=True)
        self.written: list[tuple[str, int]] = []
        self.sources = 0
        self._files = 0

    def write(self, files: int = 1, keys: int = 50) -> None:
        """Add files: deterministic rows, a file appears at once and whole."""
        for _ in range(files):
            rows = [(f"k{(i * 7 + self._files) % keys}", i + self._files) for i in range(self.lines_per_file)]
            text = "".join(f"{key},{value}\n" for key, value in rows)
            draft = self.folder / f"draft-{self._files}"
            draft.write_text(text)
            draft.rename(self.input / f"{self._files:05d}.csv")
            self.written += rows
            self._files += 1

    def read(self) -> Any:
        """The stream as a DataFrame of `k` string and `v` long."""
        self.sources += 1
        reader = self.session.readStream.schema("k string, v long").option("maxFilesPerTrigger", 1)
        return reader.csv(str(self.input))

    def expected(self) -> dict[str, tuple[int, int]]:
        """Key to (count, sum) over everything written."""
        totals: dict[str, tuple[int, int]] = collections.defaultdict(lambda: (0, 0))
        for key, value in self.written:
            count, total = totals[key]
            totals[key] = (count + 1, total + value)
        return dict(totals)


class Collected:
    """A foreachBatch sink that keeps the newest row of each key, for queries in update mode."""

    def __init__(self) -> None:
        self.rows: dict[Any, tuple[Any, ...]] = {}
        self.batches: list[int] = []
        self.before_collect: Callable[[int], None] | None = None

    def __call__(self, frame: Any, batch_id: int) -> None:
        if self.before_collect:
            self.before_collect(batch_id)
        for row in frame.collect():
            self.rows[row[0]] = tuple(row[1:])
        self.batches.append(batch_id)


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[SparkCluster]:
    """local-cluster[3,1,1024] with the agent's recommended settings and eight state partitions."""
    from streamjob_agent.spark.settings import recommended_settings

    os.environ["PYSPARK_PYTHON"] = sys.executable  # the executors' Python workers need the same packages
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", YOUNG)
        cluster = SparkCluster(_session(recommended_settings()))
    cluster.wait_for_executors(3)
    yield cluster
    for query in cluster.session.streams.active:
        query.stop()
    cluster.session.stop()


def _session(recommended: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[3,1,1024]").appName("streamjob-integration")
    extra = {
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.streaming.statefulOperator.checkCorrectness.enabled": "false",
        "spark.task.maxFailures": "8",
        "spark.python.use.daemon": "true",
        # Executors read each other's shuffle files over the network, as pods do, though they share this disk.
        "spark.shuffle.readHostLocalDisk": "false",
    }
    for key, value in {**recommended, **extra}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("FATAL")
    return session


@pytest.fixture(autouse=True)
def _young_jvms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For drivers in processes of their own. A demo is run as users run it."""
    if request.node.get_closest_marker("demo") is None:
        monkeypatch.setenv("SPARK_CONF_DIR", YOUNG)


@pytest.fixture
def file_stream(spark_cluster: SparkCluster, tmp_path: pathlib.Path) -> Iterator[FileStream]:
    """A fresh stream of files with a checkpoint of its own; a test may give it another session."""
    stream = FileStream(spark_cluster.session, tmp_path)
    yield stream
    for query in stream.session.streams.active:
        query.stop()


@pytest.fixture
def two_streams(spark_cluster: SparkCluster, tmp_path: pathlib.Path) -> Iterator[list[tuple[FileStream, Collected]]]:
    """Two streams of files, each with a sink of its own."""
    streams = [(FileStream(spark_cluster.session, tmp_path / name), Collected()) for name in ("one", "other")]
    yield streams
    for stream, _ in streams:
        for query in stream.session.streams.active:
            query.stop()


@pytest.fixture
def collected() -> Collected:
    """A sink to check results with."""
    return Collected()


@pytest.fixture(autouse=True)
def _stop_queries(request: pytest.FixtureRequest) -> Iterator[None]:
    """No query outlives its test."""
    yield
    if "spark_cluster" in request.fixturenames:
        for query in request.getfixturevalue("spark_cluster").session.streams.active:
            query.stop()
