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
