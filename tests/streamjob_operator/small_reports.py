"""Reports of an agent as tests of wakes need them."""

from __future__ import annotations

import dataclasses
from typing import Any

from bare_status import bare_status

from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus, Risen, Unusual

NEWS = Unusual(batch_id=41, ended_at_s=1000.0, seconds=9.25, low_s=3.0, high_s=5.5)
RISE = Risen(batch_id=42, began_at_s=1001.0, rows=52000, high_rows=24000)


def executor(name: str, state: str = "ready", groups: int = 4) -> ExecutorStatus:
    return ExecutorStatus(executor_id=name, host="h", cores=1, state=state, groups=groups)


def query(**changes: Any) -> QueryStatus:
    return dataclasses.replace(QueryStatus(query_id="q", run_id="r", name=None, batch_id=7, owners={}), **changes)


def status(*executors: ExecutorStatus, **changes: Any) -> AgentStatus:
    base = bare_status(
        agent_version="1",
        spark_version="4",
        application_id="app-1",
        now_s=5.0,
        message="every check passed",
        generation_applied=3,
        executors=executors or (executor("0"), executor("1")),
        queries=(query(),),
    )
    return dataclasses.replace(base, **changes)
