"""What of an agent's words is repeated: they go into sentences, statuses, logs and memories of ours. Pure.

A job's own account writes it, and a status that is too large for the API server cannot be written at all.
"""

from __future__ import annotations

import dataclasses

from streamjob_agent.wire import AgentStatus, ExecutorStatus, QueryStatus
from streamjob_operator.unsteered import one_line

LONGEST_SENTENCE, LONGEST_WORD = 1000, 256


def shortened(status: AgentStatus) -> AgentStatus:
    """The status with sentences and words of a length that people read."""
    return dataclasses.replace(
        status,
        application_id=_cut(status.application_id, LONGEST_WORD),
        agent_version=_cut(status.agent_version, LONGEST_WORD),
        spark_version=_cut(status.spark_version, LONGEST_WORD),
        reason=_cut(status.reason, LONGEST_WORD),
        message=_cut(status.message, LONGEST_SENTENCE),
        refused=None if status.refused is None else _cut(status.refused, LONGEST_SENTENCE),
        executors=tuple(map(_executor, status.executors)),
        queries=tuple(map(_query, status.queries)),
    )


def _query(query: QueryStatus) -> QueryStatus:
    name = None if query.name is None else _cut(query.name, LONGEST_WORD)
    return dataclasses.replace(query, query_id=_cut(query.query_id, LONGEST_WORD), name=name)


def _executor(executor: ExecutorStatus) -> ExecutorStatus:
    words = (executor.executor_id, executor.host, executor.state)
    if all(one.isprintable() and len(one) <= LONGEST_WORD for one in words):
        return executor
    executor_id, host, state = (_cut(one, LONGEST_WORD) for one in words)
    return dataclasses.replace(executor, executor_id=executor_id, host=host, state=state)


def _cut(text: str, most: int) -> str:
    text = one_line(text[: 2 * most])
    return text if len(text) <= most else f"{text[: most - 3]}..."
