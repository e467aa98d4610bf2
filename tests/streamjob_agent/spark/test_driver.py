"""The bridge of a real driver, on a probe made of paper: what is attached half-way is detached again."""

from __future__ import annotations

import pytest

from streamjob_agent.spark import driver


class Probe:
    def __init__(self) -> None:
        self.closed = 0

    def open(self, context: object, session: object) -> None:
        """Fits."""

    def roundTrip(self) -> str:  # noqa: N802 - Java's name
        return "ok"

    def openAhead(self, kind: object, classes: object) -> None:  # noqa: N802
        """Fits."""

    def attach(self, session: object) -> None:
        raise RuntimeError("no such method: addListener")

    def close(self) -> None:
        self.closed += 1


class Session:
    """As much of a SparkSession as connecting asks of one; it is its own context, settings and JVM's side."""

    version = "4.3.0"
    master = "local-cluster[3,1,1024]"

    @property
    def sparkContext(self) -> Session:  # noqa: N802 - pyspark's name
        return self

    def __getattr__(self, name: str) -> Session:
        """`_jsc`, `_jsparkSession`."""
        return self

    def sc(self) -> None:
        """The JVM's context."""

    def getConf(self) -> Session:  # noqa: N802
        return self

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802
        return []


def test_what_cannot_be_attached_whole_is_detached(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = Probe()
    monkeypatch.setattr(driver, "compile_probe", lambda _: probe)
    monkeypatch.setattr(driver, "compile_opening", lambda _: (None, None))
    with pytest.raises(RuntimeError, match="addListener"):
        driver.connect(Session())
    assert probe.closed == 1


class Described:
    """A probe that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.waited = "0\t0"
        self.woken = 0

    def waitForBatch(self, seen: int, timeout_ms: int) -> str:  # noqa: N802
        return self.waited

    def wake(self) -> None:
        self.woken += 1

    def describe(self) -> str:
        self.asked += 1
        return f"N\t{self.asked}\thost\t1\t0\nQ\tq{self.asked}\tr\t0\t1\t0\t0:8\t\t\n"


def test_executors_and_queries_of_one_look_are_one_call_and_no_look_is_an_older_one() -> None:
    bridge = driver.DriverBridge(Session(), Described())
    for number in ("1", "2"):
        scene = bridge.look()
        assert [one.executor_id for one in scene.executors] == [number]
        assert [one.query_id for one in scene.queries] == [f"q{number}"]


def test_a_wait_tells_whether_anything_has_changed_besides() -> None:
    probe = Described()
    bridge = driver.DriverBridge(Session(), probe)
    assert bridge.changed(), "nobody has looked yet"
    for answer, ended, changed in (("0\t0", False, False), ("0\t1", False, True), ("1\t1", True, True)):
        probe.waited = answer
        assert bridge.wait_for_boundary(0.0) is ended
        assert bridge.changed() is changed
    assert probe.asked == 0


def test_a_wait_ends_when_something_has_changed_or_somebody_wakes_it() -> None:
    probe = Described()
    bridge = driver.DriverBridge(Session(), probe)
    probe.waited = "0\t1"
    assert not bridge.wait_for_boundary(1e6)
    probe.waited = "0\t0"
    bridge.wake()
    assert not bridge.wait_for_boundary(1e6)
    assert probe.woken == 1


class Counting(Session):
    """A session that counts how often the settings of its application are read, and has them for a cluster manager."""

    def __init__(self, master: str) -> None:
        self.master = master
        self.read = self.asked = 0
        self.bounded = "false"

    @property
    def conf(self) -> Counting:
        return self

    def get(self, key: str, default: str) -> str:
        self.asked += 1
        return self.bounded

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802
        self.read += 1
        return [("spark.executor.memory", "2g"), ("spark.locality.wait.process", f"{self.read}s")]


class Used:
    """A probe that knows what one executor has used."""

    def memory(self) -> str:
        return f"1\t{10**9}\t{2**20}\n"

    def roundTrip(self) -> str:  # noqa: N802
        return "ok"


def test_settings_of_the_application_are_read_once() -> None:
    session = Counting("local-cluster[3,1,1024]")
    bridge = driver.DriverBridge(session, Used())
    checks = [bridge.self_test() for _ in range(2)]
    assert checks[0] == checks[1], "what was set meanwhile is not the job's"
    for _ in range(3):
        (told,) = bridge.memory().values()
        assert (told.used_bytes, told.limit_bytes, told.heap_room_bytes) == (10**9, None, 2 * 2**30)
    assert (session.read, session.asked) == (1, 0)


def test_whether_rocksdb_holds_itself_to_a_limit_is_asked_anew_where_a_container_has_one() -> None:
    session = Counting("k8s://https://cluster")
    bridge = driver.DriverBridge(session, Used())
    assert bridge.memory()["1"].native_room_bytes == (384 - 1) * 2**20
    session.bounded = "true"
    assert bridge.memory()["1"].native_room_bytes is None
    assert (session.read, session.asked) == (1, 2)
