"""Attaches the agent to the session of a driver that is not Python's, once the job has made and used one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from streamjob_agent import hooks, spark
from streamjob_agent.attach import Host
from streamjob_agent.bridge import SparkBridge
from streamjob_agent.config import AgentConfig
from streamjob_agent.plugin.session import Context, Session

_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


class JvmAgent:
    """The agent of one driver, reached by a py4j gateway whose entry point is the plugin's Desk."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self._desk = gateway.entry_point
        self._host = Host(*AgentConfig.from_env(os.environ), connect=self._connect, in_use=self._in_use)

    def prepare(self) -> None:
        """Complete the context's settings, then let the driver go on."""
        settings = self._desk.settings()
        version = str(self._desk.context().version())
        if settings is None:
            self._host.note("settings", "the driver did not wait for the agent: none was put in")
        else:
            self._host.guard.call("settings", lambda: hooks.fill(settings, self._host, version), None)
        self._desk.ready()

    def found(self) -> bool:
        """Whether the job has made a session, which then gets the agent as soon as it is used."""
        return self._host.guard.call("session", self._look, False)

    def _look(self) -> bool:
        session = self._desk.session()
        if session is None:
            return False
        self._host.session_appeared(Session(Context(self._gateway, self._desk.context()), session))
        return True

    def stop_at_sigterm(self, end: Callable[[], None]) -> None:
        """Where there is a grace: SIGTERM first stops the queries; `end` asks the driver, where that goes on."""
        self._host.stop_at_sigterm(end)

    def close(self) -> None:
        """Detach from Spark."""
        self._host.close()

    def _connect(self, session: Any) -> SparkBridge:
        return spark.connect(session, made=self._desk.keep)

    def _in_use(self, session: Any) -> bool:
        """A server of Spark Connect never uses its own session: each client has another."""
        command = self._gateway.jvm.java.lang.System.getProperty("sun.java.command")
        return _SERVER in str(command) or spark.in_use(session)
