"""Records of a made-up run: skewed, balanced, scaled out, drained; built with the planners' own measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamjob_operator.values import (
    CycleRecord,
    ExecutorView,
    Memory,
    QueryRates,
    Reason,
    Receipt,
    RuleState,
    ScalingDecision,
    Snapshot,
    Verdict,
)
from streamjob_planners import measures
from streamjob_planners.model import GroupId, LoadModel, Move, MoveReason, Plan

WINDOW_S = 6.0
GROUPS = tuple(GroupId(operator=operator, partition=partition) for operator in (0, 1) for partition in range(4))


def _rates(last_batch_s: float, at_s: float) -> QueryRates:
    return QueryRates(
        batches=2,
        mean_batch_s=last_batch_s,
        last_batch_s=last_batch_s,
        last_batch_at_s=at_s - 1.0,
        trigger_interval_s=3.0,
        input_rps=300.0,
        processed_rps=600.0,
        lag_rows=None,
        other_busy_s=0.4,
    )


def _model(snapshot: Snapshot, names: tuple[str, ...], marked: Sequence[str]) -> LoadModel:
    return LoadModel(
        node_ids=names,
        capacity=np.ones(len(names)),
        marked=np.array([name in marked for name in names]),
        group_ids=GROUPS,
        node_of=np.array([names.index(owner or "") for owner in snapshot.owners], dtype=np.int64),
        load=100.0 * snapshot.busy_s / WINDOW_S,
        migration_cost_s=np.full(len(GROUPS), 0.25),
        state_bytes=snapshot.state_bytes,
        traffic=None if snapshot.traffic_bytes is None else snapshot.traffic_bytes / WINDOW_S,
        pinned=np.zeros(len(GROUPS), dtype=np.bool_),
    )


def _plan(model: LoadModel, node_of: np.ndarray) -> Plan:
    moves = tuple(
        Move(
            group=int(k),
            source=int(model.node_of[k]),
            target=int(node_of[k]),
            reason=MoveReason.RELIEVE,
            cost_s=0.25,
            state_bytes=float(model.state_bytes[k]),
            load=float(model.load[k]),
        )
        for k in np.flatnonzero(model.node_of != node_of)
    )
    return Plan(
        planner="search",
        node_of=node_of,
        moves=moves,
        before=measures.effect(model, model.node_of),
        after=measures.effect(model, node_of),
        lower_bound=1.5,
        proven_optimal=False,
        notes=("A note.",),
        elapsed_s=0.1,
    )


@pytest.fixture
def make_record() -> Callable[..., CycleRecord]:
    """A record of one cycle: owners of the eight key groups, busy seconds, and where the plan wants them."""

    def make(
        owners: str = "00120012",
        wanted: str | None = None,
        busy_s: Sequence[float] = (2.0, 1.5, 0.5, 0.5, 0.3, 0.3, 0.2, 0.2),
        names: tuple[str, ...] = ("0", "1", "2"),
        draining: Sequence[str] = (),
        **changes: Any,
    ) -> CycleRecord:
        at_s = changes.pop("at_s", 1_000.0)
        snapshot = Snapshot(
            taken_at_s=at_s,
            window_s=WINDOW_S,
            application_id="app-1",
            query_id="query-1",
            run_id="run-1",
            actuation_on=True,
            actuation_reason="Ready",
            generation_applied=1,
            moves_pending=changes.pop("pending", 0),
            executors=tuple(
                ExecutorView(
                    executor_id=name,
                    host="127.0.0.1",
                    cores=1,
                    state="draining" if name in draining else "ready",
                    busy_s=2.0,
                )
                for name in names
            ),
            group_ids=GROUPS,
            owners=tuple(None if owner == "-" else owner for owner in owners),
            busy_s=np.array(busy_s),
            cpu_s=np.array(busy_s) / 3,
            records=np.full(len(GROUPS), 100.0),
            state_bytes=np.full(len(GROUPS), 2048.0),
            traffic_bytes=sparse.csr_array(([30.0, 10.0], ([4, 5], [0, 2])), shape=(8, 8)),
            rates=_rates(changes.pop("last_batch_s", 2.5), at_s),
        )
        model = _model(snapshot, names, draining) if "-" not in owners else None
        goal = np.array([names.index(owner) for owner in wanted], dtype=np.int64) if wanted else None
        plan = _plan(model, goal) if model is not None and goal is not None else None
        act = changes.pop("act", plan is not None)
        reason = changes.pop("reason", Reason.LOAD_DISTANCE if act else Reason.BALANCED)
        verdict = Verdict(
            act=act,
            reason=reason,
            message=changes.pop("message", "The load distance of 30.0 is above 10."),
            plan=plan,
            executors_target=len(names),
            marked_for_removal=tuple(draining),
            remove=tuple(changes.pop("remove", ())),
        )
        target = changes.pop("target", len(names) - len(draining))
        receipt = Receipt(generation=2, accepted=True, reason=reason, message="Written.") if act else None
        base = {
            "at_s": at_s,
            "snapshot": snapshot,
            "scaling": ScalingDecision(needed=target, target=target, reason=Reason.BALANCED, message="Enough."),
            "verdict": verdict,
            "receipt": receipt,
            "step_seconds": {"observe": 0.01, "solve": 0.1},
            "model": model,
            "memory": Memory(scaling=RuleState(rule="utilization", state={"wishes": [3]}), counters={"Balanced": 2}),
        }
        return CycleRecord(**{**base, **changes})

    return make


@pytest.fixture
def unmeasured() -> CycleRecord:
    """A cycle that could not read the metrics."""
    message = "The agent at http://127.0.0.1:9999 does not answer."
    verdict = Verdict(
        act=False,
        reason=Reason.METRICS_UNAVAILABLE,
        message=message,
        plan=None,
        executors_target=None,
        marked_for_removal=(),
        remove=(),
    )
    return CycleRecord(at_s=990.0, snapshot=None, scaling=None, verdict=verdict, receipt=None, step_seconds={})


@pytest.fixture
def run(make_record: Callable[..., CycleRecord], unmeasured: CycleRecord) -> tuple[CycleRecord, ...]:
    """A whole run in seven cycles."""
    skewed, fair = "00120012", "01220112"
    low = (0.6, 0.5, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1)
    return (
        unmeasured,
        make_record(skewed, at_s=1000.0, reason=Reason.WARMING_UP, act=False, last_batch_s=4.1),
        make_record(skewed, fair, at_s=1006.0, last_batch_s=4.0),
        make_record(fair, at_s=1012.0, last_batch_s=2.4),
        make_record(fair, at_s=1018.0, last_batch_s=2.9, target=4, act=True, reason=Reason.SCALE_OUT),
        make_record(fair, fair.replace("2", "1"), at_s=1024.0, busy_s=low, draining=("2",), reason=Reason.SCALE_IN),
        make_record(
            fair.replace("2", "1"),
            at_s=1030.0,
            busy_s=low,
            draining=("2",),
            remove=("2",),
            act=True,
            reason=Reason.EXECUTOR_REMOVED,
        ),
    )
