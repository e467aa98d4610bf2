"""Plans that wait for a person: their hash, and the same plan again in a later cycle."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import numpy as np

from streamjob_operator.steps.resize import Resized
from streamjob_operator.values import Arrivals, Memory, PendingPlan, Snapshot
from streamjob_planners import plans
from streamjob_planners.model import LoadModel, Plan


def pend(snapshot: Snapshot, memory: Memory, resized: Resized, arrivals: Arrivals | None) -> PendingPlan:
    """The plan with the hash that a person approves: of the moves, the executors, the generation and the snapshot."""
    model, wanted, marked = resized.model, resized.wanted, resized.marked
    moves = {
        group_name(model, move.group): (model.node_ids[move.source], model.node_ids[move.target])
        for move in resized.plan.moves
    }
    moves |= _to_come(resized, arrivals)
    facts = [snapshot.application_id, memory.generation, snapshot.taken_at_s, sorted(moves.items()), wanted, marked]
    return PendingPlan(
        plan_hash=hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12],
        made_at_s=snapshot.taken_at_s,
        application_id=snapshot.application_id,
        moves=moves,
        executors_wanted=wanted,
        marked=marked,
    )


def _to_come(resized: Resized, arrivals: Arrivals | None) -> dict[str, tuple[str, str]]:
    """Moves to executors that are to come, by the names that these have in the model."""
    model, coming = resized.model, resized.coming
    if arrivals is None or coming is None:
        return {}
    names = coming.model.node_ids[coming.first :]
    return {
        group_name(model, group): (model.node_ids[model.node_of[group]], names[place - 1])
        for group, place in zip(arrivals.groups, arrivals.places, strict=True)
    }


def revive(pending: PendingPlan, resized: Resized) -> Resized | None:
    """The waiting plan on today's model; None once a key group is elsewhere or an executor is gone or marked."""
    coming = resized.coming
    model = resized.model if coming is None else coming.model
    plan = _again(pending, model, resized.plan.planner)
    if plan is None or coming is None:
        return None if plan is None else dataclasses.replace(resized, plan=plan)
    node_of = np.where(plan.node_of < coming.first, plan.node_of, model.node_of).astype(np.int64)
    now = plans.make_plan(resized.model, node_of, planner=plan.planner, elapsed_s=0.0)
    return dataclasses.replace(resized, plan=now, coming=dataclasses.replace(coming, plan=plan))


def _again(pending: PendingPlan, model: LoadModel, planner: str) -> Plan | None:
    node = {name: at for at, name in enumerate(model.node_ids)}
    group = {group_name(model, at): at for at in range(model.n_groups)}
    node_of = model.node_of.copy()
    for name, (source, target) in pending.moves.items():
        if name not in group or source not in node or target not in node or model.marked[node[target]]:
            return None
        if model.node_of[group[name]] != node[source]:
            return None
        node_of[group[name]] = node[target]
    return plans.make_plan(model, node_of, planner=planner, elapsed_s=0.0)


def group_name(model: LoadModel, group: int) -> str:
    """OPERATOR/PARTITION; where there are several queries, QUERY:OPERATOR/PARTITION."""
    one = model.group_ids[group]
    query, operator = model.queries.get(one.operator, (None, one.operator))
    return f"{operator}/{one.partition}" if query is None else f"{query}:{operator}/{one.partition}"
