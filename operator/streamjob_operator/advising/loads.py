"""What key groups of the agent's queries have taken since the driver began."""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from collections.abc import Mapping

from streamjob_agent import metric_names as names
from streamjob_operator.agent_http.client import AgentClient
from streamjob_operator.measure.page import Page, parse_pages
from streamjob_operator.ports import Unavailable
from streamjob_planners.advice.too_heavy import HeavyGroup, too_heavy
from streamjob_planners.advice.values import JobPlan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """Seconds of tasks by operator and partition, and the executors' slots, 1 or more."""

    seconds: Mapping[int, Mapping[int, float]]
    slots: int


def loads_of(client: AgentClient) -> dict[str, Loads]:
    """By query id; those of which nobody tells are left out."""
    try:
        pages = parse_pages(client.page(), time.time())
    except Unavailable:
        return {}
    return {page.query_id: _loads(page) for page in pages if page.executors}


def _loads(page: Page) -> Loads:
    seconds: dict[int, dict[int, float]] = defaultdict(dict)
    for group, took_s in zip(page.group_ids, page.counters[names.GROUP_BUSY_SECONDS].tolist(), strict=True):
        seconds[group.operator][group.partition] = took_s
    return Loads(seconds=seconds, slots=max(1, sum(page.executors.values())))


def heavy_groups(plan: JobPlan, loads: Loads | None) -> tuple[HeavyGroup, ...]:
    """Key groups that no placement helps; none where nobody tells what they take."""
    return () if loads is None else too_heavy(plan, loads.seconds, loads.slots)
