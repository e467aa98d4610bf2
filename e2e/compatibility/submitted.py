"""A JVM driver started by spark-submit, and the agent as its plugin; `python -m ... FOLDER` makes the jars of one."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping

from streamjob_agent.plugin import SETTING, jar, launch, with_ours
from streamjob_agent.spark.source import java_files, merged

JAVA = pathlib.Path(__file__).parent / "java"
JOB, PLUGIN = "job.jar", "streamjob.jar"


def make_jars(folder: pathlib.Path) -> None:
    """The plugin, as users make it, and the Java job."""
    from pyspark import SparkContext

    jar.make(folder / PLUGIN)
    jar.write(folder / JOB, jar.compiled(merged("e2e.compatibility", java_files(JAVA)), SparkContext._jvm))


def have_jars_made(folder: pathlib.Path) -> None:
    """In a process whose Spark ends with it."""
    subprocess.run([sys.executable, "-m", "e2e.compatibility.submitted", str(folder)], check=True)


def plugged(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings with the plugin among others that are asked for."""
    return {**conf, SETTING: with_ours(conf.get(SETTING, ""))}


@contextlib.contextmanager
def submitted(conf: Mapping[str, str], options: list[str], program: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A driver that prints where this process does, and goes when this process goes or is told to."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    driver = subprocess.Popen(command(conf, [*options, *program]), env=environment())
    try:
        yield driver
    finally:
        driver.terminate()
        driver.wait()


def command(conf: Mapping[str, str], words: list[str]) -> list[str]:
    """Of spark-submit."""
    pairs = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    return [str(launch.spark_home({}) / "bin/spark-submit"), *pairs, *words]


def environment() -> dict[str, str]:
    """Of spark-submit."""
    return {**os.environ, "SPARK_HOME": str(launch.spark_home({}))}


if __name__ == "__main__":
    make_jars(pathlib.Path(sys.argv[1]))
