"""The agent as a plugin of Spark (`spark.plugins`): the door for drivers that are not Python's."""

from __future__ import annotations

from typing import Any

PLUGIN = "io.streamjob.plugin.StreamJobPlugin"
MARK = "spark.streamjob.plugin"
"""Set in the context of a driver that the plugin has taken."""


def withdraw(jconf: Any) -> None:
    """Take the plugin out of a JVM SparkConf: the agent comes by another door."""
    names = [name.strip() for name in jconf.get("spark.plugins", "").split(",")]
    if PLUGIN in names:
        jconf.set("spark.plugins", ",".join(name for name in names if name != PLUGIN))
