"""The agent as a plugin of a Java driver: without its Python, or after it was killed, the job goes on and ends. Under
`run --class` it is asked to stop between two batches.

Moves, a drained executor and the like are rows of the compatibility table.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3]))

from e2e.compatibility import answers, java_job, lines
from e2e.compatibility.lines import Line
from e2e.compatibility.submitted import JOB, PLUGIN, command, environment, plugged

from streamjob_agent.plugin import launch
from streamjob_agent.wire import AgentStatus, status_from_json

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]
WAIT_S = 300
CLASS = "e2e.compatibility.CountsJob"
SETTINGS = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}


def program(folder: Path, jars: Path) -> list[str]:
    return [str(jars / JOB), str(folder), str(folder / "checkpoint")]


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jars")
    words = [sys.executable, "-m", "e2e.compatibility.submitted", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=WAIT_S)
    return folder


class Driver:
    """A Java job."""

    def __init__(self, folder: Path, words: list[str], env: Mapping[str, str]) -> None:
        self.folder = folder
        self.lines: list[Line] = []
        self.log = folder / "log"
        (folder / "input").mkdir(exist_ok=True)
        there = {"STREAMJOB_AGENT_ADDRESS_FILE": str(folder / "address"), "SPARK_LOCAL_IP": "127.0.0.1"}
        self.process = subprocess.Popen(
            words, env={**environment(), **there, **env}, stdout=self.log.open("w"), stderr=subprocess.STDOUT
        )

    @classmethod
    def submitted(cls, folder: Path, jars: Path, conf: Mapping[str, str]) -> Driver:
        """Under spark-submit."""
        words = ["--driver-class-path", str(jars / PLUGIN), "--class", CLASS, *program(folder, jars)]
        return cls(folder, command(plugged({**SETTINGS, **conf}), words), {"PYSPARK_PYTHON": sys.executable})

    @classmethod
    def run(cls, folder: Path, jars: Path, conf: Mapping[str, str]) -> Driver:
        """As a StreamJob with `mainClass` starts it."""
        settings = [word for key, value in {**SETTINGS, **conf}.items() for word in ("--conf", f"{key}={value}")]
        env = {"PYSPARK_SUBMIT_ARGS": shlex.join([*settings, "pyspark-shell"]), "STREAMJOB_AGENT_STOP_GRACE_S": "600"}
        return cls(
            folder, [sys.executable, "-m", "streamjob_agent", "run", "--class", CLASS, *program(folder, jars)], env
        )

    def write(self) -> None:
        number = len(list((self.folder / "input").iterdir()))
        given = lines.lines(number)
        (self.folder / "draft").write_text(lines.text(given))
        (self.folder / "draft").rename(self.folder / f"input/{number}.csv")
        self.lines += given

    def end(self) -> str:
        """All that it printed; its answer is right and it ended by itself."""
        (self.folder / "stop").touch()
        assert self.process.wait(WAIT_S) == 0
        assert java_job.rows(self.folder / "said") == answers.counts(self.lines)
        return self.log.read_text()

    def status(self) -> AgentStatus | None:
        try:
            address = (self.folder / "address").read_text().strip()
            with urllib.request.urlopen(f"{address}/v1/status", timeout=10) as answer:
                return status_from_json(answer.read().decode())
        except OSError:
            return None

    def seen(self) -> AgentStatus:
        """What its agent tells once it has seen a query."""
        until_s = time.monotonic() + WAIT_S
        while time.monotonic() < until_s:
            status = self.status()
            if status is not None and status.queries:
                return status
            time.sleep(0.2)
        raise AssertionError(f"no query was seen: {self.log.read_text()[-2000:]}")


@pytest.fixture
def driver(tmp_path: Path, jars: Path) -> Iterator[Callable[..., Driver]]:
    started: list[Driver] = []

    def start(**conf: str) -> Driver:
        started.append(Driver.submitted(tmp_path, jars, {key.replace("_", "."): value for key, value in conf.items()}))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def commands_below(pid: int) -> list[str]:
    """Words of the commands of a process' children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [word for one in children for word in Path(f"/proc/{one}/cmdline").read_text().split("\0")]


def sentences(log: str) -> list[str]:
    return [line for line in log.splitlines() if "StreamJob agent: " in line]


def test_without_its_python_the_job_runs_and_one_sentence_says_so(driver: Callable[..., Driver]) -> None:
    job = driver(spark_pyspark_driver_python="/no/such/python")
    job.write()
    (sentence,) = sentences(job.end())
    assert "not started, the job goes on without it" in sentence
    assert "/no/such/python" in sentence


def test_when_its_python_is_killed_the_job_goes_on_and_ends(driver: Callable[..., Driver]) -> None:
    job = driver()
    job.write()
    job.seen()
    (agent,) = launch.children(job.process.pid)
    os.kill(agent, signal.SIGKILL)
    job.write()
    assert any("its Python process has ended with 137" in one for one in sentences(job.end()))
    assert job.status() is None


def test_a_class_is_stopped_between_two_batches_and_goes_on_from_there(tmp_path: Path, jars: Path) -> None:
    theirs = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": "0",
    }
    job = Driver.run(tmp_path, jars, theirs)
    try:
        job.write()
        job.seen()
        words = commands_below(job.process.pid)
        job.process.terminate()
        assert job.process.wait(WAIT_S) in (0, 143), job.log.read_text()[-2000:]
    finally:
        job.process.kill()
    told = job.log.read_text()
    assert re.search("query [-0-9a-f]+ was stopped between two batches", told), told[-2000:]
    assert f"spark.plugins={theirs['spark.plugins']},io.streamjob.plugin.StreamJobPlugin" in words
    again = Driver.run(tmp_path, jars, {})
    try:
        again.lines = job.lines
        again.write()
        again.end()
    finally:
        again.process.kill()
