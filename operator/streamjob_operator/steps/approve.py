"""Plans that wait for a person: their hash, and the same plan again in a later cycle."""

from __future__ import annotations

import hashlib
import json

from streamjob_operator.steps.resize import Resized
from streamjob_operator.values import Memory, PendingPlan, Snapshot
from streamjob_planners import plans
from streamjob_planners.model import GroupId, LoadModel, Plan


def pend(plan: Plan, snapshot: Snapshot, memory: Memory, resized: Resized) -> PendingPlan:
    """The plan with the hash that a person approves: of the moves, the executors, the generation and the snapshot."""
    model, wanted, marked = resized.model, resized.wanted, resized.marked
    moves = {
        group_name(model.group_ids[move.group]): (model.node_ids[move.source], model.node_ids[move.target])
        for move in plan.moves
    }
    facts = [snapshot.application_id, memory.generation, snapshot.taken_at_s, sorted(moves.items()), wanted, marked]
    return PendingPlan(
        plan_hash=hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12],
        made_at_s=snapshot.taken_at_s,
        application_id=snapshot.application_id,
        moves=moves,
        executors_wanted=wanted,
        marked=marked,
    )


def revive(pending: PendingPlan, model: LoadModel, planner: str) -> Plan | None:
    """The waiting plan on today's model; None once a key group is elsewhere or an executor is gone or marked."""
    node = {name: at for at, name in enumerate(model.node_ids)}
    group = {group_name(group_id): at for at, group_id in enumerate(model.group_ids)}
    node_of = model.node_of.copy()
    for name, (source, target) in pending.moves.items():
        if name not in group or source not in node or target not in node or model.marked[node[target]]:
            return None
        if model.node_of[group[name]] != node[source]:
            return None
        node_of[group[name]] = node[target]
    return plans.make_plan(model, node_of, planner=planner, elapsed_s=0.0)


def group_name(group: GroupId) -> str:
    """OPERATOR/PARTITION."""
    return f"{group.operator}/{group.partition}"
