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

    def describe(self) -> str:
        self.asked += 1
        return f"N\t{self.asked}\thost\t1\nQ\tq{self.asked}\tr\t0\t1\t0\t0:8\t\n"


def test_executors_and_queries_of_one_look_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [10.0]
    monkeypatch.setattr(driver.time, "monotonic", lambda: now_s[0])
    probe = Described()
    bridge = driver.DriverBridge(Session(), probe)
    assert [one.executor_id for one in bridge.executors()] == ["1"]
    assert [one.query_id for one in bridge.queries()] == ["q1"]
    assert [one.query_id for one in bridge.queries()] == ["q2"], "it counts once"
    bridge.executors()
    now_s[0] += 1.0
    assert [one.query_id for one in bridge.queries()] == ["q4"], "and not for long"
