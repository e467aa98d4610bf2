"""One agent for whatever Spark session the process has: attached when one appears, detached before it goes."""

from __future__ import annotations

import atexit
import dataclasses
import functools
import logging
import os
import pathlib
import threading
import time
from collections.abc import Callable
from typing import Any

import streamjob_agent
from streamjob_agent import kube, tokens
from streamjob_agent.agent import Agent
from streamjob_agent.bridge import SparkBridge
from streamjob_agent.config import AgentConfig
from streamjob_agent.exporter import Exporter, Facts
from streamjob_agent.guard import Guard, describe, say
from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.server import AgentServer
from streamjob_agent.stopping import GracefulStop
from streamjob_agent.wire import AgentStatus, Assignment

_ATTACH_LIMIT_S = 60.0  # a job waits no longer than this for the agent; attaching goes on meanwhile
_LOOK_S = 0.5  # between two looks at whether the session is in use
_CLIENT = (
    "this program is a client of Spark Connect: its queries run in the server's driver, and that is where the agent "
    "belongs (as a plugin of Spark, or under `python -m streamjob_agent run` where Python starts the server)"
)


def connect(session: Any) -> SparkBridge:
    """The bridge of a real driver; raises whatever Spark raises."""
    from streamjob_agent import spark  # lazily: needs pyspark, which a process without a session may not have

    return spark.connect(session)


def in_use(session: Any) -> bool:
    """Whether the session has fixed its settings: attaching to it before would fix them in the user's place."""
    from streamjob_agent import spark

    return spark.in_use(session)


class Host:
    """Answers requests for the agent of the moment. Every method is safe to call from the job: none raises."""

    def __init__(
        self,
        config: AgentConfig,
        complaints: tuple[str, ...] = (),
        connect: Callable[[Any], SparkBridge] = connect,
        in_use: Callable[[Any], bool] = in_use,
    ) -> None:
        self.guard = Guard()
        self._config = self.guard.call("state_dir", lambda: kube.prepared(config), config)
        self._connect = connect
        self._in_use = in_use
        self._notes = {"config": " ".join(complaints) or "ok"}
        self._agent: Agent | None = None
        self._context: Any = None
        self._session: Any = None
        self._patience_s = _ATTACH_LIMIT_S  # that the job has left for the agent of the context
        self._needed = threading.Event()  # a query is about to start: do not wait until the session is in use
        self._attaching: threading.Thread | None = None
        self._why_not = ("NotAttached", "no Spark session has been seen yet")
        self._exporter = Exporter(self.facts)
        self._server: AgentServer | None = None
        self._token_file: pathlib.Path | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        for complaint in complaints:
            say(logging.WARNING, "StreamJob agent: %s", complaint)
        self._map = self.guard.call("map", lambda: kube.follow(self, self._config, self.guard), None)
        atexit.register(self.close)

    @property
    def address(self) -> str | None:
        """`host:port` of the HTTP side, None when it does not listen."""
        return f"{self._config.host}:{self._server.port}" if self._server else None

    def note(self, name: str, sentence: str) -> None:
        """Show a sentence among the self-test's answers of the agents to come."""
        self._notes[name] = sentence

    def session_appeared(self, session: Any) -> None:
        """Attach to the session's application once the session is in use, unless an agent is there already."""
        self.guard.call("attach", lambda: self._expect(session), None)

    def client_appeared(self) -> None:
        """A session of Spark Connect was made: its driver is elsewhere, unless its server is in this process."""
        if self._context is not None or self._why_not[1] == _CLIENT:
            return
        self._why_not = ("SparkConnectClient", _CLIENT)
        self._listen()
        say(logging.WARNING, "StreamJob agent: %s", _CLIENT)

    def query_starts(self, session: Any) -> None:
        """Attach at the latest now, and watch the session's queries; called through the guard, before the start."""
        if session.sparkContext is not self._context:
            return
        self._session = session
        self._needed.set()
        self._await_agent()
        agent = self._agent
        if agent is not None:
            agent.join(session)

    def _expect(self, session: Any) -> None:
        context = session.sparkContext
        with self._lock:
            if context is self._context:
                return
            self._context, self._session, self._needed = context, session, threading.Event()
            self._patience_s = _ATTACH_LIMIT_S
        self._listen()
        self._drop_agent()
        self._why_not = ("NotAttached", "the Spark session has not been used yet, and is left alone until then")
        self._attaching = threading.Thread(
            target=self._attach_when_used, args=(context, self._needed), name="streamjob-attach", daemon=True
        )
        self._attaching.start()
        if self._in_use(session):
            self._needed.set()
            self._await_agent()

    def _await_agent(self) -> None:
        """Once in all, however many queries start while attaching hangs."""
        if self._attaching is not None:
            began_s = time.monotonic()
            self._attaching.join(self._patience_s)
            self._patience_s = max(0.0, self._patience_s - (time.monotonic() - began_s))

    def _attach_when_used(self, context: Any, needed: threading.Event) -> None:
        """Queries that are not started from Python are no reason to attach, but the use of the session before is."""
        while context is self._context and not self.guard.call("attach", lambda: self._in_use(self._session), True):
            if needed.wait(_LOOK_S):
                break
        if context is self._context:
            self._attach(self._session, context)

    def _attach(self, session: Any, context: Any) -> None:
        self._why_not = ("Attaching", "the agent is being attached to the Spark session")
        try:
            self._put(Agent(self._connect(session), self._config, self._notes), context)
        except BaseException as error:  # noqa: BLE001 - an unknown Spark must not reach the job; the status tells
            self._why_not = ("AttachFailed", f"this Spark cannot be watched: {describe(error)}")
            self.guard.report("attach", error)

    def _put(self, agent: Agent, context: Any) -> None:
        with self._lock:
            if context is self._context:
                try:
                    agent.start()
                except BaseException:
                    agent.stop()
                    raise
                self._agent = agent
                return
        agent.stop()  # the session has gone in the meantime

    def session_leaves(self, context: Any) -> None:
        """Detach before the job stops its Spark context."""
        if context is self._context:
            self.guard.call("detach", self._detach, None)

    def _detach(self) -> None:
        self._context = None
        self._needed.set()
        self._drop_agent()
        self._why_not = ("NotAttached", "the job has stopped its Spark session")

    def _drop_agent(self) -> None:
        with self._lock:
            agent, self._agent = self._agent, None
        if agent is not None:
            agent.stop()

    def _listen(self) -> None:
        """Start the HTTP side at the first session; without it the agent still works, unseen."""
        if self._server is None:
            config = self._config
            ports = (config.port, 0) if config.port and config.address_file else (config.port,)
            tries = (
                self.guard.call("listen", functools.partial(AgentServer, self, config.host, port, self._token), None)
                for port in ports  # where a file tells the address, another port does when the wanted one is taken
            )
            self._server = next((server for server in tries if server is not None), None)
        server, path = self._server, self._config.address_file
        if server is not None and path is not None:
            self.guard.call("address_file", lambda: server.write_address(path, self._config.host), None)

    def _token(self, port: int) -> str | None:
        """What an assignment must carry: given, or made and put where the controllers of this user look."""
        if self._config.token is None:
            published = self.guard.call("token", lambda: tokens.publish(port), None)
            self._token_file = published[1] if published else None
            return published[0] if published else None
        return self._config.token

    def close(self) -> None:
        """Detach, at the end of the process; at that of one that the job has forked nothing is to be detached."""
        if os.getpid() != self._process:
            return
        self.guard.hush()
        if self._token_file is not None:
            self.guard.call("token", functools.partial(self._token_file.unlink, missing_ok=True), None)
        self.guard.call("close", self._drop_agent, None)

    def end(self) -> None:
        """Detach in a process that goes on: no thread, port or file of ours stays behind, but the address file."""
        self._context = None
        self._needed.set()
        if self._map is not None:
            self._map.stop()
        if self._server is not None:
            self.guard.call("close", self._server.close, None)
        self.close()
        atexit.unregister(self.close)

    def page(self) -> bytes:
        """The Prometheus page."""
        return self._exporter.page()

    def submit(self, assignment: Assignment) -> str | None:
        """Pass an assignment to the agent; why it is refused, None when it is taken."""
        agent = self._agent
        return agent.submit(assignment) if agent else f"ActuationOff: {self._why_not[1]}"

    def plans(self) -> tuple[QueryPlan, ...]:
        """The plans of the queries that run; none without a session."""
        agent = self._agent
        return agent.plans() if agent else ()

    def stop_queries(self, timeout_s: float) -> None:
        """Stop every query between two batches; nothing to do without a session. May raise."""
        agent = self._agent
        if agent is not None:
            agent.stop_queries(timeout_s)

    def stop_at_sigterm(self, end: Callable[[], None] | None = None) -> None:
        """Where there is a grace: SIGTERM first stops the queries, see GracefulStop; only on the main thread."""
        grace_s = self._config.stop_grace_s
        if grace_s is not None:
            GracefulStop(self.stop_queries, self.guard, grace_s, end=end).install()

    def failed(self, error: BaseException) -> None:
        """Count an error of a request."""
        self.guard.report("request", error)

    def status(self) -> AgentStatus:
        """The agent's status, or why there is none."""
        agent = self._agent
        return agent.status() if agent else self._absent()

    def _absent(self) -> AgentStatus:
        return AgentStatus(
            agent_version=streamjob_agent.__version__,
            spark_version="unknown",
            application_id="unknown",
            now_s=time.time(),
            actuation="off",
            reason=self._why_not[0],
            message=self._why_not[1],
            generation_applied=None,
            refused=None,
            executors=(),
            queries=(),
            self_test=self._notes,
            errors_total=sum(self.guard.errors().values()),
        )

    def facts(self) -> Facts:
        """What the metrics page shows."""
        agent = self._agent
        if agent is not None:
            facts = agent.facts()
            return dataclasses.replace(facts, errors={**facts.errors, **self.guard.errors()})
        return Facts(
            status=self._absent(),
            queries=(),
            resting=frozenset(),
            pages=(),
            executor_busy_s={},
            memory={},
            moves={},
            errors=self.guard.errors(),
            overhead_s=0.0,
            locality_wait_s=None,
        )
