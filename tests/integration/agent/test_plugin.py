"""The agent as a plugin of a Java driver: without its Python, or after it was killed, the job goes on and ends.

Moves, a drained executor and the like are rows of the compatibility table.
"""

from __future__ import annotations

import os
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

from streamjob_agent.wire import AgentStatus, status_from_json

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]
WAIT_S = 300
SETTINGS = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jars")
    words = [sys.executable, "-m", "e2e.compatibility.submitted", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=WAIT_S)
    return folder


class Driver:
    """A Java job under spark-submit."""

    def __init__(self, folder: Path, jars: Path, conf: Mapping[str, str]) -> None:
        self.folder = folder
        self.lines: list[Line] = []
        (folder / "input").mkdir()
        words = ["--driver-class-path", str(jars / PLUGIN), "--class", "e2e.compatibility.CountsJob", str(jars / JOB)]
        started = command(plugged({**SETTINGS, **conf}), [*words, str(folder), str(folder / "checkpoint")])
        env = {**environment(), "STREAMJOB_AGENT_ADDRESS_FILE": str(folder / "address"), "SPARK_LOCAL_IP": "127.0.0.1"}
        self.log = folder / "log"
        self.process = subprocess.Popen(
            started, env={"PYSPARK_PYTHON": sys.executable, **env}, stdout=self.log.open("w"), stderr=subprocess.STDOUT
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

    def child(self) -> int:
        """The process that the plugin started."""
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words, status = path.joinpath("cmdline").read_bytes(), path.joinpath("status").read_text()
            except OSError:  # it has ended since the listing
                continue
            if b"plugin" in words.split(b"\0") and f"PPid:\t{self.process.pid}\n" in status:
                return int(path.name)
        raise AssertionError(f"no child of {self.process.pid}")


@pytest.fixture
def driver(tmp_path: Path, jars: Path) -> Iterator[Callable[..., Driver]]:
    started: list[Driver] = []

    def start(**conf: str) -> Driver:
        started.append(Driver(tmp_path, jars, {key.replace("_", "."): value for key, value in conf.items()}))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


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
    until_s = time.monotonic() + WAIT_S
    while time.monotonic() < until_s:
        status = job.status()
        if status is not None and status.queries:
            break
        time.sleep(0.2)
    else:
        raise AssertionError(f"no query was seen: {job.log.read_text()[-2000:]}")
    child = job.child()
    os.kill(child, signal.SIGKILL)
    job.write()
    assert any("its Python process has ended with 137" in one for one in sentences(job.end()))
    assert job.status() is None
