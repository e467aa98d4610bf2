"""A status of an agent that knows of nothing yet, for desks of a server under test."""

from __future__ import annotations

from streamjob_agent.wire import AgentStatus


def bare_status() -> AgentStatus:
    """No executors, no queries."""
    return AgentStatus(
        agent_version="",
        spark_version="",
        application_id="",
        now_s=0.0,
        actuation="on",
        reason="Ok",
        message="",
        generation_applied=None,
        refused=None,
        executors=(),
        queries=(),
    )
