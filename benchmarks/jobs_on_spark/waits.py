"""The plugin that lets executors wait, as a jar: `python -m benchmarks.jobs_on_spark.waits FILE.jar`.

The job's script knows nothing of it; Spark's own interface for plugins calls it before each task.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

from streamjob_agent.plugin.jar import compiled, write

MODULE, SOURCE = "benchmarks.jobs_on_spark.waits", pathlib.Path(__file__).with_name("Waits.java")
PLUGIN, SETTING = "io.streamjob.bench.Waits", "spark.streamjob.bench.waitNanosPerRecord"
COMPILE_S = 120.0


def settings(jar: pathlib.Path, ms_per_record: float) -> dict[str, str]:
    """What Spark is told so that tasks wait."""
    path = str(jar.absolute())
    return {
        "spark.plugins": PLUGIN,
        "spark.driver.extraClassPath": path,
        "spark.executor.extraClassPath": path,
        SETTING: str(round(1e6 * ms_per_record)),
    }


def made(jar: pathlib.Path) -> pathlib.Path:
    """The jar, compiled by a process of its own where it is not there or older than its source."""
    if not jar.exists() or jar.stat().st_mtime < SOURCE.stat().st_mtime:
        jar.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", MODULE, str(jar)], check=True, timeout=COMPILE_S)
    return jar


def main() -> None:
    """Compile by Spark's own compiler."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    write(pathlib.Path(sys.argv[1]), compiled(SOURCE.read_text(encoding="utf-8"), SparkContext._jvm))


if __name__ == "__main__":
    main()
