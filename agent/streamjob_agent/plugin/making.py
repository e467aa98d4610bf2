"""`python -m streamjob_agent.plugin.making FILE.jar`: write the plugin, and tell the plugins that settings ask for."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from streamjob_agent.guard import describe
from streamjob_agent.plugin import SETTING, jar


def main(path: pathlib.Path) -> None:
    """Settings are those of PYSPARK_SUBMIT_ARGS and of Spark's files, as Spark puts them together."""
    try:
        jar.make(path)
        from pyspark import SparkContext

        jvm: Any = SparkContext._jvm
        plugins = jvm.org.apache.spark.SparkConf().get(SETTING, "")
    except Exception as error:  # no pyspark, no Java: a sentence is what helps
        raise SystemExit(f"streamjob_agent: {describe(error)}") from error
    sys.stdout.write(f"{plugins}\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
