"""A session that the JVM made, with as much of pyspark's as the bridge asks of one.

Not pyspark's own SparkContext around the JVM's: where that fails half-way it stops the context, which is the job's, and
it takes a signal handler, a server and an accumulator with it.
"""

from __future__ import annotations

from typing import Any


class Conf:
    """Settings of the application, as they are now."""

    def __init__(self, jconf: Any) -> None:
        self._jconf = jconf

    def get(self, key: str, default: str) -> str:
        """The value, `default` where there is none."""
        return str(self._jconf.get(key, default))

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802 - pyspark's name
        """All that are set."""
        return [(str(pair._1()), str(pair._2())) for pair in self._jconf.getAll()]


class Context:
    """The driver's context."""

    def __init__(self, gateway: Any, context: Any) -> None:
        self._gateway, self._jvm = gateway, gateway.jvm
        self._jsc = gateway.jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(context)
        self.version = str(context.version())
        self.master = str(context.master())
        self.applicationId = str(context.applicationId())

    def getConf(self) -> Conf:  # noqa: N802 - pyspark's name
        """A copy of its settings."""
        return Conf(self._jsc.getConf())


class Session:
    """A session of that context."""

    def __init__(self, context: Context, session: Any) -> None:
        self.sparkContext = context
        self._jsparkSession = session
        self.conf = session.conf()
