"""A class of a jar as the driver: spark-submit with the plugin, below a process that stops it between two batches.

This process stays above the driver, because SIGTERM ends a JVM in the middle of a batch: with a grace it first has the
agent's Python stop the queries. The driver dies with this process, however that ends.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence

from streamjob_agent.config import AgentConfig
from streamjob_agent.fetching import is_far, path_of
from streamjob_agent.plugin import SETTING, with_ours
from streamjob_agent.stopping import ENDING_S, EXIT_CODE
from streamjob_agent.submitted import ARGUMENTS, SHELL

_PR_SET_PDEATHSIG = 1
_ASK_TO_END = {signal.SIGTERM}
_NOTHING_FETCHED = ("spark.jars", "spark.jars.packages", "spark.files", "spark.archives", "spark.submit.pyFiles")
_CLASS_PATH = "SPARK_DIST_CLASSPATH"  # the one that adds to those of settings, where an option would replace them


class CannotLaunch(Exception):
    """There is nothing to launch, or nothing to launch it with; the text is a sentence."""


def run_class(name: str, words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run `main` of the class in the jar `words[0]` with the arguments after it, as Spark's driver: its exit code.

    Spark's settings are those of PYSPARK_SUBMIT_ARGS, as for a script. Raises CannotLaunch.
    """
    jar, *arguments = words
    if not is_far(jar) and not pathlib.Path(path_of(jar)).is_file():
        raise CannotLaunch(f"can't open {path_of(jar)!r}: no such file")
    home, grace_s = spark_home(environ), AgentConfig.from_env(environ)[0].stop_grace_s
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_CODE))  # the first process of a container hears no other
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells the driver as well, which ends by it
    with tempfile.TemporaryDirectory(prefix="streamjob-") as folder:
        plugin = pathlib.Path(folder, "streamjob.jar")
        plugins = _make(plugin, home, environ)
        program = ["--class", name, path_of(jar), *arguments]
        return _Driver(submit(home, plugins, program, environ), variables(plugin, home, environ), grace_s).wait()


def spark_home(environ: Mapping[str, str]) -> pathlib.Path:
    """Where Spark is: as the environment says, else as this Python's pyspark has it. Raises CannotLaunch."""
    if environ.get("SPARK_HOME"):
        return pathlib.Path(environ["SPARK_HOME"])
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise CannotLaunch("no Spark was found: SPARK_HOME is not set, and this Python has no pyspark")
    return pathlib.Path(found.origin).parent


def submit(home: pathlib.Path, plugins: str, program: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The words of spark-submit; `plugins` are all of the driver's, ours among them."""
    return [str(home / "bin/spark-submit"), *_settings(environ), "--conf", f"{SETTING}={plugins}", *program]


def variables(plugin: pathlib.Path, home: pathlib.Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The driver's environment: the plugin on its class path, and this Python for the agent unless another is named."""
    there = environ.get(_CLASS_PATH)
    return {
        "PYSPARK_DRIVER_PYTHON": environ.get("PYSPARK_PYTHON", sys.executable),
        **environ,
        "SPARK_HOME": str(home),
        _CLASS_PATH: os.pathsep.join([*([there] if there else []), str(plugin)]),
    }


def _settings(environ: Mapping[str, str]) -> list[str]:
    words = shlex.split(environ.get(ARGUMENTS, ""))
    return words[:-1] if words[-1:] == [SHELL] else words


def _make(plugin: pathlib.Path, home: pathlib.Path, environ: Mapping[str, str]) -> str:
    """Write the jar; the driver's plugins. In a Python of its own, whose JVM ends with it, and that fetches nothing."""
    nothing = [word for setting in _NOTHING_FETCHED for word in ("--conf", f"{setting}=")]
    spark = [str(home / "python"), *map(str, sorted(home.glob("python/lib/py4j-*-src.zip")))]
    where = [*([environ["PYTHONPATH"]] if environ.get("PYTHONPATH") else []), *spark]
    env = {
        **environ,
        "SPARK_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(where),
        ARGUMENTS: shlex.join([*_settings(environ), *nothing, SHELL]),
    }
    words = [sys.executable, "-m", "streamjob_agent.plugin.making", str(plugin)]
    made = subprocess.run(words, env=env, stdout=subprocess.PIPE, check=False)
    if made.returncode != 0:
        raise CannotLaunch("no plugin for the driver could be made; the sentence above says why")
    return with_ours(made.stdout.decode().strip())


class _Driver:
    """The driver's process, and what SIGTERM of this one means to it."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str], grace_s: float | None) -> None:
        self._grace_s = grace_s
        self._asked = False
        signal.pthread_sigmask(signal.SIG_BLOCK, _ASK_TO_END)  # until there is a process that can be told
        self._process = subprocess.Popen(words, env=env, preexec_fn=_as_driver)  # noqa: PLW1509 - no thread yet
        signal.signal(signal.SIGTERM, self._on_term)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASK_TO_END)

    def wait(self) -> int:
        """Until it has ended: its exit code, as a shell tells it."""
        code = self._process.wait()
        return code if code >= 0 else 128 - code

    def _on_term(self, number: int, frame: object) -> None:
        """The first asks the agent, where there is time and an agent; a second one asks the driver itself."""
        first, self._asked = not self._asked, True
        agents = children(self._process.pid) if first and self._grace_s is not None else []
        for pid in agents:
            os.kill(pid, signal.SIGTERM)
        if agents and self._grace_s is not None:
            late = threading.Timer(self._grace_s + 2 * ENDING_S, self._process.terminate)
            late.daemon = True
            late.start()
        else:
            self._process.terminate()


def children(parent: int) -> list[int]:
    """The process ids of the agents that the driver with this process id has started: one, or none."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            status, words = (folder / "status").read_text(), (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            continue
        if f"\nPPid:\t{parent}\n" in status and b"streamjob_agent" in words:
            found.append(int(folder.name))
    return found


def _as_driver() -> None:
    """In the new process: signals as anybody's, and no life without the process above."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASK_TO_END)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
