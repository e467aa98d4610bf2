"""The bridge of a real driver: every call is one py4j call to the probe, whose answers are text."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from streamjob_agent.bridge import Executor, ExecutorMemory, Query, Scene, TrafficReading, Usage, passes
from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.spark import codec, selftest, shape
from streamjob_agent.spark.memory_limit import ROCKSDB_BOUNDED, container_bytes, heap_room_bytes, native_room_bytes
from streamjob_agent.spark.source import compile_opening, compile_probe
from streamjob_agent.wire import GroupKey

# A Java call that blocks cannot be interrupted from Python, so one wait is made of slices.
_WAIT_SLICE_MS = 5000
_CONNECT_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_READING_MS = 120_000  # for the sizes of one query's state; what was opened by then is known at the next reading


def connect(session: Any, made: Callable[[Any], object] = lambda probe: None) -> DriverBridge:
    """Compile the probe, attach it to the driver of a pyspark SparkSession, and switch placement on if it may be.

    `made` is told of the probe before anything is attached. Raises whatever the compiler or Spark raises when the probe
    does not fit this Spark: nothing is attached then. Takes 1 to 2 s. To be called before the first query starts, so
    that its batch 0 is placed too.
    """
    context = session.sparkContext
    probe = compile_probe(context)
    made(probe)
    probe.open(context._jsc.sc(), session._jsparkSession)
    bridge = DriverBridge(session, probe)
    checks = bridge.self_test()
    try:
        probe.attach(session._jsparkSession)
        bridge.set_actuation(all(passes(answer) for answer in checks.values()))
    except BaseException:
        probe.close()  # what was attached by then would measure for nobody
        raise
    return bridge


def in_use(session: Any) -> bool:
    """Whether a pyspark SparkSession has made its state, by which settings and credentials are fixed; looks only.

    True also where this Spark does not let one look, and where it serves Spark Connect: clients have sessions of their
    own then, and the one that was made here is never used.
    """
    try:
        if _CONNECT_PLUGIN in session.sparkContext.getConf().get("spark.plugins", ""):
            return True
        field = session._jsparkSession.getClass().getDeclaredField("sessionState")
        field.setAccessible(True)
        return field.get(session._jsparkSession) is not None
    except Exception:  # noqa: BLE001 - a private field of an unknown Spark
        return True


class DriverBridge:
    """Implements :class:`streamjob_agent.bridge.SparkBridge` on a driver. Made by :func:`connect`."""

    def __init__(self, session: Any, probe: Any) -> None:
        self._session = session
        self._context = session.sparkContext
        self._probe = probe
        self._boundaries_seen = 0
        self._changed = True  # nobody has looked yet
        self._woken = threading.Event()

    def spark_version(self) -> str:
        """For example "4.3.0"."""
        return str(self._context.version)

    def application_id(self) -> str:
        """Changes with each driver."""
        return str(self._context.applicationId)

    def join(self, session: Any) -> None:
        """Watch the queries of another session; see :meth:`streamjob_agent.bridge.SparkBridge.join`."""
        self._probe.join(session._jsparkSession)

    def look(self) -> Scene:
        """Executors and queries, from one description."""
        text = str(self._probe.describe())
        return Scene(executors=codec.read_executors(text), queries=codec.read_queries(text))

    def drain(self) -> Usage:
        """What happened since the last call."""
        return codec.read_usage(self._probe.drain())

    def state_bytes(self, query_id: str) -> Mapping[GroupKey, int]:
        """Checkpoint bytes that a move of each group would load now, from one recursive listing per operator."""
        return codec.read_state_bytes(self._probe.stateBytes(query_id, _READING_MS))

    def traffic(self, query_id: str, min_bytes: int, max_pairs: int) -> TrafficReading:
        """The heaviest pairs of chained operators, each at least min_bytes, at most max_pairs; and all that is sent.

        Sizes are Spark's compressed ones (within some 5 %; above 2000 partitions averages).
        """
        return codec.read_traffic(self._probe.traffic(query_id, min_bytes, max_pairs))

    def memory(self) -> Mapping[str, ExecutorMemory]:
        """The most memory each executor has used, as its heartbeats told, and the limits of its container and heap."""
        master, conf = self._master, self._settings
        limit, heap = container_bytes(master, conf), heap_room_bytes(master, conf)
        if limit is not None:  # else nobody wants to know, and it is a call
            conf = {**conf, ROCKSDB_BOUNDED: str(self._session.conf.get(ROCKSDB_BOUNDED, "false"))}
        return {
            one: ExecutorMemory(
                used_bytes=used,
                limit_bytes=limit,
                heap_room_bytes=heap,
                native_room_bytes=native_room_bytes(master, conf, pools),
            )
            for one, (used, pools) in codec.read_memory(self._probe.memory()).items()
        }

    @functools.cached_property
    def _settings(self) -> Mapping[str, str]:
        """Those of the application, which it cannot change: reading them takes several calls for each.

        As they were when they were first asked for, by the self-test before anything was attached: what the probe sets
        later on is no setting of the job's.
        """
        return dict(self._context.getConf().getAll())

    @functools.cached_property
    def _master(self) -> str:
        return str(self._context.master)

    def plan(self, query: Query) -> QueryPlan | None:
        """Operators and shuffles, read when asked for: nothing is done for it while nobody asks but to keep figures."""
        return shape.read_plan(self._probe.shape(query.query_id), query.query_id, query.name)

    def place(self, query_id: str, owners: Mapping[GroupKey, Executor]) -> None:
        """Register owners from now on; see :meth:`streamjob_agent.bridge.SparkBridge.place`."""
        if owners:
            self._probe.place(query_id, codec.write_owners(owners))

    def remember(self, query_id: str, owners: Mapping[int, Sequence[str | None]]) -> None:
        """Where groups were under an earlier driver; see :meth:`streamjob_agent.bridge.SparkBridge.remember`."""
        if owners:
            self._probe.remember(query_id, codec.write_ranks(owners))

    def mark(self, executor_ids: Collection[str]) -> None:
        """Executors that the bridge itself gives no key group to; replaces the earlier set."""
        self._probe.mark(",".join(executor_ids))

    def set_actuation(self, on: bool) -> None:
        """Allow or forbid every placement."""
        self._probe.actuate(on)

    def wait_for_boundary(self, timeout_s: float) -> bool:
        """Block until a micro-batch has ended since the last call, at most timeout_s; True when one has."""
        until = time.monotonic() + timeout_s
        while True:
            left_ms = max(0, int((until - time.monotonic()) * 1000))
            answer = str(self._probe.waitForBatch(self._boundaries_seen, min(left_ms, _WAIT_SLICE_MS)))
            count, self._changed = codec.read_wait(answer)
            if count != self._boundaries_seen:
                self._boundaries_seen = count
                return True
            if self._changed or left_ms <= _WAIT_SLICE_MS or self._woken.is_set():
                self._woken.clear()
                return False

    def wake(self) -> None:
        """End the wait that goes on, or the next one."""
        self._woken.set()
        self._probe.wake()

    def changed(self) -> bool:
        """As the last wait's answer said: the probe compares with what it described last."""
        return self._changed

    def set_locality_wait(self, seconds: float) -> bool:
        """Set spark.locality.wait.process while batches of queries with state run, unless the job has set it."""
        return bool(self._probe.localityWait(round(seconds * 1000)))

    def request_executors(self, total: int) -> None:
        """Ask the cluster for this number of executors; raises RuntimeError when it did not take the request."""
        if not self._probe.requestExecutors(total):
            raise RuntimeError(f"the cluster manager did not acknowledge a request for {total} executors")

    def decommission(self, executor_id: str) -> None:
        """Take one executor away without replacement; raises RuntimeError when Spark refuses."""
        if not self._probe.decommission(executor_id):
            raise RuntimeError(f"Spark did not decommission executor {executor_id}: it may be gone already")

    def self_test(self) -> Mapping[str, str]:
        """Each check's name and "ok", "ok, but ..." or what failed; leaves no trace in the job."""
        return selftest.run_checks(
            version=self.spark_version(),
            master=self._master,
            conf=self._settings,
            round_trip=self._probe.roundTrip,
            offer_ahead=lambda: self._probe.openAhead(*compile_opening(self._context)),
        )

    def stop_queries(self, timeout_s: float) -> Mapping[str, str]:
        """Stop every query; see :meth:`streamjob_agent.bridge.SparkBridge.stop_queries`."""
        return codec.read_stops(self._probe.stopQueries(round(timeout_s * 1000)))

    def diagnostics(self) -> tuple[Mapping[str, tuple[int, str]], Mapping[str, int]]:
        """Faults caught inside the probe (place -> count and newest message), and the probe's own counters."""
        return codec.read_diagnostics(self._probe.diagnostics())

    def close(self) -> None:
        """Detach every listener and the planning hook."""
        self._probe.close()
