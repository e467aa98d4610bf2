"""The rows of the table: what users run, which of the agent's acts each one bears, or why actuation stays off."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

STATE = "spark.sql.streaming.stateStore"
HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
MOVES, DRAIN, SCALE_OUT, RESTART, KILL, SIZES = "moves", "drain", "scale-out", "restart", "kill", "sizes"
ALL = (MOVES, DRAIN, SCALE_OUT, KILL)
"""Acts, in the order in which they are tried: an executor has to go before there is room for one that comes."""
RUN, INSTALL, PLUGIN = "run", "install", "plugin"
"""Doors of the agent: it runs the program, is installed while the query runs, is a plugin of a JVM driver."""

CONNECT_PACKAGES = (
    "grpcio==1.85.1",
    "grpcio-status==1.85.1",
    "googleapis-common-protos==1.76.0",
    "zstandard==0.25.0",
)
COMMON = {
    "spark.master": "local-cluster[3,1,1024]",
    "spark.sql.shuffle.partitions": "6",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.streaming.statefulOperator.checkCorrectness.enabled": "false",
    # Executors read each other's shuffle files over the network, as pods do, though they share this disk.
    "spark.shuffle.readHostLocalDisk": "false",
    # Young JVMs on few cores live for a minute: what they compile has to pay within seconds.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One job of users.

    Attributes:
        name: short, also the name of its folder.
        about: for the table.
        queries: name -> shape, see :data:`e2e.compatibility.queries.SHAPES`.
        acts: what is done to it; none where `off` says why.
        off: a piece of the agent's sentence that says why nothing is moved; None where key groups are moved.
        conf: Spark's settings beside :data:`COMMON`.
        trigger: arguments of `DataStreamWriter.trigger`.
        files_a_batch: most files of a batch, 0 for all there are; `files_first` are there before the job begins.
        pause_s: how long the sink takes for each batch.
        own_jobs: whether the sink runs jobs of its own.
        loses_shuffle: whether an executor's shuffle files are lost while the sink uses them, in every third batch.
        own_files: whether the sink is Spark's own, files of Parquet, in place of `foreachBatch`.
        ended: whether another query was started and stopped before.
        door: how the agent comes in.
        program: the module of this folder that is run; those that are not `program` start a JVM driver.
        java: a package of Debian's that holds the Java runtime to use.
        packages: packages of PyPI that the program needs besides.
        remote: whether the checkpoint is in an object store.
        own_keys: whether the keys to it are known to the query's session alone, not to the driver.
        tls: whether Spark's RPC is encrypted with a key of the row's own.
        since: the first Spark version that has it, as numbers.
    """

    name: str
    about: str
    queries: Mapping[str, str] = dataclasses.field(default_factory=lambda: {"counts": "counts"})
    acts: tuple[str, ...] = ALL
    off: str | None = None
    conf: Mapping[str, str] = dataclasses.field(default_factory=dict)
    trigger: Mapping[str, object] = dataclasses.field(default_factory=dict)
    files_a_batch: int = 1
    files_first: int = 1
    pause_s: float = 0.0
    own_jobs: bool = False
    loses_shuffle: bool = False
    own_files: bool = False
    ended: bool = False
    door: str = RUN
    program: str = "program"
    java: str | None = None
    packages: tuple[str, ...] = ()
    remote: bool = False
    own_keys: bool = False
    tls: bool = False
    since: tuple[int, ...] = (3, 5)

    @property
    def endless(self) -> bool:
        """Whether its queries go on until they are stopped."""
        return not {"once", "availableNow"} & self.trigger.keys()


def _off(name: str, about: str, off: str, conf: Mapping[str, str]) -> Row:
    return Row(name=name, about=about, off=off, conf=conf, acts=())


ROWS = (
    Row(name="aggregation", about="aggregation, no trigger; RocksDB with changelog, as the agent sets it"),
    Row(name="stateless", about="a query without state", queries={"stateless": "stateless"}, acts=()),
    Row(
        name="together",
        about="two queries in one driver, a third one that has ended, both restarted",
        queries={"counts": "counts", "once": "once"},
        ended=True,
        acts=(MOVES, DRAIN, SCALE_OUT, RESTART, MOVES, KILL),
    ),
    Row(name="own-jobs", about="`foreachBatch` with jobs of its own", own_jobs=True),
    Row(name="sessions", about="session windows", queries={"sessions": "sessions"}),
    Row(name="once", about="`dropDuplicatesWithinWatermark`", queries={"once": "once"}),
    Row(name="inner-join", about="stream-stream join", queries={"inner": "inner"}),
    Row(name="outer-join", about="stream-stream join, left outer", queries={"outer": "outer"}),
    Row(name="in-pandas", about="`applyInPandasWithState`", queries={"in-pandas": "in-pandas"}),
    Row(
        name="timers",
        about="`transformWithStateInPandas`: several column families, timers of event time",
        queries={"timers": "timers"},
        since=(4, 0),
    ),
    Row(
        name="lives",
        about="`transformWithStateInPandas`: times to live",
        queries={"lives": "lives"},
        since=(4, 0),
    ),
    Row(name="hdfs", about="Spark's default state store (HDFS-backed)", conf={f"{STATE}.providerClass": HDFS}),
    Row(
        name="rocksdb",
        about="RocksDB without changelog",
        conf={f"{STATE}.providerClass": ROCKSDB, f"{STATE}.rocksdb.changelogCheckpointing.enabled": "false"},
    ),
    Row(
        name="bounded",
        about="RocksDB with memory bounded across stores",
        conf={f"{STATE}.rocksdb.boundedMemoryUsage": "true", f"{STATE}.rocksdb.maxMemoryUsageMB": "64"},
    ),
    Row(
        name="available-now",
        about="`availableNow`: two dozen batches, then the end",
        trigger={"availableNow": True},
        files_first=24,
        pause_s=1.0,
        acts=(MOVES,),
    ),
    Row(
        name="one-batch",
        about="`once`: one batch, then the end; nothing to move between",
        trigger={"once": True},
        files_a_batch=0,
        files_first=3,
        acts=(),
    ),
    Row(name="long-trigger", about="a batch every ten seconds", trigger={"processingTime": "10 seconds"}),
    Row(
        name="remote",
        about="checkpoint on s3a, 50 ms away",
        remote=True,
        conf={
            f"{STATE}.minDeltasForSnapshot": "2",
            f"{STATE}.maintenanceInterval": "5s",
        },  # so that there are snapshots
        acts=(MOVES, DRAIN, SCALE_OUT, SIZES, KILL),
    ),
    Row(
        name="own-keys",
        about="checkpoint on s3a, whose keys are the query's session's alone",
        remote=True,
        own_keys=True,
        conf={f"{STATE}.minDeltasForSnapshot": "2", f"{STATE}.maintenanceInterval": "5s"},
        acts=(MOVES, RESTART, MOVES, SIZES),
    ),
    Row(
        name="encrypted",
        about="authenticated and encrypted RPC (`spark.authenticate`, `spark.network.crypto`)",
        conf={
            "spark.authenticate": "true",
            "spark.authenticate.secret": "known to drivers and executors",
            "spark.network.crypto.enabled": "true",
            "spark.io.encryption.enabled": "true",
        },
    ),
    Row(name="tls", about="RPC over TLS (`spark.ssl.rpc`)", tls=True, since=(4, 0)),
    Row(name="four-cores", about="executors with 4 cores", conf={"spark.master": "local-cluster[3,4,1024]"}),
    Row(
        name="task-cpus",
        about="executors with 4 cores, `spark.task.cpus=2`",
        conf={"spark.master": "local-cluster[3,4,1024]", "spark.task.cpus": "2"},
    ),
    Row(
        name="no-decommission",
        about="decommissioning off, Spark's default: executors are killed once they are empty",
        conf={"spark.decommission.enabled": "false"},
    ),
    Row(
        name="stage-retries",
        about="shuffle files are lost in mid-batch: stages run again, stateful tasks among them",
        loses_shuffle=True,
    ),
    _off("speculation", "speculation asked for", "spark.speculation", {"spark.speculation": "true"}),
    _off(
        "dynamic-allocation",
        "dynamic allocation asked for",
        "spark.dynamicAllocation",
        {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true"},
    ),
    _off("local", "`local[2]`: tasks in the driver", "local[2]", {"spark.master": "local[2]"}),
    Row(name="java-17-jre", about="a driver and executors with a Java 17 runtime only", java="openjdk-17-jre-headless"),
    Row(name="java-21", about="Java 21", java="openjdk-21-jre-headless", since=(4, 0)),
    Row(
        name="connect",
        about="Spark Connect in the driver's own process (`spark.api.mode=connect`), a sink of files",
        queries={"sessions": "sessions"},
        own_files=True,
        conf={"spark.api.mode": "connect"},
        packages=CONNECT_PACKAGES,
        since=(4, 0),
    ),
    Row(
        name="java-job",
        about="a Java job under spark-submit, the agent as its plugin",
        program="java_job",
        door=PLUGIN,
    ),
    Row(
        name="connect-server",
        about="a Spark Connect server with the agent as its plugin, a client in another process, a sink of files",
        queries={"sessions": "sessions"},
        own_files=True,
        program="connect_client",
        door=PLUGIN,
        conf={"spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin"},
        packages=CONNECT_PACKAGES,
        since=(4, 0),
    ),
    Row(
        name="connect-client",
        about="a client of Spark Connect (`sc://`) that is run with the agent; its server has none",
        queries={"sessions": "sessions"},
        own_files=True,
        program="connect_client",
        acts=(),
        off="client of Spark Connect",
        packages=CONNECT_PACKAGES,
        since=(4, 0),
    ),
    Row(name="notebook", about="a notebook that installs the agent while its query runs", door=INSTALL),
)
"""Every row; the first half is what every supported version of Spark is tried with."""

EVERY_VERSION = (
    "aggregation",
    "stateless",
    "together",
    "own-jobs",
    "sessions",
    "once",
    "inner-join",
    "outer-join",
    "in-pandas",
    "timers",
    "lives",
    "hdfs",
    "rocksdb",
    "bounded",
)


def find(name: str) -> Row:
    """The row of that name. Raises ValueError for another."""
    for row in ROWS:
        if row.name == name:
            return row
    raise ValueError(f"rows: {name!r} given; {', '.join(one.name for one in ROWS)} are there.")
