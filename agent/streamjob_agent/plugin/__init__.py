"""The agent as a plugin of Spark (`spark.plugins`): the door for drivers that are not Python's."""

from __future__ import annotations

from typing import Any

SETTING = "spark.plugins"
PLUGIN = "io.streamjob.plugin.StreamJobPlugin"
MARK = "spark.streamjob.plugin"
"""Set in the context of a driver that the plugin has taken."""


def withdraw(jconf: Any) -> None:
    """Take the plugin out of a JVM SparkConf: the agent comes by another door."""
    names = _names(jconf.get(SETTING, ""))
    if PLUGIN in names:
        jconf.set(SETTING, ",".join(name for name in names if name != PLUGIN))


def with_ours(plugins: str) -> str:
    """A list of plugins with ours in it, once."""
    return ",".join([*(name for name in _names(plugins) if name not in ("", PLUGIN)), PLUGIN])


def _names(plugins: str) -> list[str]:
    return [name.strip() for name in plugins.split(",")]
