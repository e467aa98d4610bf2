"""Whether executors are too small or much too large for the state they hold once the newest plan is carried out.

Advice for a person, with its arithmetic: nothing is changed by it. FLINK-34152 asks the same of Flink's autoscaler.
"""

from __future__ import annotations

import math

import numpy as np

from streamjob_operator.steps.resize import Resized
from streamjob_operator.values import Advice, ExecutorView, MemoryAdvice, Snapshot
from streamjob_planners.advice.sentences import amount
from streamjob_planners.called import called
from streamjob_planners.model import FloatArray, IntArray, LoadModel

USED = 0.9
"""Part of an executor's memory that should be used at most, as where the number of executors follows from state."""
MUCH = 0.5
"""Executors are much too large where less than this part of their memory would do."""


def memory_advice(snapshot: Snapshot, resized: Resized, most: int) -> MemoryAdvice | None:
    """None where executors fit, or not everything that is needed is told; `most` executors are allowed."""
    use, limit = snapshot.state_memory_bytes, _least([one.state_limit_bytes for one in _ready(snapshot)])
    if use is None or not use.any():
        return None
    model, node_of = _planned(resized)
    held = _held(model, node_of, use)
    if limit is not None and float(held.max()) > USED * limit:
        return _short(model, held, use, limit, most)
    return _spare(snapshot, held, use)


def told_advice(advice: MemoryAdvice) -> str:
    """For a person."""
    return f"{advice.code.value}: {advice.message}"


def _short(model: LoadModel, held: FloatArray, use: FloatArray, limit: float, most: int) -> MemoryAdvice:
    fullest, heaviest = int(held.argmax()), int(use.argmax())
    needed = float(held.max()) / USED
    why = (
        f"With the newest plan executor {model.node_ids[fullest]} holds {amount(float(held.max()))} of state; with a "
        f"tenth to spare that takes {amount(needed)}, and executors have {amount(limit)} for it."
    )
    larger = f"Either {amount(needed - limit)} more memory for each of them"
    count = math.ceil(float(use.sum()) / (USED * limit))
    if float(use[heaviest]) > USED * limit:
        alone = f"{called(model, heaviest)} alone takes {amount(float(use[heaviest]))}"
        other = f"more executors would not do, as {alone}"
    else:
        more = max(count, int((~model.marked).sum()) + 1)
        bound = f"; executors.max is {most}" if more > most else ""
        sum_of = f"{amount(float(use.sum()))} of state / {amount(USED * limit)} = {count} at least{bound}"
        other = f"or {more} executors of today's size or more ({sum_of})"
    return MemoryAdvice(code=Advice.MEMORY_SHORT, message=f"{why} {larger}, {other}.")


def _spare(snapshot: Snapshot, held: FloatArray, use: FloatArray) -> MemoryAdvice | None:
    """By the most memory that an executor's process ever used, and the state that the plan adds to the fullest one."""
    ready = _ready(snapshot)
    limit, used = _least([one.memory_limit_bytes for one in ready]), [one.memory_used_bytes for one in ready]
    told = [one for one in used if one is not None]
    if limit is None or len(told) < len(used):
        return None
    index = {one.executor_id: at for at, one in enumerate(ready)}
    own = [index.get(owner or "", len(ready)) for owner in snapshot.owners]
    today = np.bincount(own, use, len(ready) + 1)[: len(ready)]
    added = max(0.0, float(held.max()) - float(today.max()))
    needed = (max(told) + added) / USED
    if needed >= MUCH * limit:
        return None
    return MemoryAdvice(
        code=Advice.MEMORY_SPARE,
        message=(
            f"No executor has used more than {amount(max(told))} of {amount(limit)} since it began, and the newest "
            f"plan adds {amount(added)} of state; with a tenth to spare {amount(needed)} for each would do."
        ),
    )


def _ready(snapshot: Snapshot) -> list[ExecutorView]:
    return [one for one in snapshot.executors if one.state == "ready"]


def _least(told: list[float | None]) -> float | None:
    """None where one tells nothing: what cannot be known of one executor cannot be said of all."""
    known = [one for one in told if one is not None]
    return min(known) if known and len(known) == len(told) else None


def _planned(resized: Resized) -> tuple[LoadModel, IntArray]:
    """Where key groups will be, with executors that are to come once they are here."""
    coming = resized.coming
    if coming is None:
        return resized.model, resized.plan.node_of
    return coming.model, coming.plan.node_of


def _held(model: LoadModel, node_of: IntArray, use: FloatArray) -> FloatArray:
    """State of each executor that stays, (n_nodes,); 0 for the others."""
    held: FloatArray = np.bincount(node_of, use, model.n_nodes).astype(np.float64)
    held[model.marked] = 0.0
    return held
