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
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

PARTITIONS = 8
EXECUTORS = 3
WAIT_S = 240.0
YOUNG = str(pathlib.Path(__file__).with_name("young"))
"""Settings of all drivers of these tests, but for those that have their own."""
RESTORE_S = 120.0  # seconds on a machine that does nothing else


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
        """Ids of the registered executors, as the scheduler has them.

        Spark's status store may keep one that is gone, where its block manager registered while it ended (SPARK-35011,
        SPARK-41360).
        """
        ids = self._backend().getExecutorIds()
        return {ids.apply(i) for i in range(ids.size())}

    def _backend(self) -> Any:
        return self.session.sparkContext._jsc.sc().schedulerBackend()

    def restore(self) -> None:
        """As many executors as at the start, whatever a test has asked for, left under way or broke off in.

        A cluster that does not come back is started anew and told of: its other tests are not to fail, too.
        """
        spark = self.session.sparkContext
        assert spark._jsc.sc().requestTotalExecutors(EXECUTORS, 0, spark._jvm.PythonUtils.toScalaMap({}))
        try:
            wait_until(lambda: len(self._stay()) == len(self.executor_ids()) == EXECUTORS, "all executors", RESTORE_S)
        except AssertionError as missed:
            warnings.warn(f"a new cluster: {missed}; executors of the old one: {self._told()}", stacklevel=2)
            self.session.stop()
            self.session = _session()
            self.wait_for_executors(EXECUTORS)

    def _stay(self) -> list[str]:
        """Registered executors that Spark does not take away."""
        return [one for one in self.executor_ids() if self._backend().isExecutorActive(one)]

    def _told(self) -> list[str]:
        """Every executor there was, and why it went."""
        told = self.session.sparkContext._jsc.sc().statusStore().executorList(False)
        all_of_them = [told.apply(i) for i in range(told.size())]
        return [f"{one.id()} active={one.isActive()} {one.removeReason().toString()}" for one in all_of_them]

    def wait_for_executors(self, count: int) -> set[str]:
        """The executors once there are `count` of them."""
        wait_until(lambda: len(self.executor_ids()) == count, f"{count} executors", RESTORE_S)
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
        self.files = 0

    def write(self, files: int = 1, keys: int = 50) -> None:
        """Add files: deterministic rows, a file appears at once and whole."""
        for _ in range(files):
            rows = [(f"k{(i * 7 + self.files) % keys}", i + self.files) for i in range(self.lines_per_file)]
            text = "".join(f"{key},{value}\n" for key, value in rows)
            draft = self.folder / f"draft-{self.files}"
            draft.write_text(text)
            draft.rename(self.input / f"{self.files:05d}.csv")
            self.written += rows
            self.files += 1

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
    """Three executors of one slot, with the agent's recommended settings and eight state partitions."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the executors' Python workers need the same packages
    cluster = SparkCluster(_session())
    cluster.wait_for_executors(EXECUTORS)
    yield cluster
    for query in cluster.session.streams.active:
        query.stop()
    cluster.session.stop()


def _session() -> Any:
    from pyspark.sql import SparkSession

    from streamjob_agent.spark.settings import recommended_settings

    builder = SparkSession.builder.master(f"local-cluster[{EXECUTORS},1,1024]").appName("streamjob-integration")
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
    for key, value in {**recommended_settings(), **extra}.items():
        builder = builder.config(key, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", YOUNG)
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
def _as_at_the_start(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test finds all executors, and no query outlives its test."""
    if "spark_cluster" not in request.fixturenames:
        yield
        return
    cluster = request.getfixturevalue("spark_cluster")
    cluster.restore()
    yield
    for query in cluster.session.streams.active:
        query.stop()
