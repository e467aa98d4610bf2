"""How much of what an agent says is repeated: it goes into sentences, statuses and memories of ours. Pure.

A job's own account writes it, and a status that is too large for the API server cannot be written at all.
"""

from __future__ import annotations

import dataclasses

from streamjob_agent.wire import AgentStatus, QueryStatus

LONGEST_SENTENCE, LONGEST_WORD = 1000, 256


def shortened(status: AgentStatus) -> AgentStatus:
    """The status with sentences and words of a length that people read."""
    return dataclasses.replace(
        status,
        agent_version=_cut(status.agent_version, LONGEST_WORD),
        spark_version=_cut(status.spark_version, LONGEST_WORD),
        reason=_cut(status.reason, LONGEST_WORD),
        message=_cut(status.message, LONGEST_SENTENCE),
        refused=None if status.refused is None else _cut(status.refused, LONGEST_SENTENCE),
        queries=tuple(map(_query, status.queries)),
    )


def _query(query: QueryStatus) -> QueryStatus:
    return query if query.name is None else dataclasses.replace(query, name=_cut(query.name, LONGEST_WORD))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
