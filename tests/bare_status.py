"""A status of an agent that knows of nothing yet, and what a test says beside."""

from __future__ import annotations

import dataclasses
from typing import Any

from streamjob_agent.wire import AgentStatus


def bare_status(**changes: Any) -> AgentStatus:
    """No executors, no queries, but for the `changes`."""
    bare = AgentStatus(
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
    return dataclasses.replace(bare, **changes)
