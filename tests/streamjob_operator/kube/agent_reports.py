"""What an agent reports of a small job."""

from __future__ import annotations

from typing import Any

from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus


def agent(**changes: Any) -> AgentStatus:
    """A healthy one of two executors; `executors` gives states by id, `pending` and
    `done` the moves still to be made and made."""
    executors = changes.pop("executors", {"0": "ready", "1": "ready"})
    query = QueryStatus(
        query_id="query-1",
        run_id="r",
        name=None,
        batch_id=1,
        owners={0: ("0",) * 12},
        moves_pending=changes.pop("pending", 0),
        moves_done=changes.pop("done", 3),
    )
    values: dict[str, Any] = {
        "agent_version": "1",
        "spark_version": "4",
        "application_id": "app-1",
        "now_s": 1000.0,
        "actuation": "on",
        "reason": "Ok",
        "message": "",
        "generation_applied": None,
        "refused": None,
        "queries": (query,),
        "executors": tuple(
            ExecutorStatus(executor_id=name, host="h", cores=1, state=state, groups=6)
            for name, state in executors.items()
        ),
    }
    return AgentStatus(**{**values, **changes})
