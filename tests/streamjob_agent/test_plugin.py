"""The plugin of drivers that are not Python's: its child, with a package named py4j in place of a JVM, and its jar."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
import zipfile
from typing import Any

import pytest

from streamjob_agent.plugin import PLUGIN, agent, jar, withdraw
from streamjob_agent.plugin.agent import JvmAgent

GATEWAY = """
import sys
class GatewayParameters:
    def __init__(self, **given): print("asked", sorted(given.items()))
class Conf(dict):
    def contains(self, key): return key in self
    def set(self, key, value): self[key] = value
class Context:
    def version(self): return "4.3.0"
class Desk:
    conf = Conf({"spark.master": "yarn"})
    def context(self): return Context()
    def settings(self): return self.conf
    def ready(self): print("ready", self.conf["spark.decommission.enabled"], flush=True)
    def session(self): return None
class JavaGateway:
    def __init__(self, gateway_parameters): self.entry_point = Desk()
"""
BROKEN = GATEWAY.replace("self.entry_point = Desk()", "raise ConnectionError('nobody listens')")


class Conf(dict[str, str]):
    def contains(self, key: str) -> bool:
        return key in self

    def set(self, key: str, value: str) -> None:
        self[key] = value


class FakeContext:
    def version(self) -> str:
        return "4.3.0"

    def master(self) -> str:
        return self.conf["spark.master"]

    def applicationId(self) -> str:  # noqa: N802 - Spark's name
        return "app-1"

    def __init__(self, conf: Conf) -> None:
        self.conf = conf


class Desk:
    """What the Java half answers."""

    def __init__(self, conf: Conf | None) -> None:
        self.conf, self.made, self.seen = conf, None, []

    def context(self) -> FakeContext:
        return FakeContext(self.conf or Conf({"spark.master": "yarn"}))

    def settings(self) -> Conf | None:
        return self.conf

    def ready(self) -> None:
        self.seen.append(dict(self.conf or {}))

    def session(self) -> Any:
        return self.made


class Anything:
    """A JVM of which only some attributes are looked at."""

    def __getattr__(self, name: str) -> Any:
        return Anything()

    def __call__(self, *_: Any) -> Any:
        return Anything()


class Gateway:
    jvm: Any = Anything()

    def __init__(self, conf: Conf | None) -> None:
        self.entry_point = Desk(conf)


def child(folder: pathlib.Path, java_gateway: str | None = GATEWAY) -> subprocess.Popen[str]:
    package = folder / "lib/py4j"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("" if java_gateway else "raise ImportError('no py4j here')")
    (package / "java_gateway.py").write_text(java_gateway or "")
    (folder / "threading.py").write_text("raise RuntimeError('a file of the job')")
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", "streamjob_agent", "plugin"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "lib")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdin is not None
    started.stdin.write("7077 only-for-you\n")
    started.stdin.flush()
    return started


def test_the_child_ends_with_its_driver_and_writes_nothing_to_its_stdout(tmp_path: pathlib.Path) -> None:
    started = child(tmp_path)
    assert started.stderr is not None
    said = started.stderr.readline() + started.stderr.readline()
    assert "('address', '127.0.0.1'), ('auth_token', 'only-for-you')" in said
    assert said.endswith("ready true\n")
    started.send_signal(signal.SIGINT)  # a Ctrl-C in the driver's terminal is for the driver
    time.sleep(0.2)
    assert started.poll() is None
    out, _ = started.communicate(timeout=60)
    assert (out, started.returncode) == ("", 0)


DRIVER = """
import subprocess, sys
agent = subprocess.Popen([sys.executable, "-P", "-m", "streamjob_agent", "plugin"], stdin=sys.stdin)
print(agent.pid, flush=True)
agent.wait()
"""


def test_asked_to_stop_it_stops_the_queries_and_then_asks_the_driver_to_end(tmp_path: pathlib.Path) -> None:
    package = tmp_path / "py4j"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "java_gateway.py").write_text(GATEWAY)
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "STREAMJOB_AGENT_STOP_GRACE_S": "600"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        assert driver.stderr is not None
        driver.stdin.write("7077 only-for-you\n")
        driver.stdin.flush()
        agent_pid = int(driver.stdout.readline())
        while not driver.stderr.readline().startswith("ready"):
            assert driver.poll() is None
        os.kill(agent_pid, signal.SIGTERM)
        os.kill(agent_pid, signal.SIGTERM)  # once is enough
        assert driver.wait(60) == -signal.SIGTERM
        driver.stdin.close()  # a driver's own pipe ends with it
        said = driver.stderr.read()
    assert said.count("asked to stop; queries are stopped between two batches") == 1


@pytest.mark.parametrize(("gateway", "sentence"), [(None, "no py4j here"), (BROKEN, "nobody listens")])
def test_what_is_missing_is_one_sentence(tmp_path: pathlib.Path, gateway: str | None, sentence: str) -> None:
    out, said = child(tmp_path, gateway).communicate(timeout=60)
    assert out == ""
    (line,) = [line for line in said.splitlines() if not line.startswith("asked")]
    assert line.startswith("streamjob_agent: the agent cannot work in this driver: ")
    assert line.endswith(sentence)


def test_settings_are_complete_before_the_driver_goes_on_and_the_users_win() -> None:
    gateway = Gateway(Conf({"spark.master": "yarn", "spark.decommission.enabled": "false"}))
    JvmAgent(gateway).prepare()
    (seen,) = gateway.entry_point.seen
    assert seen["spark.decommission.enabled"] == "false"
    assert seen["spark.storage.decommission.enabled"] == "false"


def test_nothing_is_set_where_nothing_will_be_moved_or_the_driver_has_gone_on() -> None:
    for conf in (Conf({"spark.master": "local[2]"}), None):
        gateway = Gateway(conf)
        JvmAgent(gateway).prepare()
        assert gateway.entry_point.seen == [dict(conf or {})]


def test_under_run_the_plugin_gives_way() -> None:
    for given, left in ((f"other.Plugin, {PLUGIN}", "other.Plugin"), (PLUGIN, ""), ("other.Plugin", "other.Plugin")):
        conf = Conf({"spark.plugins": given})
        withdraw(conf)
        assert conf == {"spark.plugins": left}
    untouched = Conf()
    withdraw(untouched)
    assert untouched == {}


def test_a_session_is_waited_for_and_the_probe_is_left_with_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(Conf({"spark.master": "yarn"}))
    told: list[Any] = []

    def connect(session: Any, made: Any) -> Any:
        told.append((session.sparkContext.applicationId, made == gateway.entry_point.keep))
        raise RuntimeError("far enough")

    gateway.entry_point.keep = lambda probe: None  # type: ignore[attr-defined]
    monkeypatch.setattr(agent.spark, "connect", connect)
    tried = JvmAgent(gateway)
    assert not tried.found()
    gateway.entry_point.made = Anything()
    assert tried.found()
    tried.close()
    assert told == [("app-1", True)]


@pytest.mark.parametrize(
    "program", ["SparkSubmit --class org.apache.spark.sql.connect.service.SparkConnectServer x", "App"]
)
def test_the_session_of_a_connect_server_is_in_use_at_once(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    class Jvm(Anything):
        def __getattr__(self, name: str) -> Any:
            return (lambda key: program) if name == "getProperty" else self

    gateway = Gateway(None)
    gateway.jvm = Jvm()
    told: list[Any] = []
    monkeypatch.setattr(agent.spark, "in_use", lambda session: False)
    monkeypatch.setattr(agent.spark, "connect", lambda session, made: told.append(session) or 1 / 0)
    gateway.entry_point.made = Anything()
    gateway.entry_point.keep = lambda probe: None  # type: ignore[attr-defined]
    tried = JvmAgent(gateway)
    assert tried.found()
    tried.close()
    assert len(told) == (0 if program == "App" else 1)


def test_the_same_classes_are_the_same_jar(tmp_path: pathlib.Path) -> None:
    for name in ("one.jar", "two.jar"):
        jar.write(tmp_path / name, {"a.b.Second": b"2", "a.b.First": b"1"})
    assert (tmp_path / "one.jar").read_bytes() == (tmp_path / "two.jar").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.jar") as archive:
        assert archive.namelist() == ["META-INF/MANIFEST.MF", "a/b/First.class", "a/b/Second.class"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jar", "two.jar"]


def test_the_plugin_is_one_unit_of_its_own_package() -> None:
    unit = jar.source()
    package, _, name = PLUGIN.rpartition(".")
    assert unit.startswith(f"package {package};\n")
    assert f"public final class {name} implements SparkPlugin" in unit


def test_a_jar_that_cannot_be_made_is_a_sentence(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jar, "make", lambda path: path.joinpath("in/no.jar").write_bytes(b""))
    assert jar.command([str(tmp_path / "away.jar")]) == 1
    assert capsys.readouterr().err.startswith("streamjob_agent: no jar was written: FileNotFoundError")
    assert jar.command([]) == 2
