"""A program runs under the agent as it runs alone. A package named pyspark stands in for Spark: no JVM is needed."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

from streamjob_agent.config import AgentConfig

CONTEXT = """
class Conf(dict):
    def contains(self, key): return key in self
    def set(self, key, value): self[key] = value
    def get(self, key, default=None): return dict.get(self, key, default)
    def getAll(self): return list(self.items())

class SparkContext:
    version, applicationId, master = "4.3.0", "app-1", "local"
    def __init__(self, conf=None):
        self.conf = Conf(conf or {})
        self._jsc = self._initialize_context(self.conf)
    def _initialize_context(self, jconf): return object()
    def getConf(self): return self.conf
    def stop(self): print("context stopped")
"""
SESSION = """
class SparkSession:
    def __init__(self, context): self.sparkContext = context
    def newSession(self): return SparkSession(self.sparkContext)
    def stop(self): self.sparkContext.stop()
"""
SPARK_JOB = """
from pyspark.core.context import SparkContext
from pyspark.sql.session import SparkSession
for given in ({}, {"spark.speculation": "true"}):
    session = SparkSession(SparkContext(given))
    print(sorted(session.sparkContext.conf.items()))
    assert session.newSession().sparkContext is session.sparkContext
    session.stop()
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    for package in ("pyspark", "pyspark/core", "pyspark/sql"):
        (tmp_path / "lib" / package).mkdir(parents=True)
        (tmp_path / "lib" / package / "__init__.py").write_text("__version__ = '4.3.0'")
    (tmp_path / "lib/pyspark/core/context.py").write_text(CONTEXT)
    (tmp_path / "lib/pyspark/sql/session.py").write_text(SESSION)
    return tmp_path


def run(folder: pathlib.Path, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "lib"), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def both_ways(folder: pathlib.Path, script: str, *arguments: str) -> list[subprocess.CompletedProcess[str]]:
    (folder / "job.py").write_text(textwrap.dedent(script))
    return [run(folder, *words, "job.py", *arguments) for words in ((), ("-m", "streamjob_agent", "run"))]


SAME = {
    "arguments": "import sys; print(sys.argv)",
    "name and file": "print(__name__, __file__)",
    "import of a neighbour": "import sys; print(sys.path[0]); import neighbour; print(neighbour.WORD)",
    "exit code": "import sys; sys.exit(7)",
    "exit with a sentence": "raise SystemExit('the end')",
    "exception": "raise ValueError('mine')",
    "interrupt": "raise KeyboardInterrupt",
    "exit handlers": "import atexit; atexit.register(print, 'bye'); print('hello'); 1 / 0",
    "threads outlive the script": """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.3), print(WORD))).start()
        WORD = "late"
    """,
    "pickled by name": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))",
    "no future import of ours": "def f(x: undefined_name_is_fine if False else int): pass\nprint(f.__annotations__)",
    "logging": "import logging; print(logging.getLogger().handlers, logging.getLogger('streamjob_agent').handlers)",
    "signals": "import signal; print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT).__name__)",
    "syntax error": "def",
}


@pytest.mark.parametrize("name", sorted(SAME))
def test_a_program_cannot_tell_the_difference(folder: pathlib.Path, name: str) -> None:
    (folder / "neighbour.py").write_text("WORD = 'next door'")
    alone, ours = both_ways(folder, SAME[name], "one", "--two", "-m")
    assert (ours.returncode, ours.stdout) == (alone.returncode, alone.stdout)
    assert ours.stderr.splitlines()[-1:] == alone.stderr.splitlines()[-1:]


def test_a_module_runs_as_with_python_m(folder: pathlib.Path) -> None:
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").touch()
    (folder / "pack" / "job.py").write_text("import sys; print(__name__, __package__, sys.argv)")
    alone = run(folder, "-m", "pack.job", "x")
    ours = run(folder, "-m", "streamjob_agent", "run", "-m", "pack.job", "x")
    assert alone.returncode == ours.returncode == 0
    assert ours.stdout == alone.stdout


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Tests that a shell runs in its background ignore interrupts, and so would the programs that they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_signal_ends_the_program_as_alone(folder: pathlib.Path) -> None:
    (folder / "job.py").write_text("import time; print('up', flush=True); time.sleep(60)")
    codes = []
    for words in ((), ("-m", "streamjob_agent", "run")):
        process = subprocess.Popen(
            [sys.executable, *words, "job.py"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGINT)
        codes.append(process.wait(30))
        process.stdout.close()
    assert codes[0] == codes[1]


def test_settings_are_put_in_place_unless_the_job_has_its_own(folder: pathlib.Path) -> None:
    _, ours = both_ways(folder, SPARK_JOB)
    assert ours.returncode == 0, ours.stderr
    first, second = re.findall(r"^\[.*$", ours.stdout, re.MULTILINE)
    assert "('spark.locality.wait', '0s')" in first
    assert "('spark.speculation', 'false')" in first
    # Nothing is moved where a second copy of a task may run, so nothing else is changed either.
    assert second == "[('spark.speculation', 'true')]"
    assert ours.stdout.count("context stopped") == 2


def test_a_notebook_that_is_run_as_a_job_installs_no_second_agent(folder: pathlib.Path) -> None:
    script = """
    import streamjob_agent, threading
    from pyspark.core.context import SparkContext
    from pyspark.sql.session import SparkSession
    from streamjob_agent import hooks, notebook
    session = SparkSession(SparkContext())
    address = streamjob_agent.install(session)
    print("same", address == hooks._told[0].address, len(notebook._installed))
    print("servers", sum(thread.name == "streamjob-agent-http" for thread in threading.enumerate()))
    """
    result = both_ways(folder, script)[1]
    assert result.stdout == "same True 0\nservers 1\n"
    assert result.stderr.count("not installed, this program has one already") == 1


def test_a_spark_that_cannot_be_watched_does_not_stop_the_job(folder: pathlib.Path) -> None:
    alone, ours = both_ways(folder, SPARK_JOB)
    assert alone.returncode == ours.returncode == 0
    assert "Traceback" not in ours.stderr
    assert "attach" in ours.stderr


def test_an_agent_that_cannot_even_be_set_up_does_not_stop_the_job(folder: pathlib.Path) -> None:
    broken = folder / "lib" / "prometheus_client"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('not in this image')")
    _, ours = both_ways(folder, "print('job ran')")
    assert (ours.returncode, ours.stdout) == (0, "job ran\n")


@pytest.mark.parametrize("words", [[], ["run"], ["walk", "job.py"], ["run", "-m"]])
def test_wrong_usage_is_told(folder: pathlib.Path, words: list[str]) -> None:
    done = run(folder, "-m", "streamjob_agent", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m streamjob_agent run")


def test_missing_script_is_told(folder: pathlib.Path) -> None:
    done = run(folder, "-m", "streamjob_agent", "run", "none.py")
    assert done.returncode == 2
    assert done.stderr == "streamjob_agent: can't open 'none.py': no such file\n"


def test_bad_settings_are_told_and_the_defaults_used(folder: pathlib.Path) -> None:
    (folder / "job.py").write_text("print('job ran')")
    done = run(folder, "-m", "streamjob_agent", "run", "job.py", STREAMJOB_AGENT_PORT="http")
    assert (done.returncode, done.stdout) == (0, "job ran\n")
    assert "STREAMJOB_AGENT_PORT: 'http' given, a whole number from 0 to 65535 is needed" in done.stderr


BAD = {
    "PORT": ("70000", "a whole number from 0 to 65535"),
    "HOST": ("a\nb", "text without line breaks or blanks at its ends"),
    "POLL_S": ("fast", "a number from 0.05 to 60"),
    "OVERHEAD_RATIO": ("nan", "a number from 0.001 to 1"),
    "TRAFFIC_MIN_BYTES": ("0", "a whole number from 1 to"),
    "TRAFFIC_MAX_PAIRS": ("-5", "a whole number from 0 to 100000"),
    "FAILED_AFTER": ("1.5", "a whole number from 1 to 1000"),
    "TOKEN": ("s3cret ", "text without"),
    "STOP_GRACE_S": ("0", "a number from 1 to 86400"),
    "PARTITION_MAP": ("orders", "namespace/name of a PartitionMap"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_each_bad_setting_gets_its_sentence_and_the_default(name: str) -> None:
    value, allowed = BAD[name]
    config, complaints = AgentConfig.from_env({f"STREAMJOB_AGENT_{name}": value, "STREAMJOB_AGENT_STATE_DIR": "/s"})
    assert config == AgentConfig(state_dir="/s")
    assert len(complaints) == 1
    assert complaints[0].startswith(f"STREAMJOB_AGENT_{name}: ")
    assert allowed in complaints[0]
    assert "s3cret" not in complaints[0]
    assert "s3cret" not in repr(AgentConfig(token="s3cret"))
