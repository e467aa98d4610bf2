"""The largest PartitionMap on a real API server, whose store takes objects of at most 1.5 MiB: it has 1.1 MiB."""

from __future__ import annotations

import json
import random

from bare_status import bare_status
from kubectl import Kubectl

from streamjob_agent.map_form import assignment_from_spec, assignment_to_spec, status_to_map
from streamjob_agent.wire import AgentStatus, Assignment, ExecutorStatus, GroupKey, QueryStatus

OPERATORS, PARTITIONS, EXECUTORS = 10, 10_000, 1_000
MIB = 2**20


def test_100000_key_groups_on_1000_executors_fit_in_one_object(kubectl: Kubectl) -> None:
    chance = random.Random(1)
    spec = assignment_to_spec(worst_assignment(chance))
    status = status_to_map(worst_status(chance))
    place = {"apiVersion": "streamjob.dev/v1alpha1", "kind": "PartitionMap", "metadata": {"name": "large"}}
    kubectl("apply", "--server-side", "-f", "-", text=json.dumps({**place, "spec": spec}))
    written = json.dumps({**place, "status": status})
    kubectl("apply", "--server-side", "--field-manager=agent", "--subresource=status", "-f", "-", text=written)
    stored = kubectl("get", "pm", "large", "-o", "json", "--show-managed-fields")
    assert json.loads(stored)["status"] == {**status, "ignored": []}
    assert assignment_from_spec(json.loads(stored)["spec"]).owners == assignment_from_spec(spec).owners
    assert len(json.dumps(json.loads(stored), separators=(",", ":"))) < 1.2 * MIB


def owners(chance: random.Random) -> dict[int, tuple[str | None, ...]]:
    """No two neighbours alike but by chance: nothing to be saved by counting them."""
    return {
        operator: tuple(str(chance.randrange(EXECUTORS)) for _ in range(PARTITIONS)) for operator in range(OPERATORS)
    }


def worst_assignment(chance: random.Random) -> Assignment:
    """Every key group moves, each at another cost."""
    keys = [GroupKey(operator=one, partition=other) for one in range(OPERATORS) for other in range(PARTITIONS)]
    chance.shuffle(keys)
    return Assignment(
        generation=7,
        application_id="spark-application-1795238801",
        query_id="0d1c5d5e-0d7c-4a33-9d1b-6f2f0a2c7d11",
        executors_target=EXECUTORS,
        owners=owners(chance),
        move_order=tuple(keys),
        move_cost_s={key: chance.uniform(0.01, 9.0) for key in keys},
    )


def worst_status(chance: random.Random) -> AgentStatus:
    executors = tuple(
        ExecutorStatus(
            executor_id=str(one), host=f"10.1.{one % 250}.{one // 250}:7079", cores=4, state="ready", groups=100
        )
        for one in range(EXECUTORS)
    )
    query = QueryStatus(query_id="q", run_id="r", name="flights", batch_id=1, owners=owners(chance), moves_pending=9)
    return bare_status(
        agent_version="0.1.0",
        spark_version="4.3.0",
        application_id="spark-application-1795238801",
        now_s=1.5,
        generation_applied=6,
        executors=executors,
        queries=(query,),
    )
