"""What is under way: executors that come, key groups that leave, moves. From the agent's status and the map. Pure."""

from __future__ import annotations

import dataclasses
import math

from streamjob_agent.wire import AgentStatus, Assignment, QueryStatus
from streamjob_operator.counting import executors
from streamjob_operator.kube.names import Phase
from streamjob_operator.kube.partition_map.memory import marked_of
from streamjob_operator.kube.report.facts import Facts
from streamjob_operator.values import LIVE_STATES, Reason


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """None where the agent has not said, or has not said of the driver that runs now.

    Attributes:
        wanted: executors wanted, marked ones left out.
        live: executors that are registered, marked ones included.
        ready: those of them that are not marked.
        groups_left: key groups on each marked executor, by executor id.
        pending, done, failed: moves of the newest generation.
        awaiting: moves to executors that have not come.
        cost_left_s: expected pauses of the pending moves together.
        boundaries_left: boundaries that the pending moves need, of the query that needs most; 0 where none wait.
        reason, message: what is under way; None when nothing is.
    """

    wanted: int | None
    live: int | None
    ready: int | None
    groups_left: dict[str, int]
    pending: int = 0
    done: int = 0
    failed: int = 0
    awaiting: int = 0
    cost_left_s: float = 0.0
    boundaries_left: int = 0
    reason: str | None = None
    message: str = ""


def motion_of(facts: Facts) -> Motion:
    """What is under way at this moment."""
    wanted = None if facts.memory is None else facts.memory.executors_target
    if wanted is None and facts.driver is not None:  # no cycle has said it yet, and none does without executors
        wanted = facts.driver.executors_asked
    agent = None if facts.map is None else facts.map.agent
    runs = facts.driver is not None and facts.driver.phase is Phase.RUNNING
    if not runs or agent is None or facts.map is None:  # a driver that is gone took its executors with it
        return Motion(wanted=wanted, live=None, ready=None, groups_left={})
    plan = _plan(facts)
    marked = () if facts.memory is None else marked_of(facts.memory, agent)
    queries = _queries(agent, plan)
    live = [one for one in agent.executors if one.state in LIVE_STATES]
    left_s = {one.query_id: _cost_left_s(plan.get(one.query_id), one) for one in queries}
    motion = Motion(
        wanted=wanted,
        live=len(live),
        ready=sum(one.state == "ready" and one.executor_id not in marked for one in live),
        groups_left={one.executor_id: one.groups for one in live if one.executor_id in marked},
        pending=sum(one.moves_pending for one in queries),
        done=sum(one.moves_done for one in queries),
        failed=sum(one.moves_failed for one in queries),
        awaiting=sum(one.moves_awaiting for one in queries),
        cost_left_s=sum(left_s.values()),
        boundaries_left=max(
            (_boundaries(plan.get(one.query_id), left_s[one.query_id]) for one in queries if one.moves_pending),
            default=0,
        ),
    )
    reason, message = _under_way(motion)
    return dataclasses.replace(motion, reason=reason, message=message)


def _under_way(motion: Motion) -> tuple[str | None, str]:
    if motion.groups_left:
        names = ", ".join(sorted(motion.groups_left))
        left = sum(motion.groups_left.values())
        return Reason.DRAINING, f"{left} key groups are to leave the executors {names}."
    if motion.pending:
        return Reason.MOVES_PENDING, f"{motion.pending} key groups are to move."
    if motion.wanted is not None and motion.ready is not None and motion.ready < motion.wanted:
        return (
            Reason.WAITING_FOR_EXECUTORS,
            f"{motion.ready} of {executors(motion.wanted, 'is', 'are')} ready.{_share(motion)}",
        )
    return None, ""


def _share(motion: Motion) -> str:
    return f" The others will own {motion.awaiting} key groups." if motion.awaiting else ""


def _plan(facts: Facts) -> dict[str, Assignment]:
    """The newest plan by query; that it cannot be read is told by the memory, which reads it, too."""
    return {} if facts.map is None else {one.query_id: one for one in facts.map.readable_plan()}


def _queries(agent: AgentStatus, plan: dict[str, Assignment]) -> list[QueryStatus]:
    """The queries that the plan is for, without one that with the most key groups."""
    if plan:
        return [one for one in agent.queries if one.query_id in plan]
    busiest = max(agent.queries, key=lambda one: sum(map(len, one.owners.values())), default=None)
    return [] if busiest is None else [busiest]


def _boundaries(assignment: Assignment | None, left_s: float) -> int:
    pace_s = None if assignment is None else assignment.pace.max_cost_s
    return 1 if not pace_s else max(1, math.ceil(left_s / pace_s))


def _cost_left_s(assignment: Assignment | None, query: QueryStatus) -> float:
    if assignment is None or not query.moves_pending:
        return 0.0
    cost_s = 0.0
    for key in assignment.move_order:
        wanted, now = assignment.owners.get(key.operator, ()), query.owners.get(key.operator, ())
        if key.partition < min(len(wanted), len(now)) and wanted[key.partition] != now[key.partition]:
            cost_s += assignment.move_cost_s.get(key, 0.0)
    return cost_s
