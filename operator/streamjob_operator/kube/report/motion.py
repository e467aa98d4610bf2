"""What is under way: executors that come, key groups that leave, moves. From the agent's status and the map. Pure."""

from __future__ import annotations

import dataclasses

from streamjob_agent.wire import AgentStatus, Assignment, QueryStatus, WireError
from streamjob_operator.kube.names import Phase
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
    reason: str | None = None
    message: str = ""


def motion_of(facts: Facts) -> Motion:
    """What is under way at this moment."""
    wanted = None if facts.memory is None else facts.memory.executors_target
    agent = None if facts.map is None else facts.map.agent
    runs = facts.driver is not None and facts.driver.phase is Phase.RUNNING
    if not runs or agent is None or facts.map is None:  # a driver that is gone took its executors with it
        return Motion(wanted=wanted, live=None, ready=None, groups_left={})
    assignment = _assignment(facts)
    marked = () if facts.memory is None else facts.memory.marked
    query = _query(agent, assignment)
    live = [one for one in agent.executors if one.state in LIVE_STATES]
    motion = Motion(
        wanted=wanted,
        live=len(live),
        ready=sum(one.state == "ready" and one.executor_id not in marked for one in live),
        groups_left={one.executor_id: one.groups for one in live if one.executor_id in marked},
        pending=0 if query is None else query.moves_pending,
        done=0 if query is None else query.moves_done,
        failed=0 if query is None else query.moves_failed,
        awaiting=0 if query is None else query.moves_awaiting,
        cost_left_s=_cost_left_s(assignment, query),
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
        return Reason.WAITING_FOR_EXECUTORS, f"{motion.ready} of {motion.wanted} executors are ready.{_share(motion)}"
    return None, ""


def _share(motion: Motion) -> str:
    return f" The others will own {motion.awaiting} key groups." if motion.awaiting else ""


def _assignment(facts: Facts) -> Assignment | None:
    try:
        return None if facts.map is None else facts.map.assignment()
    except WireError:
        return None  # told by the memory, which reads it, too


def _query(agent: AgentStatus, assignment: Assignment | None) -> QueryStatus | None:
    """The query that the assignment is for, else the one with the most key groups."""
    if assignment is not None:
        return next((one for one in agent.queries if one.query_id == assignment.query_id), None)
    return max(agent.queries, key=lambda one: sum(map(len, one.owners.values())), default=None)


def _cost_left_s(assignment: Assignment | None, query: QueryStatus | None) -> float:
    if assignment is None or query is None or not query.moves_pending:
        return 0.0
    cost_s = 0.0
    for key in assignment.move_order:
        wanted, now = assignment.owners.get(key.operator, ()), query.owners.get(key.operator, ())
        if key.partition < min(len(wanted), len(now)) and wanted[key.partition] != now[key.partition]:
            cost_s += assignment.move_cost_s.get(key, 0.0)
    return cost_s
